"""Finds the process at the other end of a connection on this machine, to kill it during its call."""

from __future__ import annotations

import ipaddress

import psutil

Address = tuple[str, int]


class PeerSparedError(Exception):
    """The process at the other end must not be killed, or was not found; the message says why."""


def killable_peer(theirs: Address, ours: Address) -> psutil.Process:
    """The process that holds the far end of the connection from `theirs` to `ours`; raises PeerSparedError."""
    if not ipaddress.ip_address(theirs[0]).is_loopback:
        raise PeerSparedError("the caller is on another machine")
    holders = [process for process in psutil.process_iter() if _holds(process, theirs, ours)]
    if len(holders) != 1:
        raise PeerSparedError(f"{len(holders)} processes hold the connection")
    this = psutil.Process()
    if holders[0] in [this, *this.parents()]:
        raise PeerSparedError("the caller is this process or one that started it")
    return holders[0]


def _holds(process: psutil.Process, theirs: Address, ours: Address) -> bool:
    try:
        connections = process.net_connections("tcp")
    except (psutil.AccessDenied, psutil.NoSuchProcess):
        return False
    return any(tuple(each.laddr) == theirs and tuple(each.raddr) == ours for each in connections)
