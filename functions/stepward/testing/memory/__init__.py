"""In-memory twins of the AWS adapters, for tests and simulation."""
