"""Frames stay in time while a graph is built."""

from __future__ import annotations

import json
import threading
import time

from tests.unit.studio.running import Studio

CLIENTS, RATE_HZ, SECONDS = 20, 60.0, 3.0
LATE_S = 2.0
"""Generous: what is tested is that nobody waits for the build. How late frames really are is in the benchmarks."""


def test_twenty_clients_play_while_one_builds(studio: Studio) -> None:
    motion = studio.get("project")["clips"][0]["id"]
    frames = round(SECONDS * RATE_HZ)
    came: list[list[float]] = [[] for _ in range(CLIENTS)]
    missing: list[int] = []

    def play(own: list[float]) -> None:
        with studio.page() as page:
            page.send(json.dumps({"type": "play", "motion": motion, "rate_hz": RATE_HZ, "loop": True}))
            while len(own) < frames:
                text = page.recv(timeout=60)
                if isinstance(text, bytes) or '"frame"' not in text[:20]:
                    continue
                assert isinstance(page.recv(timeout=60), bytes)
                due = json.loads(text)["due"]
                if round(due * RATE_HZ) != len(own):
                    missing.append(len(own))
                own.append(time.monotonic() - due)

    before = studio.get("graph")["built_from"]
    job = studio.send("POST", "jobs", {"kind": "build", "ask": {"threshold_m": 0.06}})
    threads = [threading.Thread(target=play, args=(own,)) for own in came]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    late = sorted(at - min(own) for own in came for at in own)
    assert len(late) == CLIENTS * frames and not missing
    assert late[int(0.99 * len(late))] < LATE_S
    assert studio.wait(job)["state"] == "done" and studio.get("graph")["built_from"] != before
    assert studio.wait(studio.send("POST", "jobs", {"kind": "build"}))["state"] == "done"
    assert studio.get("graph")["built_from"] == before, "as it was, for the other tests"
