"""Every block of docs/testing.md runs as a test."""

import re
import subprocess
import sys
from pathlib import Path

from tests.unit.testing.test_kit_plugin import PLUGIN

PAGE = Path(__file__).parents[3] / "docs" / "testing.md"


def test_every_block_of_the_documentation_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    (tmp_path / "test_documented.py").write_text("\n\n".join(blocks))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLUGIN, str(tmp_path)]

    made = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)  # noqa: S603 - our own

    assert f"{sum(block.count('def test_') for block in blocks)} passed" in made.stdout, made.stdout
    assert "failed" not in made.stdout
