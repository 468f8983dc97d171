"""Who may talk to the studio: this machine's own pages, and whoever has the token.

A page of another site can make a browser send requests here, and a name that it controls can be made to point at
127.0.0.1 (DNS rebinding). So the Host must be ours, whoever says where a request comes from must say that it comes from
us, and anything but this machine needs a token.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = dict[str, Any]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
COOKIE = "choreograph_token"
UPLOAD_BYTES = {"/api/recordings": 2 << 30, "/api/characters": 128 << 20}
"""Largest uploads, all files together, by where they go."""
BODY_BYTES = 16 << 20
"""Largest body of any other request: a document of 20,000 clips has some 4 MB."""
BODY_S = 30.0
"""Seconds in which the next part of a body has to come."""

HEADERS = {
    "content-security-policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "media-src 'self' blob:; "
        "connect-src 'self' blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class Guard:
    """ASGI middleware: refuses requests and sockets that are not for us, and adds headers to answers."""

    def __init__(self, app: Any, *, hosts: Iterable[str] = LOOPBACK, token: str | None = None) -> None:
        """Guard an application.

        Args:
            app: What is guarded.
            hosts: Names and addresses that requests may be meant for, without port; "*" with a token.
            token: What strangers must know; None where only this machine is listened to.
        """
        self.app, self.hosts, self.token = app, frozenset(hosts), token

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Handle a request."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        why = self._refuse_host(headers) or self._refuse_origin(scope, headers)
        if why is not None:
            await _refuse(scope, receive, send, 403, why)
            return
        given = self._token_in_url(scope)
        known = _same(given, self.token)
        if self.token is not None and not (known or any(_same(one, self.token) for one in _cookies(scope, headers))):
            why = "this studio is not on your machine and needs its token: open the address that it printed"
            await _refuse(scope, receive, send, 401, why)
            return
        extra = dict(HEADERS)
        if self.token is not None and known:
            secure = "; Secure" if scope.get("scheme") in ("https", "wss") else ""
            cookie = f"{_cookie_name(scope)}={self.token}; Path=/; HttpOnly; SameSite=Strict{secure}"
            extra["set-cookie"] = cookie
        if scope["type"] == "websocket":
            await self.app(scope, receive, send)
            return
        if known and scope["method"] == "GET" and not scope["path"].startswith("/api"):
            await _without_token(scope, send, extra)
            return
        limit = UPLOAD_BYTES.get(scope["path"], BODY_BYTES)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > limit:
            await _refuse(scope, receive, send, 413, f"that is too much at once: at most {limit >> 20} MB are taken")
            return
        answer = _Answer(send, extra)
        try:
            await self.app(scope, _limited(receive, limit), answer)
        except asyncio.CancelledError:
            # The server ends, and somebody has not sent all of a request: no mistake of ours.
            if not answer.begun:
                await _refuse(scope, receive, send, 503, "the studio was closed")

    def _refuse_host(self, headers: dict[str, str]) -> str | None:
        host = headers.get("host", "")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() and not host.endswith("]") else host
        if "*" in self.hosts or name.lower() in self.hosts:
            return None
        return f"this studio is not {name[:100] or 'without a name'!r}; open it at the address that it printed"

    def _refuse_origin(self, scope: Scope, headers: dict[str, str]) -> str | None:
        reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        origin = headers.get("origin")
        # The port is part of an origin: another server on this machine is another site.
        if origin is not None and not reads and _place(origin) != headers.get("host", "").lower():
            return "this request comes from another site, which may not use the studio"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            follows_link = (
                reads and headers.get("sec-fetch-mode") == "navigate" and not scope["path"].startswith("/api")
            )
            if not follows_link:
                return "this request comes from another site, which may not use the studio"
        return None

    def _token_in_url(self, scope: Scope) -> str | None:
        values = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token")
        return values[0] if values else None


class TooMuch(Exception):
    """A body grew beyond what was allowed."""


class TooSlow(Exception):
    """A body was begun and did not go on."""


def _limited(receive: Any, limit: int) -> Any:
    """`receive` that stops a body without a length, or with a false one, from growing on, or from never ending."""
    seen, whole = 0, False

    async def counted() -> Any:
        nonlocal seen, whole
        if whole:  # what comes next is that somebody has gone, and may take as long as it likes
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), BODY_S)
        except TimeoutError:
            raise TooSlow(f"nothing more of the request came for {BODY_S:g} s") from None
        whole = not message.get("more_body", False)
        seen += len(message.get("body", b""))
        if seen > limit:
            raise TooMuch(f"that is too much at once: at most {limit >> 20} MB are taken")
        return message

    return counted


class _Answer:
    """`send` that adds headers to an answer, and knows whether it has begun."""

    def __init__(self, send: Any, extra: dict[str, str]) -> None:
        self._send, self._extra = send, extra
        self.begun = False

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            own = {key.lower() for key, _ in message["headers"]}
            message["headers"] = [
                *message["headers"],
                *((k.encode(), v.encode()) for k, v in self._extra.items() if k.encode() not in own),
            ]
        await self._send(message)


async def _refuse(scope: Scope, receive: Any, send: Any, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": why[:120]})
        return
    body = json.dumps({"error": why, "where": None}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), **HEADERS}
    pairs = [(key.encode(), value.encode()) for key, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


async def _without_token(scope: Scope, send: Any, extra: dict[str, str]) -> None:
    """Answer with a page that leads to the same address without the token: who looks at the screen does not see it.

    A redirect would not do: a browser that came by a link of another page sends no strict cookie after one.
    """
    body = b'<!doctype html><meta http-equiv="refresh" content="0; url=/"><title>Choreograph</title>'
    headers = {**extra, "content-type": "text/html", "content-length": str(len(body)), "cache-control": "no-store"}
    pairs = [(key.encode(), value.encode()) for key, value in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _place(origin: str) -> str | None:
    """Host and port of an origin; None where it is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # such as http://[
        return None


def _cookie_name(scope: Scope) -> str:
    """Browsers keep cookies by host and not by port: two studios on one machine must not overwrite each other's."""
    server = scope.get("server")
    return f"{COOKIE}_{server[1]}" if server and server[1] else COOKIE


def _cookies(scope: Scope, headers: dict[str, str]) -> list[str]:
    """Tokens among the cookies. Other programs of this machine may have set some that no standard allows."""
    pairs = (part.partition("=") for part in headers.get("cookie", "").split(";"))
    return [value.strip().strip('"') for name, _, value in pairs if name.strip() in (_cookie_name(scope), COOKIE)]


def _same(given: str | None, token: str | None) -> bool:
    return given is not None and token is not None and hmac.compare_digest(given.encode(), token.encode())
