"""`stepward verify`: whether a deployed stack works, and whether its account lets it."""
