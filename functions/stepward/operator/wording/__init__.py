"""What is told of an order or a time, in words, on every surface alike."""
