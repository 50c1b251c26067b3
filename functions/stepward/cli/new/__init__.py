"""`stepward new`: makes a project, and brings it to the template of a newer engine."""
