"""Alerts to operators: people by SNS, machines by EventBridge."""
