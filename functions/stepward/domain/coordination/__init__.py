"""What the instances of a deployment share: any of them writes it, all act on it."""
