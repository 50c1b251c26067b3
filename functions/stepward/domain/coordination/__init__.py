"""What the instances of a deployment share: one writes it, all act on it."""
