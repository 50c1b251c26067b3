"""What a deployment may choose, the checks of its choices, and what follows for its agents."""
