"""What a deployment may choose, and the rules that its choices keep."""
