"""Makes a project from the two built packages, then runs tests/lab/booking on them: in memory, and deployed locally.

`make wheels` runs it. It first copies the application out of this repository.
"""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tests.lab.reaper import awaited
from tests.lab.wheels import project
from tests.lab.wheels.building import ROOT, build, install, run

TRIPS = 3
ENDS_WITHIN_S = 60
AGENTS = {"flights", "hotels", "cars", "visas", "cards", "insurers", "mail"}


def main() -> None:
    """Print each step that passed; raises RuntimeError at the first that does not."""
    began = monotonic()

    def report(text: str) -> None:
        sys.stdout.write(f"{monotonic() - began:5.1f} s  {text}\n")
        sys.stdout.flush()

    with TemporaryDirectory(prefix="stepward-") as scratch:
        folder = Path(scratch)
        wheels = build(folder)
        project.check(folder, wheels, report)
        binaries = install(wheels, folder)
        report("built both packages, and installed them into an empty environment")
        booking = folder / "booking"
        shutil.copytree(ROOT / "tests" / "lab" / "booking", booking)
        _check(booking, binaries, report)


def _check(booking: Path, binaries: Path, report: Callable[[str], None]) -> None:
    python = str(binaries / "python")
    run([sys.executable, "-m", "mypy", "--python-executable", python, "functions/booking"], booking)
    report("the application's types agree with those of the packages")
    report(f"in memory: {run([python, '-m', 'pytest', '-q'], booking).splitlines()[-1]}")
    tools = {"PATH": f"{ROOT / '.venv-tools' / 'bin'}:/usr/bin:/bin"}
    run([python, "-m", "stepward.local.synth", "-c", "env=dev"], booking, **tools)
    template = json.loads((booking / "cdk.out" / "Stepward.template.json").read_text())
    functions = [it["Properties"] for it in template["Resources"].values() if it["Type"] == "AWS::Lambda::Function"]
    variables = [function.get("Environment", {}).get("Variables", {}) for function in functions]
    if {each["STEPWARD_AGENT"] for each in variables if "STEPWARD_AGENT" in each} != AGENTS:
        raise RuntimeError("the template does not hold one function for each agent")
    report(f"synthesised: {len(template['Resources'])} resources, {len(functions)} functions")
    with _up(booking, binaries, tools) as stepward:
        report("deployed on the local cloud")
        states = _send(booking, stepward)
        if set(states.values()) != {"Processed"}:
            raise RuntimeError(f"not every trip is Processed: {states}")
        report(f"sent {TRIPS} trips: all are Processed")


@contextmanager
def _up(booking: Path, binaries: Path, tools: Mapping[str, str]) -> Iterator[Callable[..., str]]:
    """The `stepward` command, while the booking's stack is up."""
    around = {**tools, "STEPWARD_LOCAL_PYTHON_ENV": str(ROOT / ".venv-local")}

    def stepward(*words: str) -> str:
        return run([str(binaries / "stepward"), *words], booking, **around)

    try:
        stepward("local", "up")
        yield stepward
    finally:
        stepward("local", "down")


def _send(booking: Path, stepward: Callable[..., str]) -> Mapping[str, str]:
    trip = json.loads((booking / "trip.json").read_text())
    ids = [f"trip-{number}" for number in range(1, TRIPS + 1)]
    for order_id in ids:
        file = booking / f"{order_id}.json"
        file.write_text(json.dumps({**trip, "orderId": order_id}))
        stepward("send", str(file), "--local")

    def states() -> Mapping[str, str]:
        listed = json.loads(stepward("list", "--local", "--json"))
        return dict.fromkeys(ids, "") | {it["orderId"]: it["state"] for it in listed["orders"]}

    awaited(lambda: set(states().values()) == {"Processed"}, ENDS_WITHIN_S, every_s=1)
    return states()


if __name__ == "__main__":
    main()
