"""The function that does one agent's work."""

from booking import app
from stepward.wiring.agent import agent

handler = agent(app)
