"""Which deployment a command is for, and how it is reached."""
