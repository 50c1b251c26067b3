"""The Lambda functions of a deployment, a module for each, and the bundle that they share."""
