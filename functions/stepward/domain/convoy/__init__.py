"""The convoy: the lane of each order, and what comes to it."""
