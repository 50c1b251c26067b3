"""What can go wrong, where it goes wrong, and how one sees that nothing came of it."""
