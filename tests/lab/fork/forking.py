"""Makes a fork of this repository that has another application, as CONTRIBUTING.md says."""

import shutil
import sys
import sysconfig
from pathlib import Path

from stepward.cli.new.rendering import Answers, render
from tests.architecture.test_samples import OF_THE_APPLICATION
from tests.lab.wheels.building import ROOT, run

NAME = "bookings"
ITS_OWN = ("functions/orders", "events", "infra/environments", *(f"tests/{folder}" for folder in OF_THE_APPLICATION))
NOT_OF_A_FORK = ('not-bundled = ["orders/demo"]\n', 'ignore_imports = ["orders.demo.** -> **"] # never in the bundle\n')


def fork(into: Path, made: Path) -> None:
    """Copy this repository, and replace its application by what `stepward new` makes in `made`."""
    for name in run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], ROOT).splitlines():
        if (file := ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, into / name)
    for environment in (path for path in ROOT.glob(".venv-*") if path.is_dir()):
        (into / environment.name).symlink_to(environment)
    for folder in ITS_OWN:
        shutil.rmtree(into / folder)
    render(Answers.given(NAME, None), made)
    for folder in (f"functions/{NAME}", "events", "infra/environments"):
        shutil.copytree(made / folder, into / folder)
    for file in (into / "functions").glob("*.py"):
        file.write_text(file.read_text().replace("from orders import", f"from {NAME} import"))
    project, text = into / "pyproject.toml", (into / "pyproject.toml").read_text()
    for line in NOT_OF_A_FORK:
        text = text.replace(line, "")
    project.write_text(text.replace('"orders', f'"{NAME}').replace("functions/orders", f"functions/{NAME}"))


def environment(project: Path) -> Path:
    """The Python of the fork: the libraries of this one, and the fork's own code in place of this repository's."""
    run([sys.executable, "-m", "venv", "--without-pip", str(project / ".venv")], project)
    (packages,) = (project / ".venv").glob("lib/python*/site-packages")
    lines = (project / "functions", project / "infra", sysconfig.get_path("purelib"))
    (packages / "fork.pth").write_text("".join(f"{line}\n" for line in lines))
    return project / ".venv" / "bin" / "python"
