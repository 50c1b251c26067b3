"""A user installs two packages, complete, typed, and without the example application."""

import re
import tomllib
from collections.abc import Mapping
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

from stepward.local.server import INSTALL
from tests.lab.wheels.building import PROJECTS, ROOT, build

SOURCES = {"stepward": ROOT / "functions" / "stepward", "stepward_cdk": ROOT / "infra" / "stepward_cdk"}
OF_THE_EXAMPLE = re.compile(r"\b(inventory|payments|shipping|ORDERS_SERVICE_URLS)\b|\b(from|import) orders\b")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, ZipFile]:
    built = build(tmp_path_factory.mktemp("wheels"))
    return {name: ZipFile(path) for name, path in built.items()}


def metadata(wheel: ZipFile) -> Message:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return message_from_bytes(wheel.read(name))


@pytest.mark.parametrize("name", PROJECTS)
def test_a_wheel_holds_its_whole_package_and_no_other(wheels: Mapping[str, ZipFile], name: str) -> None:
    held = [Path(file) for file in wheels[name].namelist() if ".dist-info" not in file]
    files = [path for path in SOURCES[name].rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sorted(held) == sorted(Path(name) / path.relative_to(SOURCES[name]) for path in files)
    assert Path(name) / "py.typed" in held


def test_a_wheel_built_from_another_checkout_has_the_same_bytes(wheels: Mapping[str, ZipFile], tmp_path: Path) -> None:
    (SOURCES["stepward"] / "py.typed").touch()  # another checkout has other times
    again = build(tmp_path)

    for name, wheel in wheels.items():
        assert again[name].read_bytes() == Path(str(wheel.filename)).read_bytes()


@pytest.mark.parametrize("name", PROJECTS)
def test_a_wheel_names_no_application(wheels: Mapping[str, ZipFile], name: str) -> None:
    sources = [file for file in wheels[name].namelist() if file.endswith(".py")]
    found = [(file, line) for file in sources for line in wheels[name].read(file).decode().splitlines()]
    assert [(file, line) for file, line in found if OF_THE_EXAMPLE.search(line)] == []


def test_the_engine_brings_its_command_its_fixtures_and_its_extras(wheels: Mapping[str, ZipFile]) -> None:
    engine = metadata(wheels["stepward"])
    assert engine.get_all("Provides-Extra") == ["cli", "console", "local", "new", "testing"]
    (file,) = [file for file in wheels["stepward"].namelist() if file.endswith("entry_points.txt")]
    entries = wheels["stepward"].read(file).decode()
    assert "stepward = stepward.cli:start" in entries
    assert "stepward = stepward.testing.plugin" in entries


def test_a_user_is_told_to_install_the_local_cloud_that_is_pinned_here() -> None:
    (pinned,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["local"]
    assert pinned in INSTALL


def test_the_infrastructure_needs_the_engine_of_its_own_version_and_what_is_pinned_here(
    wheels: Mapping[str, ZipFile],
) -> None:
    engine, infrastructure = (metadata(wheels[name]) for name in PROJECTS)
    assert engine["Version"] == infrastructure["Version"]
    pinned = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["infra"]
    needs = sorted([*pinned, f"stepward=={engine['Version']}"])
    assert sorted(infrastructure.get_all("Requires-Dist") or []) == needs
