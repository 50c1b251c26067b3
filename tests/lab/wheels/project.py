"""Makes a project with `stepward new` from the built wheels, and types its commands as a newcomer would."""

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from zipfile import ZipFile

from tests.lab.reaper import awaited
from tests.lab.wheels.building import ROOT, run

NAME = "bookings"
_UV = ROOT / ".venv-tools" / "bin" / "uv"
ENDS_WITHIN_S = 60


def check(folder: Path, wheels: Mapping[str, Path], report: Callable[[str], None]) -> None:
    """Raises RuntimeError at the first command that does not do what the project's README says."""
    around = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "PYTHON": sys.executable}
    engine = f"stepward[new] @ {wheels['stepward'].as_uri()}"
    # Each build has the same version, so what an earlier one left in uv's cache would be installed.
    run([str(_UV), "cache", "clean", "stepward", "stepward-cdk"], folder)
    run([str(_UV), "tool", "run", "--from", engine, "stepward", "new", NAME, "--wheels", str(folder)], folder, **around)
    project = folder / NAME

    def make(goal: str) -> str:
        return run(["make", goal], project, **around)

    report(f"stepward new {NAME}")
    report(f"make test: {make('test').splitlines()[-1]}")
    make("check")
    report("make check")
    report(f"make demo: {make('demo').splitlines()[-1]}")
    try:
        make("local")
        _send(project, around)
        report("make local, and an order was sent and shown")
        _deploy(project, around)
        report("make deploy ENV=dev, to the local cloud")
        _misspell(project, around)
        report("a missing name stopped the deployment, with its line")
    finally:
        make("down")
    _update(project, around, f"stepward[new] @ {_newer(wheels['stepward'], folder).as_uri()}")
    report("stepward new --update merged a newer template with a change of the project's own")


def _send(project: Path, around: Mapping[str, str]) -> None:
    stepward = str(project / ".venv" / "bin" / "stepward")
    run([stepward, "send", "events/order.json", "--local"], project, **around)

    def shown() -> bool:
        with suppress(RuntimeError):  # show ends with 1 while the order is still in the queue
            return "ord-1: Processed" in run([stepward, "show", "ord-1", "--local"], project, **around)
        return False

    awaited(shown, ENDS_WITHIN_S, every_s=1)
    if not shown():
        raise RuntimeError("the order that was sent is not Processed")


def _deploy(project: Path, around: Mapping[str, str]) -> None:
    """Deploy by the CDK command, to the local cloud in place of an account; `local up` did what bootstrap does."""
    status = run([str(project / ".venv" / "bin" / "stepward"), "local", "status", "--json"], project, **around)
    there = dict.fromkeys(("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"), json.loads(status)["endpoint"])
    keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "test")
    options = "CDK_OPTIONS=-c platform=local --require-approval never"
    run(["make", "deploy", "ENV=dev", options], project, **around, **there, **keys, AWS_DEFAULT_REGION="us-east-1")


def _misspell(project: Path, around: Mapping[str, str]) -> None:
    """A name that only an entry point imports stops the deployment, where it once swallowed orders."""
    file = project / "functions" / "convoy.py"
    text = file.read_text()
    file.write_text(text.replace("import app", "import appp as app"))
    try:
        run(["make", "local"], project, **around)
    except RuntimeError as error:
        if "functions/convoy.py:5: ImportError" not in str(error):
            raise
    else:
        raise RuntimeError("a missing name was deployed")
    finally:
        file.write_text(text)


def _update(project: Path, around: Mapping[str, str], newer: str) -> None:
    """Update the project to a newer engine's template, with a change of the user's own in a file that it touches."""
    makefile = project / "Makefile"
    makefile.write_text(makefile.read_text().replace("test the workflow in memory", "test my workflow"))
    commit = ["-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "--quiet", "--message", "mine"]
    for words in (["init", "--quiet"], ["add", "--all"], commit):
        run(["git", *words], project, **around)
    run([str(_UV), "tool", "run", "--from", newer, "stepward", "new", "--update"], project, **around)
    text = makefile.read_text()
    if "test my workflow" not in text or "# of the newer template" not in text:
        raise RuntimeError(f"the update lost a change:\n{text}")


def _newer(wheel: Path, folder: Path) -> Path:
    """The same engine as version 99, with another line in its template: what a later release is like."""
    (folder / "newer").mkdir()
    newer = folder / "newer" / "stepward-99-py3-none-any.whl"
    with ZipFile(wheel) as old, ZipFile(newer, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name.endswith("template/Makefile.jinja"):
                text += b"\n# of the newer template\n"
            text = text.replace(b"\nVersion: 0.1.0\n", b"\nVersion: 99\n") if name.endswith("/METADATA") else text
            if not name.endswith("/RECORD"):
                new.writestr(name.replace("stepward-0.1.0.dist-info", "stepward-99.dist-info"), text)
        new.writestr("stepward-99.dist-info/RECORD", "")
    return newer
