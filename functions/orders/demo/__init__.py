"""The demonstration: real orders, real faults, the deployed stack, and an audit that can fail."""
