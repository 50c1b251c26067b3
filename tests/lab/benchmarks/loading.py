"""What each kind of step adds to a function: the computing that its modules take to load, on the deployed bundle."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stepward.project import Project
from stepward_cdk.functions.bundling import bundle
from tests.lab.benchmarks.startup import PROGRAMS, STARTS, start
from tests.lab.results import Progress, Result, table

_TASK, _WORKFLOW = "stepward.domain.steps", "stepward.domain.workflow"
KINDS: Mapping[str, tuple[str, Sequence[str]]] = {
    "to write waits, children and eaches": (
        "submission",
        [f"{_WORKFLOW}.waits", f"{_WORKFLOW}.children", f"{_WORKFLOW}.refs", f"{_WORKFLOW}.values"],
    ),
    "to check conditions and other refs": ("submission", [f"{_WORKFLOW}.conditions", f"{_WORKFLOW}.ref_checks"]),
    "a condition": ("scheduler", [f"{_WORKFLOW}.conditions"]),
    "a timer": ("scheduler", [f"{_TASK}.timer"]),
    "a signal": ("scheduler", [f"{_TASK}.signal"]),
    "a child": ("scheduler", [f"{_TASK}.child", f"{_TASK}.parent", "stepward.app.scheduler.children"]),
    "an each": ("scheduler", [f"{_TASK}.each"]),
    "a call that is answered later": (
        "scheduler",
        [f"{_TASK}.later", "stepward.app.scheduler.tokens", "stepward.adapters.callback_keys"],
    ),
    "a check": ("agent", ["stepward.app.agent.call_rows", "stepward.domain.coordination.call_row"]),
    "a rate": ("agent", ["stepward.app.agent.pacer", "stepward.domain.coordination.pace"]),
}
"""The function that needs a kind, and the modules that nothing else needs; those of calls are in every function."""


_LOAD = """
import importlib, json, time
found = {name: name in sys.modules for name in NAMES}
for module in [importlib.import_module(name) for name in NAMES]:
    began = time.process_time_ns()
    importlib.reload(module)  # without what it imports itself
    found[module.__name__] = found[module.__name__], time.process_time_ns() - began
sys.stderr.write(json.dumps(found) + chr(10))
"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the modules of a kind cost a function: lines, bytes of source, CPU ms, and how much of it at every start."""

    kind: str
    function: str
    lines: int
    source_bytes: int
    cpu_ms: float
    cpu_ms_at_start: float


def measure(progress: Progress) -> Result:
    progress("building the bundle")
    found = loaded(bundle("local", Project.here()).path, progress)
    rows = [
        (it.kind, it.function, f"{it.lines}", f"{it.source_bytes:,}", f"{it.cpu_ms:.1f}", f"{it.cpu_ms_at_start:.1f}")
        for it in found
    ]
    columns = ("", "function", "lines", "bytes", "CPU ms", "at every start")
    return found, [table("What each kind of step adds to loading", *columns, rows=rows, boxed=False)]


def loaded(code: Path, progress: Progress) -> Sequence[Loaded]:
    """Start each function, and load the modules of each kind, so many times; the medians."""
    found: dict[str, list[Mapping[str, tuple[bool, int]]]] = {}
    for function in dict.fromkeys(function for function, _ in KINDS.values()):
        progress(f"loading the kinds of step into {function}")
        names = sorted({each for of, modules in KINDS.values() if of == function for each in modules})
        program = f"{PROGRAMS[function]}; exec({_LOAD.replace('NAMES', repr(names))!r})"
        found[function] = [json.loads(start(program, code, "-X", "utf8")) for _ in range(STARTS)]
    return [_loaded(kind, function, modules, found[function], code) for kind, (function, modules) in KINDS.items()]


def _loaded(
    kind: str, function: str, modules: Sequence[str], runs: Sequence[Mapping[str, tuple[bool, int]]], code: Path
) -> Loaded:
    texts = [code.joinpath(*module.split(".")).with_suffix(".py").read_text() for module in modules]
    took = statistics.median(sum(run[module][1] for module in modules) / 1e6 for run in runs)
    early = statistics.median(sum(run[module][1] for module in modules if run[module][0]) / 1e6 for run in runs)
    lines, size = sum(len(text.splitlines()) for text in texts), sum(len(text.encode()) for text in texts)
    return Loaded(kind, function, lines, size, took, early)
