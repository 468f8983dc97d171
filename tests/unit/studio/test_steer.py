"""Steering through the studio's socket: hello, frames, goals, mistakes, and a client that stops reading."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.unit.studio.running import LONG_S, Studio, until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from choreograph.base.errors import RequestError
from choreograph.steer_client import SteerClient, read_frame
from choreograph.studio import steering


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


def test_a_client_that_takes_nothing_is_let_go(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "_STALLED_S", 1.0)
    until(lambda: studio.session.steering.clients == 0)
    with connect(f"ws://127.0.0.1:{studio.port}/api/steer", max_size=None, max_queue=1) as socket:
        while json.loads(socket.recv(LONG_S))["type"] != "hello":
            pass
        (stream,) = studio.session.steering.streams
        for _ in range(99):
            socket.send(json.dumps({"type": "add"}))
        until(lambda: studio.session.steering.clients == 0)
        assert stream.dropped > 0 and not studio.session.steering.streams


_NODE = """
import { SteerClient } from "CLIENT";
let last = null, errors = 0;
const client = new SteerClient("ADDRESS", {
  hello: (hello) => client.goal({ x: 0, z: 0, heading_deg: 90, speed: 1.3 }),
  frame: (frame) => {
    if (last === null) client.say({ type: "dance" });
    last = frame;
    if (frame.seconds > 3) {
      console.log(JSON.stringify({ ...frame, rows: frame.rows.map((row) => [...row]), errors }));
      process.exit(0);
    }
  },
  message: (message) => (errors += message.type === "error"),
});
"""


def test_the_typescript_client_reads_what_the_python_client_reads(studio: Studio, tmp_path: Path) -> None:
    root, node = Path(__file__).parents[3], shutil.which("node")
    bundler = root / "node_modules/rolldown/bin/cli.mjs"
    if node is None or not bundler.is_file():
        pytest.skip("needs Node.js and the page's packages: make page")
    address = f"ws://127.0.0.1:{studio.port}/api/steer"
    client = root / "web/src/panels/steerClient.ts"
    script, plain = tmp_path / "steer.mjs", tmp_path / "plain.mjs"
    script.write_text(_NODE.replace("CLIENT", str(client)).replace("ADDRESS", address), encoding="utf-8")
    subprocess.run([node, str(bundler), str(script), "-o", str(plain)], check=True, capture_output=True, timeout=LONG_S)
    # Sockets are behind this option in Node.js 20.
    words = [node, "--experimental-websocket", str(plain)]
    said = subprocess.run(words, capture_output=True, text=True, timeout=LONG_S, check=False)
    assert said.returncode == 0, said.stderr
    frame = json.loads(said.stdout)
    with SteerClient(address, timeout_s=LONG_S) as ours:
        joints = len(ours.hello["joints"])
        assert frame["clips"][0] < len(ours.hello["clips"]) and frame["clipFrames"][0] >= 0
    (row,) = frame["rows"]
    assert len(row) == 3 + 4 * joints and frame["errors"] == 1 and frame["seconds"] > 3
    assert row[0] > 1.0 and abs(row[2]) < 1.0, "it walked along +x"
    assert all(abs(sum(v * v for v in row[k : k + 4]) - 1) < 1e-4 for k in range(3, len(row), 4))


def test_without_a_graph_there_is_nobody_to_steer(empty: Studio) -> None:
    with pytest.raises(RequestError, match="no graph"):
        SteerClient(f"ws://127.0.0.1:{empty.port}/api/steer", timeout_s=LONG_S)


def test_so_many_steer_at_once(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "MAX_CLIENTS", 1)
    monkeypatch.setattr(steering, "MAX_TOGETHER", 2)
    until(lambda: studio.session.steering.clients == 0)
    with SteerClient(f"ws://127.0.0.1:{studio.port}/api/steer", timeout_s=LONG_S) as client:
        with (
            connect(f"ws://127.0.0.1:{studio.port}/api/steer") as second,
            pytest.raises(ConnectionClosed, match="1013"),
        ):
            second.recv(LONG_S)
        for _ in range(2):
            client.say("add")
        frames = client.frames()

        def answers() -> list[dict[str, Any]]:
            return [one for one in client.answers if one["type"] != "learned"]  # which comes when it comes

        until(lambda: next(frames) and len(answers()) == 2)
        assert [one["type"] for one in answers()] == ["added", "error"]
        assert "2 characters of all clients" in answers()[1]["error"]
    until(lambda: studio.session.steering.clients == 0 and not studio.session.steering.streams)


def test_messages_that_are_made_to_break_programs(studio: Studio) -> None:
    with connect(f"ws://127.0.0.1:{studio.port}/api/steer", max_size=None) as socket:
        hostile: list[str | bytes] = [
            "[" * 100_000,
            '{"type": "goal", "x": 1' + "0" * 400 + "}",
            b"bytes",
            '{"type": ' + "9" * 5000 + "}",
        ]
        hostile += [
            "null",
            '{"type": {}}',
            '{"type": "goal", "points": [[0, 0], [1e308, 1]]}',
            '{"type": "plan", "character": -1}',
        ]
        for text in hostile:
            socket.send(text)
        errors = 0
        while errors < len(hostile):
            said = socket.recv(LONG_S)
            if isinstance(said, str) and json.loads(said)["type"] == "error":
                assert len(said) < 1000
                errors += 1
        assert isinstance(socket.recv(LONG_S), bytes | str), "it goes on"


def test_what_is_learned_meanwhile_takes_over_and_then_it_can_be_recorded(studio: Studio) -> None:
    with SteerClient(f"ws://127.0.0.1:{studio.port}/api/steer", timeout_s=LONG_S) as client:
        frames = client.frames()
        next(frame for frame in frames if any(one["type"] == "learned" for one in client.answers))
        (learned,) = (one for one in client.answers if one["type"] == "learned")
        assert learned["tasks"] == ["navigate", "spin", "avoid"]
        assert not any(report.get("first") for report in learned["reports"].values())
        assert learned["reports"]["navigate"]["policy_cost"] > 0
        client.say("record", on=True)
        now = next(frame for frame in frames if client.answers[-1]["type"] == "recording")
        assert now.seconds < 1, "a recording begins anew"
