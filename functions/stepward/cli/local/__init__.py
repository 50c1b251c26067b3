"""`stepward local`: the whole stack on this machine."""
