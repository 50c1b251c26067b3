"""The task: its record, and what every event makes of it."""
