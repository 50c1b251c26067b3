"""What an operator asks and does: searches, filters, bulk commands and the overview, for every surface alike."""
