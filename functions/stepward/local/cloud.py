"""The local cloud: for as long as a block runs, or standing until it is told to stop."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import mkdtemp

from stepward.local.server import Server, guarded, start


@contextmanager
def local_cloud(*, log: Path, port: int = 0) -> Iterator[Server]:
    """A cloud of this block's own, gone with its processes and files however the block ends; raises CloudFailed."""
    with ExitStack() as undo:
        home = Path(mkdtemp(prefix="stepward-"))
        undo.callback(shutil.rmtree, home, ignore_errors=True)
        server, process = start(home, log, port=port)
        undo.callback(process.wait)
        undo.callback(server.stop)
        undo.enter_context(guarded(server, home))
        yield server


@dataclass(frozen=True, slots=True)
class StandingCloud:
    """The cloud that `stepward local up` leaves running; `folder` holds its state, its files and its log."""

    folder: Path

    @property
    def log(self) -> Path:
        """Where it writes its output."""
        return self.folder / "cloud.log"

    @property
    def server(self) -> Server | None:
        """The running cloud; None if there is none, or if what the state file names is dead."""
        with suppress(FileNotFoundError, ValueError, TypeError):
            server = Server(**json.loads(self._state.read_text()))
            return server if server.is_running else None
        return None

    def up(self, *, port: int = 0) -> Server:
        """The running cloud, started if there is none; raises CloudFailed."""
        if running := self.server:
            return running
        self.down()
        server, process = start(self._home, self.log, port=port)
        # It outlives this process on purpose, so nobody waits for it.
        process.returncode = 0
        try:
            # Renamed into place, so that a reader never sees half of it.
            draft = self._state.with_suffix(".new")
            draft.write_text(json.dumps(asdict(server)))
            draft.replace(self._state)
        except BaseException:
            server.stop()
            raise
        return server

    def down(self) -> bool:
        """Stop it and remove its files; False if none was running."""
        running = self.server
        if running:
            running.stop()
        self._state.unlink(missing_ok=True)
        shutil.rmtree(self._home, ignore_errors=True)
        return running is not None

    @property
    def _state(self) -> Path:
        return self.folder / "cloud.json"

    @property
    def _home(self) -> Path:
        return self.folder / "home"
