"""The function that calls one agent's operations."""

from booking import app
from stepward.wiring.agent import agent

handler = agent(app)
