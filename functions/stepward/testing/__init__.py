"""The testing kit: twins of everything outside the engine, in memory. No Lambda function loads it."""
