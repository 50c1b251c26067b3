"""What functions are allowed on tables, by the names that DynamoDB gives it."""

from __future__ import annotations

READ_ONE, READ_MANY, QUERY = "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"
WRITE = "dynamodb:PutItem"  # a transaction of puts asks for it, too; nothing is ever updated in place or deleted
WRITE_MANY = "dynamodb:BatchWriteItem"  # could delete as well, so only the rows of lanes are written by it
