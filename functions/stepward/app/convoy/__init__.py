"""The convoy: applies the events of each order in sequence."""
