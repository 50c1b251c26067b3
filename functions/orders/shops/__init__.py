"""The shops whose own events this application understands."""
