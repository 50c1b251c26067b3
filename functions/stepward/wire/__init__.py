"""Messages as JSON text: what comes in is checked here, and what goes out is written here."""
