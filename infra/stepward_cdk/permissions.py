"""What functions may do with tables, by DynamoDB's names."""

from __future__ import annotations

READ_ONE, READ_MANY, QUERY = "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"
WRITE = "dynamodb:PutItem"  # transactions of puts need it, too; nothing is ever updated in place or deleted
WRITE_MANY = "dynamodb:BatchWriteItem"  # it could delete as well, so only the rows of lanes are written by it
