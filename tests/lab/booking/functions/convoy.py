"""The function that applies the events of trips in their sequence."""

from booking import app
from stepward.wiring.convoy import convoy

handler = convoy(app)
