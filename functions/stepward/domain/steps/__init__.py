"""The kinds of step, a module for each; no other module knows what a kind does."""
