"""Every block of the pages for those who write workflows and their tests runs as a test."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.testing.test_kit_plugin import PLUGIN

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("page", ["testing.md", "children.md", "many.md"])
def test_every_block_of_the_documentation_runs(page: str, tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)
    (tmp_path / "test_documented.py").write_text("\n\n".join(blocks))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLUGIN, str(tmp_path)]

    made = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)  # noqa: S603 - our own

    assert f"{sum(block.count('def test_') for block in blocks)} passed" in made.stdout, made.stdout
    assert "failed" not in made.stdout
