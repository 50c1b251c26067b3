"""The function that splits ledgers."""

from booking import app
from stepward.wiring.ledger import ledger

handler = ledger(app)
