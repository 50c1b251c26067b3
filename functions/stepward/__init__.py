"""Stepward: resilient multi-step order processing on AWS serverless."""
