"""The Lambda function that accepts orders from their queue."""

from orders import app
from stepward.wiring.submission import submission

handler = submission(app)
