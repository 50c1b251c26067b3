"""Commands about the lanes of orders."""
