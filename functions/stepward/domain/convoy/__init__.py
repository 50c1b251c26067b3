"""What is decided about an order's lane, purely."""
