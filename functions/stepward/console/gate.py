"""Lets in only the person who started the console: no other site, no other name of this machine, no other program.

Whoever can load a page can send commands with the operator's AWS credentials, so each request and each websocket must
name this very address (a foreign page may resolve its own name to 127.0.0.1), come from one of our own pages, and carry
the cookie that is given for the token in the address that was printed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from secrets import compare_digest, token_urlsafe
from urllib.parse import parse_qsl, quote, urlencode

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CLOSED = "This page is closed. Open the address that `stepward console` printed; it has a token in it.\n"
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{host}; object-src 'none'; "
    "base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
"""The pages load nothing from another host. NiceGUI's pages are compiled in the browser, which needs eval."""


@dataclass(frozen=True, slots=True)
class Gate:
    """An application behind the checks, on this port of 127.0.0.1."""

    app: ASGIApp
    port: int
    token: str
    cookie: str = field(default_factory=lambda: token_urlsafe(32))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if answer := self._answer(scope, headers):
            await self._refuse(answer, scope, receive, send)
            return

        has_left = False

        async def heard() -> Message:
            nonlocal has_left
            message = await receive()
            has_left = has_left or message["type"] == "http.disconnect"
            return message

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers(headers["host"])]
            await send(message)

        try:
            await self.app(scope, heard, guarded)
        except RuntimeError:
            # Starlette's middleware raises it where a browser leaves before its answer; nobody waits for that any more.
            if not has_left:
                raise

    def _answer(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """What is answered instead of the page; None if the request may pass."""
        host = headers.get("host", "")
        if host not in {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}:
            return PlainTextResponse("Unknown host.\n", 403)
        # A browser names the origin of each websocket and each form; a page that it opens has none.
        assumed = f"http://{host}" if scope["type"] == "http" else ""
        if headers.get("origin", assumed) != f"http://{host}":
            return PlainTextResponse("Unknown origin.\n", 403)
        if self._has_cookie(headers.get("cookie", "")):
            return None
        return self._exchanged(scope) or PlainTextResponse(_CLOSED, 403)

    def _has_cookie(self, text: str) -> bool:
        try:
            found = SimpleCookie(text).get(self._name)
        except CookieError:
            return False
        return found is not None and compare_digest(found.value.encode(), self.cookie.encode())

    def _exchanged(self, scope: Scope) -> Response | None:
        """The cookie for the token, and the same address without it."""
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        given = dict(query).get("token", "")
        if scope["type"] != "http" or not compare_digest(given.encode(), self.token.encode()):
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # One slash only: two would name another host.
        path = "/" + quote(scope["path"].lstrip("/\\"))
        answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303, {"cache-control": "no-store"})
        answer.set_cookie(self._name, self.cookie, httponly=True, samesite="strict", path="/")
        return answer

    @property
    def _name(self) -> str:
        # Cookies are shared by all ports of a host.
        return f"stepward-console-{self.port}"

    def _headers(self, host: str) -> list[tuple[bytes, bytes]]:
        return [
            (b"content-security-policy", _POLICY.format(host=host).encode()),
            (b"referrer-policy", b"no-referrer"),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
        ]

    async def _refuse(self, answer: Response, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(scope, receive, send)
