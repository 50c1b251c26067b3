"""What a user writes, checked when it is imported, and frozen to a plan."""
