"""Commands about dead-letter queues."""
