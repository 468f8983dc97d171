"""A small client of the steering stream: says goals, reads frames. See docs/steer.md for what goes over the wire.

    with SteerClient("ws://127.0.0.1:8765/api/steer") as client:
        client.goal(heading_deg=90, speed=1.3)
        for frame in client.frames():
            print(frame.seconds, frame.root_pos[0])

It needs the extra `studio`, for its socket.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Floats32
from choreograph.base.errors import FormatError, MissingExtra, RequestError

HEADER = struct.Struct("<4sIdIIII")


class SteerFrame(NamedTuple):
    """What N characters do at one moment."""

    number: int
    seconds: float
    dropped: int
    """Frames that this client was too slow for, so far."""
    root_pos: Floats32
    """(N, 3), metres."""
    local_rot: Floats32
    """(N, J, 4), wxyz."""
    clip: NDArray[np.uint32]
    """The recording that each shows mostly, by its number in the hello, (N,)."""
    clip_frame: Floats32
    """The frame of it, (N,)."""
    feet: Flags
    """Which foot joints stand, (N, feet)."""


def read_frame(data: bytes) -> SteerFrame:
    """The frame that some bytes are.

    Raises:
        FormatError: If they are none.
    """
    if len(data) < HEADER.size:
        raise FormatError(f"a frame has {HEADER.size} bytes or more, not {len(data)}")
    magic, number, seconds, count, joints, dropped, feet = HEADER.unpack_from(data)
    width = 3 + 4 * joints + 3
    if magic != b"CGS1" or len(data) != HEADER.size + 4 * width * count:
        raise FormatError("these bytes are no frame of protocol 1")
    rows = np.frombuffer(data, "<f4", offset=HEADER.size).reshape(count, width)
    whole = rows.view("<u4")
    bits = (whole[:, -1:] >> np.arange(feet, dtype=np.uint32)) & 1
    rot = rows[:, 3:-3].reshape(count, joints, 4)[..., [3, 0, 1, 2]]
    return SteerFrame(number, seconds, dropped, rows[:, :3], rot, whole[:, -3], rows[:, -2], bits.astype(bool))


class SteerClient:
    """A connection to a server that steers."""

    def __init__(self, address: str, *, timeout_s: float = 120.0) -> None:
        """Connect and wait for the hello, the first time until enough is learned to begin.

        Args:
            address: Such as "ws://127.0.0.1:8765/api/steer".
            timeout_s: How long to wait for a message.

        Raises:
            RequestError: If the server says that nothing can be steered.
            MissingExtra: If there is no socket to connect with.
        """
        try:
            from websockets.sync.client import connect
        except ImportError:
            raise MissingExtra("the steering client", "studio") from None
        self._timeout_s = timeout_s
        self._over = ExitStack()
        self._socket = self._over.enter_context(connect(address, max_size=None, open_timeout=timeout_s))
        self.hello: dict[str, Any] = {}
        """Joints, parents, offsets, feet, clips, gaits, rate …"""
        self.answers: list[dict[str, Any]] = []
        """What the server said besides frames, oldest first; the last hundred."""
        while not self.hello:
            text = self._socket.recv(timeout_s)
            message = json.loads(text) if isinstance(text, str) else {}
            if message.get("type") == "error":
                self.close()
                raise RequestError(message["error"])
            if message.get("type") == "hello":
                self.hello = message

    def say(self, kind: str, **fields: Any) -> None:
        """Send a message."""
        self._socket.send(json.dumps({"type": kind, **fields}))

    def goal(self, character: int = 0, **fields: Any) -> None:
        """Ask for x, z, heading_deg, speed, gait, torso_deg, spin_deg_s or points, from now on."""
        self.say("goal", character=character, **fields)

    def frames(self) -> Iterator[SteerFrame]:
        """Frames as they come, until the connection ends."""
        from websockets.exceptions import ConnectionClosed

        while True:
            try:
                text = self._socket.recv(self._timeout_s)
            except ConnectionClosed:
                return
            if isinstance(text, bytes):
                yield read_frame(text)
            else:
                self.answers = [*self.answers[-99:], json.loads(text)]

    def close(self) -> None:
        """Go."""
        self._over.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
