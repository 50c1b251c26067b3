"""The Lambda function that applies order events, each order's in their sequence."""

from orders import app
from stepward.wiring.convoy import convoy

handler = convoy(app)
