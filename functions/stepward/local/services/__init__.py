"""Stand-ins for the remote services: real HTTP, a ledger of every effect, and faults on demand."""

from stepward.local.services.faults import EVERYONE, Fault, FaultKind
from stepward.local.services.ledger import Effect, Entry, Ledger
from stepward.local.services.server import Services

__all__ = ["EVERYONE", "Effect", "Entry", "Fault", "FaultKind", "Ledger", "Services"]
