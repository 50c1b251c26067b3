"""The Scheduler: applies messages to tasks."""
