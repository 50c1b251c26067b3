"""The pages of the repository as pages of the site, with links that lead to pages of the site."""

from __future__ import annotations

import re
import shutil
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

ROOT = Path(__file__).parents[2]
ALONE = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""The pages outside of docs/, and their names on the site."""
_LINK = re.compile(r"(?P<text>\[[^\]]*\])\((?P<path>[^)#:\s]+)(?P<part>#[^)]*)?\)")


def copy(into: Path) -> None:
    """Write every page that people wrote, and the pictures, below `into`."""
    shutil.copytree(ROOT / "docs", into, ignore=shutil.ignore_patterns("site"), dirs_exist_ok=True)
    for page in [*ALONE, *(file.relative_to(ROOT).as_posix() for file in (ROOT / "docs").rglob("*.md"))]:
        (into / on_site(page)).write_text(linked((ROOT / page).read_text(encoding="utf-8"), page), encoding="utf-8")


def on_site(path: str) -> str:
    """Where a page or a picture of the repository is on the site; "" for any other file."""
    return ALONE.get(path, path.removeprefix("docs/") if path.startswith("docs/") else "")


def linked(text: str, page: str) -> str:
    """The text of `page` with links that work on the site; a link to a file of code becomes the text of the link."""

    def replaced(link: re.Match[str]) -> str:
        target = on_site(normpath(PurePosixPath(page).parent / link["path"]))
        if not target:
            return link["text"][1:-1]
        return f"{link['text']}({relpath(target, PurePosixPath(on_site(page)).parent)}{link['part'] or ''})"

    return _LINK.sub(replaced, text)
