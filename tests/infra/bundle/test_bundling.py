"""The bundle holds what the functions need, for the machine that runs them, and nothing else of ours."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import botocore
import pytest
from botocore.regions import EndpointResolver

from stepward.domain.errors import Misconfigured
from stepward.project import Project
from stepward_cdk.functions import bundling
from stepward_cdk.functions.bundling import Bundle, bundle
from stepward_cdk.settings.settings import BOTO_SERVICES
from tests.infra.sample import PROJECT

PACKAGE = Path(botocore.__file__).parent
AARCH64 = 183  # e_machine of an ELF file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of its own, with one of this one's requirements, its tools, and a few sources."""
    (tmp_path / ".venv-tools").symlink_to(PROJECT.root / ".venv-tools")
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "functions.txt").write_text(locked("six"))
    not_deployed = (
        "stepward/cli/main.py",
        "stepward/console/server.py",
        "stepward/local/cloud.py",
        "stepward/testing/memory/queues.py",
    )
    for name in ("submission.py", "stepward/app.py", *not_deployed):
        source = tmp_path / "functions" / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("READY = True\n")
    return tmp_path


@pytest.fixture(scope="module")
def for_aws() -> Bundle:
    """This project's bundle for Lambda."""
    return bundle("aws", PROJECT)


@pytest.fixture(scope="module")
def for_this_machine() -> Bundle:
    """This project's bundle for the local cloud."""
    return bundle("local", PROJECT)


def test_machine_code_for_lambda_is_for_lambdas_processor(for_aws: Bundle) -> None:
    """S22: code for this machine would fail at the first message."""
    libraries = list(for_aws.path.rglob("*.so"))
    assert libraries
    for library in libraries:
        assert int.from_bytes(library.read_bytes()[18:20], "little") == AARCH64, library.name


def test_the_bundle_lacks_the_command_line_the_local_cloud_and_tests(for_aws: Bundle, for_this_machine: Bundle) -> None:
    """S3: what only a person's machine needs does not slow down a function."""
    for made in (for_aws, for_this_machine):
        ours = (
            "nicegui",
            "stepward/cli",
            "stepward/console",
            "stepward/local",
            "stepward/testing",
            "stepward_cdk",
            "orders/demo",
        )
        for name in (*ours, "typer", "rich", "psutil", "bin"):
            assert not (made.path / name).exists(), name
        assert not [path for path in made.path.rglob("tests") if path.is_dir()]


def test_the_functions_can_be_imported_from_the_bundle_alone(for_this_machine: Bundle) -> None:
    """S3: a dependency that is missing here would be missing on Lambda."""
    script = "import submission, scheduler, agent, supervisor, ledger, convoy; print(submission.__file__)"
    assert run_alone(for_this_machine, script).startswith(str(for_this_machine.path))


def test_the_bundle_knows_every_aws_service_that_it_is_meant_to_call(for_this_machine: Bundle) -> None:
    """S4: the models of all others are left out, and are three quarters of its size."""
    script = (
        "import boto3, botocore.exceptions as e\n"
        f"for name in {BOTO_SERVICES}: boto3.client(name, region_name='eu-west-1')\n"
        "try: boto3.client('ec2', region_name='eu-west-1')\n"
        "except e.UnknownServiceError: print('left out')"
    )
    assert run_alone(for_this_machine, script) == "left out"


def test_the_bundle_finds_every_endpoint_of_these_services_in_every_region(for_this_machine: Bundle) -> None:
    """S4: those of other services are left out, most of what the SDK reads; but not here, where uv links them."""
    file = Path("data", "endpoints.json")
    whole, kept = (
        json.loads((package / file).read_text()) for package in (PACKAGE, for_this_machine.path / "botocore")
    )
    regions = [region for partition in whole["partitions"] for region in partition["regions"]]
    assert len(json.dumps(kept)) < len(json.dumps(whole)) / 10
    for service, region in itertools.product(BOTO_SERVICES, [*regions, "eu-new-1"]):
        ends = [EndpointResolver(known).construct_endpoint(service, region) for known in (whole, kept)]
        assert ends[0] == ends[1], (service, region)


def test_the_bundle_is_compiled_when_a_python_of_its_version_is_there(for_this_machine: Bundle) -> None:
    """S4: a cold start does not compile what could have been compiled once."""
    for name in ("submission", "stepward/domain/workflow/plan", "botocore/client"):
        source = for_this_machine.path / f"{name}.py"
        assert list((source.parent / "__pycache__").glob(f"{source.stem}.*.pyc")), name


def test_a_python_that_only_pyenv_has_compiles_the_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S4: uv gives up at a shim of pyenv, and the bundle would not be compiled."""
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert bundling.find_python("false", "3.99") == ""
    there = tmp_path / "versions" / "3.99.1" / "bin" / "python"
    there.parent.mkdir(parents=True)
    there.touch()
    assert bundling.find_python("false", "3.99") == str(there)


def test_the_same_project_makes_the_same_bundle(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """S3: a deployment without a change changes no function."""
    first = bundle("aws", Project(project))
    moved = project.rename(tmp_path_factory.mktemp("elsewhere") / "project")
    made = moved / first.path.relative_to(project)
    listed = contents(made)
    made.rename(moved / "set-aside")
    second = bundle("aws", Project(moved))
    assert second.content_hash == first.content_hash
    assert contents(second.path) == listed


def test_a_second_synthesis_uses_the_bundle_that_is_there(project: Path) -> None:
    """S3."""
    first = bundle("local", Project(project))
    (first.path / "mark").touch()
    assert (bundle("local", Project(project)).path / "mark").exists()


def test_a_changed_source_makes_another_bundle_and_the_old_one_goes(project: Path) -> None:
    """S3."""
    first = bundle("local", Project(project))
    (project / "functions" / "submission.py").write_text("READY = False\n")
    second = bundle("local", Project(project))
    assert second.content_hash != first.content_hash
    assert (second.path / "submission.py").read_text() == "READY = False\n"
    assert not first.path.exists()


def test_what_is_left_out_of_the_bundle_does_not_change_it(project: Path) -> None:
    """S3: work on the command line redeploys nothing."""
    first = bundle("local", Project(project))
    (project / "functions" / "stepward" / "cli" / "main.py").write_text("READY = False\n")
    assert bundle("local", Project(project)) == first


def test_a_project_of_its_own_gets_the_engine_from_its_environment(project: Path) -> None:
    """U3: no user copies engine code."""
    shutil.rmtree(project / "functions" / "stepward")
    held = bundle("local", Project(project)).path
    engine = PROJECT.functions / "stepward"
    assert (held / "stepward" / "config.py").read_bytes() == (engine / "config.py").read_bytes()
    for name in ("cli", "local", "testing", "project.py"):
        assert not (held / "stepward" / name).exists(), name


def test_without_a_list_a_bundle_has_the_environments_versions(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """U3: what was tested is what is deployed."""
    (project / "requirements" / "functions.txt").unlink()
    monkeypatch.setattr(bundling, "requires", lambda _: ["six>=1", "rich>=1; extra == 'cli'"])
    (project / "pyproject.toml").write_text('[project]\ndependencies = ["stepward[cli]", "jmespath>=1"]\n')
    held = bundle("local", Project(project)).path
    assert (held / "jmespath").is_dir()
    assert f'__version__ = "{version("six")}"' in (held / "six.py").read_text()
    assert not (held / "rich").exists()


def test_a_requirement_without_a_hash_is_refused(project: Path) -> None:
    """S22: and nothing half-made is left where the next synthesis would find it."""
    (project / "requirements" / "functions.txt").write_text("six==1.17.0\n")
    with pytest.raises(Misconfigured, match="hash"):
        bundle("local", Project(project))
    assert list((project / "build" / "bundle-local").iterdir()) == []


def locked(package: str) -> str:
    """A package's version and hashes, as this project's requirements have them."""
    lines = (PROJECT.root / "requirements" / "functions.txt").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{package}=="))
    hashes = itertools.takewhile(lambda line: "--hash" in line, lines[start + 1 :])
    return "\n".join([lines[start], *hashes]).rstrip("\\ ") + "\n"


def run_alone(made: Bundle, script: str) -> str:
    """What `script` prints in an interpreter that sees the standard library and the bundle only."""
    alone = f"import sys; sys.path.insert(0, {str(made.path)!r})\n{script}"
    command = [sys.executable, "-I", "-S", "-B", "-c", alone]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def contents(folder: Path) -> dict[str, str]:
    """Every source file of a bundle with its hash; compiled ones may differ where the compiler is not the same."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
