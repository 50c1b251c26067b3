"""The keys of callback tokens, kept in one secret that only the Scheduler may read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from stepward.app.scheduler.tokens import in_order
from stepward.domain.errors import Misconfigured, Transient

SHORTEST_KEY = 32
"""Characters: a key that a person made up could be guessed."""
_GONE = "ResourceNotFoundException"
_FIX_THE_DEPLOYMENT = frozenset({"AccessDeniedException", "DecryptionFailure", "InvalidRequestException"})


@dataclass(frozen=True, slots=True)
class CallbackKeys:
    """The versions AWSCURRENT and AWSPREVIOUS of the secret; `client` makes the client, or returns the one it made."""

    client: Callable[[], Any]
    secret: str
    now: Callable[[], int]

    def read(self) -> Sequence[bytes]:
        """The keys in force, the one to sign with first; raises Transient, or Misconfigured if there is none.

        The current version is read first: if the key is rotated meanwhile, the same one is read twice, and none is
        missing that has signed a token.
        """
        current = self._version("AWSCURRENT")
        if current is None:
            raise Misconfigured(f"the secret {self.secret} is not there, or has no value; deploy, or store a key in it")
        previous = self._version("AWSPREVIOUS")
        age = self.now() - int(current["CreatedDate"].timestamp() * 1000)
        return in_order([self._key(it) for it in (current, previous) if it is not None], age)

    def _version(self, stage: str) -> Any:
        """A version of the secret; None if there is none at this stage."""
        try:
            return self.client().get_secret_value(SecretId=self.secret, VersionStage=stage)
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", "no code"))
            if code == _GONE:
                return None
            if code in _FIX_THE_DEPLOYMENT:
                raise Misconfigured(f"the secret {self.secret}: {code}; let the Scheduler read it") from error
            raise Transient(f"the secret {self.secret}: {code}; read it again") from error
        except BotoCoreError as error:
            raise Transient(f"the secret {self.secret}: {type(error).__name__}; read it again") from error

    def _key(self, version: Any) -> bytes:
        text = version.get("SecretString", "")
        if len(text) < SHORTEST_KEY:
            raise Misconfigured(
                f"the secret {self.secret} holds {len(text)} characters; store at least {SHORTEST_KEY} random ones"
            )
        return str(text).encode()
