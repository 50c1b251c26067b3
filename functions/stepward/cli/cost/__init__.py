"""`stepward cost`."""
