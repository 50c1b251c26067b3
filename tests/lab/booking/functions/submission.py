"""The function that accepts trips."""

from booking import app
from stepward.wiring.submission import submission

handler = submission(app)
