"""How the studio listens: connections that wait for nothing are closed, encryption, and under which names it is met."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from asyncio import Transport
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from choreograph.base.errors import RequestError

MAX_CONNECTIONS = 500
"""Connections at a time, sockets of pages included; further ones are closed at once."""
REQUEST_S = 15.0
"""Seconds in which a connection has to bring a whole head of a request."""
STUCK_S = 60.0
"""Seconds after which somebody who takes nothing of an answer is let go."""
UNSENT_BYTES = 64 << 10
"""What the system may hold that it has not sent yet: what waits longer waits here, where old frames are dropped."""


class Impatient(H11Protocol):
    """uvicorn's protocol, for connections that are wanted for something.

    uvicorn itself closes those that were used and are not used again, and pings sockets. It waits forever for the first
    request, and for the rest of one that was begun.
    """

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """A connection has come."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
            return
        line = transport.get_extra_info("socket")
        if line is not None and hasattr(socket, "TCP_NOTSENT_LOWAT"):
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
        self._idle = self._stuck = self._left = 0
        self._answered: Any = None  # the request of the last look
        self.loop.call_later(REQUEST_S / 3, self._look)

    def _look(self) -> None:
        """Close the connection where nothing was being answered the last three times, or nothing was taken for long."""
        transport: Any = self.transport
        if transport.is_closing() or transport.get_protocol() is not self:  # it has become a socket of a page
            return
        # Another request than last time: somebody who asks often is met between two requests each time.
        wanted = self.cycle is not self._answered or (self.cycle is not None and not self.cycle.response_complete)
        self._idle, self._answered = 0 if wanted else self._idle + 1, self.cycle
        left = transport.get_write_buffer_size()
        self._stuck, self._left = self._stuck + 1 if left and left == self._left else 0, left
        if self._idle >= 3 or self._stuck * REQUEST_S / 3 > STUCK_S:
            transport.abort()
            return
        self.loop.call_later(REQUEST_S / 3, self._look)


class StudioServer(Server):
    """uvicorn's server, which says when it listens, and when it is about to end.

    uvicorn waits for all answers before it tells the application to end, cancels those that take too long, and prints a
    traceback of each. So whoever answers hears of it first.
    """

    def __init__(self, config: Config, *, begun: Callable[[], None], ending: Callable[[], Awaitable[None]]) -> None:
        """A server that is not running yet.

        Args:
            config: What it serves, and how.
            begun: Called when it listens.
            ending: Called when it no longer does; makes answers that are waited for come soon.
        """
        super().__init__(config)
        self._begun, self._ending = begun, ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._begun()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, without keeping anybody waiting."""
        await asyncio.gather(super().shutdown(sockets), self._ending())


def check_tls(cert: Path | None, key: Path | None) -> None:
    """Raise a RequestError unless both files, or none, are given, and go together."""
    if cert is None and key is None:
        return
    if cert is None or key is None:
        raise RequestError("encryption takes a certificate and its key: give both --tls-cert and --tls-key")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password=lambda: "")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        why = getattr(error, "reason", None) or error
        raise RequestError(
            f"{cert} and {key} are no certificate and key that can be used ({why}); both are PEM files, and the key "
            "has no password"
        ) from None


def find_names(host: str) -> list[str]:
    """Names and addresses under which a server that listens to `host` can be opened, the best one first."""
    try:
        everywhere = ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        everywhere = host == ""
    if not everywhere:
        return [host]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    names = [_outward(socket.AF_INET)] if family == socket.AF_INET else [_outward(family), _outward(socket.AF_INET)]
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, None)
        names.append(name)
    except OSError:  # nobody knows this machine by its name
        pass
    names.append("::1" if family == socket.AF_INET6 else "127.0.0.1")
    return list(dict.fromkeys(one for one in names if one))


def _outward(family: int) -> str | None:
    """This machine's own address on the way to others. Nothing is sent."""
    elsewhere = "2001:db8::1" if family == socket.AF_INET6 else "192.0.2.1"  # addresses that documents use
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as line:
            line.connect((elsewhere, 9))
            return str(line.getsockname()[0])
    except OSError:
        return None
