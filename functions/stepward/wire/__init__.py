"""Messages as JSON text: they are checked here when they come in, and written here when they go out."""
