"""The stores on DynamoDB, by pynamodb: tasks, orders, lanes, rejects and shared records."""
