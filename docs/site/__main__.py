"""Writes the pages of the site into a folder, from which `make docs` builds it."""

import shutil
import sys
from pathlib import Path

from docs.site import pages, reference
from stepward.project import Project

into = Path(sys.argv[1])
shutil.rmtree(into, ignore_errors=True)
pages.copy(into)
reference.write(into / "reference", Project.here().app())
