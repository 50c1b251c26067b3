"""What messages look like, for those who send and receive them."""
