"""Serves the pages on 127.0.0.1."""

from __future__ import annotations

import socket
from collections.abc import Callable
from secrets import token_urlsafe

import uvicorn
from fastapi import FastAPI
from nicegui import ui

from stepward.console.agents import agents_page
from stepward.console.dead_letters import dead_letters_page
from stepward.console.frame import Console
from stepward.console.gate import Gate
from stepward.console.home import home_page
from stepward.console.lane import lane_page
from stepward.console.order import order_page
from stepward.console.orders import orders_page
from stepward.console.stopped import stopped_page


def build(console: Console) -> None:
    """Make the pages, each at its own address."""
    ui.page("/")(lambda: home_page(console))

    @ui.page("/orders")
    def orders(*, where: str = "", after: str = "", scan_all: bool = False) -> None:
        orders_page(console, where, after, scan_all=scan_all)

    @ui.page("/orders/{key}")
    def order(key: str) -> None:
        order_page(console, key)

    @ui.page("/lanes/{key}")
    def lane(key: str) -> None:
        lane_page(console, key)

    @ui.page("/dead-letters/{queue}")
    def dead_letters(queue: str) -> None:
        dead_letters_page(console, queue)

    ui.page("/agents")(lambda: agents_page(console))
    ui.page("/stopped")(lambda: stopped_page(console))


def serve(console: Console, ready: Callable[[str], object], port: int = 0) -> None:
    """Serve the pages until the process is stopped; `ready` gets the address, which has a token in it.

    Port 0 is any that is free. Raises OSError if the port is taken.
    """
    build(console)
    app = FastAPI(openapi_url=None)
    ui.run_with(app, title="Stepward", dark=None, show_welcome_message=False)
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen()  # who opens the address at once waits, instead of being refused
        taken = listening.getsockname()[1]
        token = token_urlsafe(32)
        # The access log would hold the token, and the keys of orders.
        config = uvicorn.Config(Gate(app, taken, token), access_log=False, log_level="warning")
        ready(f"http://127.0.0.1:{taken}/?token={token}")
        uvicorn.Server(config).run(sockets=[listening])
