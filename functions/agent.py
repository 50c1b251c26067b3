"""The Lambda function that serves one agent; each agent is deployed on its own, with this handler."""

from orders import app
from stepward.wiring.agent import agent

handler = agent(app)
