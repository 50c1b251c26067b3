"""A person visits the console of a deployment in memory."""

import asyncio
from collections.abc import Awaitable, Callable

from nicegui import Client
from nicegui.testing import User
from nicegui.testing.user_simulation import user_simulation

from stepward.console.frame import Console
from stepward.console.server import build
from stepward.operator.wording.logs import Logs
from tests.unit.operator.deployed import Deployed


def console(deployed: Deployed) -> Console:
    return Console(
        deployed.connection, "shop", "ann", lambda *words: " ".join(("stepward", *words)), Logs("shop", "eu-west-1")
    )


def visit(shown: Console, act: Callable[[User], Awaitable[None]]) -> None:
    """Have a person visit the console."""

    async def visiting() -> None:
        async with user_simulation() as user:
            build(shown)
            try:
                await act(user)
            finally:
                # Else NiceGUI would remove the modules of the pages, with all their parents, from sys.modules.
                Client.page_routes.clear()

    asyncio.run(visiting())
