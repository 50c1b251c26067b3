"""Queues are emptied to see what came."""

from stepward.testing.sqs.messages import Received
from stepward.testing.sqs.poller import Source


def emptied(source: Source) -> list[Received]:
    """All messages of a queue, in the order in which it gives them out; it is empty afterwards."""
    taken: list[Received] = []
    while more := source.receive(10):
        taken += more
        for message in more:
            source.delete(message.handle)
    return taken
