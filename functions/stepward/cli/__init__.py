"""The `stepward` command: what people type; never part of a Lambda bundle."""

from __future__ import annotations

import sys


def start() -> None:
    """Run `stepward`, or say what it lacks: its libraries come with an extra of the package."""
    try:
        from stepward.cli.main import main  # noqa: PLC0415 - its imports are what may be missing
    except ModuleNotFoundError as error:
        if error.name not in {"psutil", "rich", "typer"}:
            raise
        sys.exit(f"stepward: {error.name} is not installed; type: pip install 'stepward[cli]'")
    except KeyboardInterrupt:
        sys.exit(130)
    main()
