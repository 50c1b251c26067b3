"""Commands about ledgers."""
