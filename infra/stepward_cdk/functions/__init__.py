"""The Lambda functions of a deployment, and the bundle that they share."""
