"""`stepward local demo`: the project's own sample orders, while services fail and an agent dies."""
