"""The state store, the orders database and the rejects on DynamoDB, by pynamodb."""
