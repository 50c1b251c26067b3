"""The composition root: a module for each function, so that none starts with the parts of another."""
