"""The deployment that something leaves: its name goes into every mail, event and suggested command."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

LONGEST_SUBJECT = 99  # SNS takes fewer than 100 characters
_COMMAND = re.compile(r"^(  stepward [^\n]+)$|`(stepward [^`\n]+)`", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployment by its stack and region; one without a stack is not named. `workflow` is its default one."""

    stack: str = ""
    region: str = ""
    workflow: str = ""

    def subject(self, line: str) -> str:
        """A subject that begins with the deployment instead of the product."""
        return f"{self.stack}: {line.removeprefix('Stepward: ')}"[:LONGEST_SUBJECT] if self.stack else line

    def addressed(self, text: str) -> str:
        """The text with each command, on a line of its own or in backticks, sent to this deployment."""
        given = {"--stack": self.stack, "--region": self.region}
        options = "".join(f" {name} {shlex.quote(value)}" for name, value in given.items() if value)
        return _COMMAND.sub(lambda found: f"{found[1]}{options}" if found[1] else f"`{found[2]}{options}`", text)

    def signed(self, text: str) -> str:
        """The text of a mail: addressed, with a last line that names the deployment."""
        if not self.stack:
            return text
        return f"{self.addressed(text)}\nDeployment: {self.stack}{f' in {self.region}' if self.region else ''}\n"
