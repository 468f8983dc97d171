"""Steering through the studio's socket: hello, frames, goals, mistakes, and a client that stops reading."""

from __future__ import annotations

import json
import time

import pytest
from tests.unit.studio.running import LONG_S, Studio
from websockets.sync.client import connect

from choreograph.errors import RequestError
from choreograph.steer_client import SteerClient, read_frame


def test_a_client_steers_and_mistakes_leave_it_connected(studio: Studio) -> None:
    with SteerClient(f"ws://127.0.0.1:{studio.port}/api/steer", timeout_s=LONG_S) as client:
        assert client.hello["protocol"] == 1 and client.hello["rate_hz"] == 60
        client.goal(heading_deg=0, x=0, z=0)
        client.say("goal", heading_deg="north")
        client.say("dance")
        frames = client.frames()
        first = next(frames)
        later = next(frame for frame in frames if frame.seconds > first.seconds + 2)
        assert later.root_pos[0, 2] > first.root_pos[0, 2] + 0.5
        errors = [one["error"] for one in client.answers if one["type"] == "error"]
        assert len(errors) == 2 and "heading_deg" in errors[0]


def test_frames_are_dropped_for_a_client_that_does_not_read(studio: Studio) -> None:
    with connect(f"ws://127.0.0.1:{studio.port}/api/steer", max_size=None, max_queue=1) as socket:
        while json.loads(socket.recv(LONG_S))["type"] != "hello":
            pass
        for _ in range(99):  # large frames fill what the system buffers
            socket.send(json.dumps({"type": "add"}))
        time.sleep(6)
        dropped, began = 0, time.monotonic()
        while dropped == 0 and time.monotonic() - began < 20:
            said = socket.recv(LONG_S)
            if isinstance(said, bytes):
                dropped = read_frame(said).dropped
        assert dropped > 0


def test_without_a_graph_there_is_nobody_to_steer(empty: Studio) -> None:
    with pytest.raises(RequestError, match="no graph"):
        SteerClient(f"ws://127.0.0.1:{empty.port}/api/steer", timeout_s=LONG_S)
