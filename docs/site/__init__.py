"""Makes the pages of the documentation site: those in the repository, and the reference, from the code."""
