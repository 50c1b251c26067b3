"""The machine on which something was measured, and how busy it was with other things."""

import os
import platform
from dataclasses import dataclass

import psutil


@dataclass(frozen=True, slots=True)
class Machine:
    """`busy` is how many processes wanted a core in the last minute before the measurement."""

    cores: int
    memory_gb: int
    system: str
    python: str
    busy: float

    @staticmethod
    def here() -> "Machine":
        """This machine, now."""
        return Machine(
            os.cpu_count() or 1,
            round(psutil.virtual_memory().total / 1e9),
            f"{platform.system()} {platform.machine()}",
            platform.python_version(),
            round(os.getloadavg()[0], 1),
        )

    def __str__(self) -> str:
        """One line, with a warning if the machine was busy."""
        text = f"{self.cores} cores, {self.memory_gb} GB, {self.system}, Python {self.python}, load {self.busy:g}"
        idle = self.busy < self.cores / 2
        return text if idle else f"{text}: TOO BUSY with other things; these figures say little"
