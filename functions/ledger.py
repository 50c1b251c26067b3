"""The Lambda function that splits ledgers into the lanes of their orders."""

from orders import app
from stepward.wiring.ledger import ledger

handler = ledger(app)
