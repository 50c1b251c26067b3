"""Shows people how a deployment is: alarms, alerts, and the dashboard."""
