"""The local cloud: for the duration of a block, or running until somebody stops it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from stepward.local.server import Server, guarded, left_to_end, start

REMOVE, REMOVED = ("/bin/rm", "-rf", "--"), "removed-"


@contextmanager
def local_cloud(*, log: Path, port: int = 0, functions_reach: str = "") -> Iterator[Server]:
    """A cloud for this block, whose processes and files are gone however the block ends; raises CloudFailed.

    `functions_reach` is the endpoint that its functions use for AWS, if not the cloud's own.
    """
    with ExitStack() as undo:
        home = Path(mkdtemp(prefix="stepward-")) / "home"
        failed = undo.enter_context(ExitStack())
        failed.callback(shutil.rmtree, home.parent, ignore_errors=True)
        server, process = start(home, log, port=port, functions_reach=functions_reach)
        undo.callback(process.wait)
        undo.callback(server.stop)
        undo.enter_context(guarded(server, home))
        failed.pop_all()
        yield server


@dataclass(frozen=True, slots=True)
class RunningCloud:
    """The cloud that `stepward local up` leaves running; `folder` holds its state, its files and its log."""

    folder: Path

    @property
    def log(self) -> Path:
        """The file of its output."""
        return self.folder / "cloud.log"

    @property
    def server(self) -> Server | None:
        """The running cloud; None if there is none."""
        return Server.load(self._state)

    def up(self, *, port: int = 0) -> Server:
        """The running cloud, started if there is none; raises CloudFailed."""
        if running := self.server:
            return running
        self.down()
        server, process = start(self._home, self.log, port=port)
        # The cloud outlives this process on purpose, so nobody waits for it.
        process.returncode = 0
        try:
            server.save(self._state)
        except BaseException:
            server.stop()
            raise
        return server

    def down(self) -> bool:
        """Stop it and remove its files, in the background if that takes long; False if none was running."""
        running = self.server
        if running:
            running.stop()
        self._state.unlink(missing_ok=True)
        self._remove_home()
        return running is not None

    @property
    def is_removing(self) -> bool:
        """Whether files of a stopped cloud are left to remove."""
        return any(self._removed)

    def _remove_home(self) -> None:
        if self._home.exists():
            self._home.rename(Path(mkdtemp(prefix=REMOVED, dir=self.folder)) / self._home.name)
        if removed := list(self._removed):
            # If it had the output of this process, it would keep waiting whoever reads that.
            removal = subprocess.Popen(  # noqa: S603 - a constant command
                [*REMOVE, *removed],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            left_to_end(removal)

    @property
    def _removed(self) -> Iterator[Path]:
        return self.folder.glob(f"{REMOVED}*")

    @property
    def _state(self) -> Path:
        return self.folder / "cloud.json"

    @property
    def _home(self) -> Path:
        return self.folder / "home"
