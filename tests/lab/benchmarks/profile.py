"""Shows where time goes: in the engine by a sampling profiler, at start-up by Python's import times."""

import re
import sys
from collections import Counter

from pyinstrument import Profiler

from stepward.project import Project
from stepward_cdk.functions.bundling import bundle
from tests.lab.benchmarks import engine, startup

MOST = 25
_IMPORT = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")


def of_engine(orders: int = 2000) -> str:
    """The call tree of orders on the memory twins."""
    with Profiler(interval=0.0005) as profiler:
        engine.speed(50, orders)
    text: str = profiler.output_text(unicode=True, color=sys.stdout.isatty())
    return text


def of_imports(program: str) -> str:
    """Milliseconds that a function spends in the imports of each package; measuring adds a little to each."""
    told = startup.start(program, bundle("local", Project.here()).path, "-X", "importtime")
    taken: Counter[str] = Counter()
    for microseconds, module in _IMPORT.findall(told):
        taken[module.partition(".")[0]] += int(microseconds)
    return "\n".join(f"{each / 1000:8.1f} ms  {package}" for package, each in taken.most_common(MOST))


if __name__ == "__main__":
    sys.stdout.write(of_engine() + "\n" + of_imports(startup.PROGRAMS["scheduler"]) + "\n")
