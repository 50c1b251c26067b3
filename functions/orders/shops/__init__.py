"""Sources: the shops whose events this application understands."""
