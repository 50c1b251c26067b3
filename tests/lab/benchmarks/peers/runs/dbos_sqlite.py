"""Three steps on DBOS, its state in a SQLite file."""

import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

with suppress(ImportError):
    # DBOS needs a newer SQLite than many interpreters have; this package does not exist for every system.
    import pysqlite3

    sys.modules["sqlite3"] = pysqlite3

from dbos import DBOS

from tests.lab.benchmarks.peers.measuring import in_threads


@DBOS.step()
def reserve(order: str) -> str:
    return order


@DBOS.step()
def charge(order: str) -> str:
    return order


@DBOS.step()
def ship(reservation: str) -> str:
    return reservation


@DBOS.workflow()
def fulfil(order: str) -> str:
    reservation = reserve(order)
    charge(order)
    return str(ship(reservation))


def order(name: str) -> None:
    assert fulfil(name) == name


def main() -> None:
    with TemporaryDirectory(prefix="stepward-") as folder:
        database = f"sqlite:///{Path(folder) / 'dbos.sqlite'}"
        DBOS(config={"name": "bench", "system_database_url": database, "log_level": "ERROR", "run_admin_server": False})
        DBOS.launch()
        in_threads("dbos", order)
        DBOS.destroy()


if __name__ == "__main__":
    main()
