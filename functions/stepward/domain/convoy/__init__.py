"""The convoy: the lane of each order, and the events and commands that reach it."""
