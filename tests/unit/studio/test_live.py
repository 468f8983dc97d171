"""The socket, jobs that go on without their page, and workers that die."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.unit.studio.running import Studio, hear, opened, say, until
from websockets.sync.client import connect

from choreograph.motion.packed import row_bytes
from choreograph.studio import live
from choreograph.studio import messages as m
from choreograph.studio.pages import QUEUE_BYTES, QUEUE_FRAMES, OpenPage
from choreograph.studio.protocol import PROTOCOL

PATH = [[0.0, 0.0], [0.0, 6.0]]
LONG_PATH = [[float(6 * np.sin(k / 20)), float(k / 2)] for k in range(400)]


def test_a_page_is_welcomed_and_asks_for_motion(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "hello", protocol=PROTOCOL)
        assert hear(page, "welcome")["protocol"] == PROTOCOL
        say(page, "ask", verb="follow", number=1, ask={"points": PATH})
        answer = hear(page, "answer", "refused")
        assert answer["type"] == "answer" and answer["number"] == 1 and answer["final"]
        assert answer["results"][0]["metrics"]["path_mean"]["value"] < 0.15
        assert answer["results"][0]["id"] in [one["id"] for one in hear(page, "results")["results"]]


def test_motion_is_shown_while_it_is_searched_for(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "ask", verb="follow", number=3, ask={"points": LONG_PATH})
        rows: dict[int, np.ndarray[Any, Any]] = {}
        parts, message = 0, hear(page, "partial", "answer")
        while message["type"] == "partial":
            parts += 1
            width = 3 + 4 * len(message["motion"]["joints"])
            sent = np.frombuffer(message["frames"], "<f4").reshape(-1, width)
            assert len(sent) == message["count"] == message["motion"]["frames"] - message["start"]
            assert message["start"] <= len(rows), "no gap between what was sent before and now"
            rows.update(dict(enumerate(sent, message["start"])))
            message = hear(page, "partial", "answer")
        assert parts >= 1 and message["results"][0]["status"] == "complete"
        final = studio.http.get(f"/api/motions/result/{message['results'][0]['id']}/frames").content
        whole = np.frombuffer(final, "<f4").reshape(message["results"][0]["motions"][0]["frames"], -1)
        # What was shown early is what is there in the end; only where it was still open may it differ.
        early = np.array([rows[k] for k in range(len(rows) // 2)])
        np.testing.assert_allclose(early, whole[: len(early)], atol=1e-5)


def test_several_candidates_come_one_by_one(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "ask", verb="follow", number=4, ask={"points": PATH, "count": 3})
        answers = [hear(page, "answer")]
        while not answers[-1]["final"]:
            answers.append(hear(page, "answer"))
        counts = [len(answer["results"]) for answer in answers]
        assert (
            counts == sorted(counts)
            and counts[-1] == 3
            and [one["answer"] for one in answers[-1]["results"]] == [1, 2, 3]
        )
        ways = [[run["clip"] for run in one["motions"][0]["sources"]] for one in answers[-1]["results"]]
        assert ways[0] != ways[1] or ways[1] != ways[2]


def test_one_can_walk_on_from_a_result(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "ask", verb="follow", number=1, ask={"points": PATH})
        first = hear(page, "answer")["results"][0]
        ask = {"points": [[0.5, 8.0], [3.0, 10.0]], "after": {"request": first["request"]}}
        say(page, "ask", verb="follow", number=2, ask=ask)
        second = hear(page, "answer")["results"][0]
    both = [
        np.frombuffer(studio.http.get(f"/api/motions/result/{one['id']}/frames").content, "<f4").reshape(
            one["motions"][0]["frames"], -1
        )
        for one in (first, second)
    ]
    common = len(both[0]) - 40
    # Both are finished as wholes, so what comes later moves what was before by millimetres.
    np.testing.assert_allclose(both[1][:common], both[0][:common], atol=0.01)
    assert np.linalg.norm(both[1][-1, [0, 2]] - [3.0, 10.0]) < 0.5
    assert np.abs(np.diff(both[1][:, [0, 2]], axis=0)).max() < 0.15, "nobody leaps where the walks join"
    # A worker that has forgotten the walk finds it again.
    for worker in studio.session.asking.lanes["follow"].workers:
        os.kill(worker.pid, signal.SIGKILL)
    with studio.page() as page:
        until(lambda: not any(worker.alive for worker in studio.session.asking.lanes["follow"].workers))
        say(page, "ask", verb="follow", number=3, ask=ask)
        third = hear(page, "answer", "refused")
        if third["type"] == "refused":  # the first task after the death may notice it only now
            say(page, "ask", verb="follow", number=4, ask=ask)
            third = hear(page, "answer")
    again = studio.http.get(f"/api/motions/result/{third['results'][0]['id']}/frames").content
    assert np.array_equal(np.frombuffer(again, "<f4").reshape(len(both[1]), -1), both[1])


def test_a_newer_request_replaces_an_older_one(studio: Studio) -> None:
    with studio.page() as page:
        for number in range(8):
            say(page, "ask", verb="follow", number=number, ask={"points": LONG_PATH if number < 7 else PATH})
        answers = [hear(page, "answer")["number"]]
        while answers[-1] != 7:
            answers.append(hear(page, "answer")["number"])
        assert answers == [7], "only the last is answered"


def test_what_cannot_be_followed_is_refused(studio: Studio) -> None:
    with studio.page() as page:
        for ask, why in (
            ({"points": []}, "draw a path"),
            ({"points": [[0, 0], [0, 2e4]]}, "10000 m"),
            ({"points": PATH, "finish": {"blend": "sudden"}}, "finish.blend is 'sudden'"),
            ({"points": PATH, "start": {"clip": "nobody"}}, "no clip of the graph is called 'nobody'"),
            ({"points": PATH, "after": {"request": {"points": PATH}, "answer": 2}}, "walk before has no answer 2"),
        ):
            say(page, "ask", verb="follow", number=5, ask=ask)
            refused = hear(page, "refused", "answer")
            assert refused["type"] == "refused" and why in refused["failure"]["error"], refused


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"type":"ask"}', '{"type":"fly"}', '{"type":"hello","protocol":1}', "x" * 100_000, b"\0\1",
     '{"type":"play","motion":"clip:../../x"}', '{"type":"play","motion":"clip:a","rate_hz":1e308}', "\ud7ff" * 9,
     '{"type":"cancel","job":"../"}', '{"type":"ask","verb":"follow","number":1e400,"ask":{}}'],
)  # fmt: skip
def test_a_malformed_message_is_answered_and_the_socket_stays(studio: Studio, text: str | bytes) -> None:
    with studio.page() as page:
        page.send(text)
        assert hear(page, "trouble")["failure"]["error"]
        say(page, "hello", protocol="old")
        assert hear(page, "welcome")["page"]


def test_frames_are_played_in_time(studio: Studio) -> None:
    clip = studio.get("project")["clips"][0]
    data = studio.http.get(f"/api/motions/{clip['id'].replace(':', '/')}/frames").content
    size = len(data) // clip["frames"]
    with studio.page() as page:
        say(page, "play", motion=clip["id"], rate_hz=120, start=clip["frames"] - 20)
        got = [hear(page, "frame", "over")]
        while got[-1]["type"] == "frame":
            got.append(hear(page, "frame", "over"))
        shown = [int(one["frame"]) for one in got[:-1]]
        assert set(shown) == set(range(clip["frames"] - 20, clip["frames"])) and shown == sorted(shown)
        assert all(one["frames"] == data[int(one["frame"]) * size :][:size] for one in got[:-1])
        assert got[-2]["due"] == pytest.approx((len(got) - 2) / 120, abs=1e-5)
        say(page, "play", motion=clip["id"], loop=True)
        hear(page, "frame")
        say(page, "stop")
        say(page, "hello", protocol=PROTOCOL)
        hear(page, "welcome")
        with pytest.raises(TimeoutError):
            page.recv(timeout=0.3)


def test_changes_are_told_to_all_pages(tmp_path: Path) -> None:
    with opened(tmp_path) as studio, studio.page() as one, studio.page() as other:
        for page in (one, other):
            say(page, "hello", protocol=PROTOCOL)
            hear(page, "welcome")
        studio.change("Rename", name="Dance")
        for page in (one, other):
            state = hear(page, "document")["state"]
            assert state["document"]["name"] == "Dance" and state["undo"] == "Rename"


def test_a_job_goes_on_when_its_page_has_gone(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "ask", verb="follow", number=1, ask={"points": LONG_PATH, "seed": 11})
        hear(page, "job", "partial")
        page.socket.shutdown(socket.SHUT_RDWR)  # no farewell: the line is cut
    until(lambda: any(job["kind"] == "follow" for job in studio.get("jobs")))
    until(lambda: any(one["request"].get("seed") == 11 for one in studio.get("results")))


def test_a_follow_can_be_cancelled(studio: Studio) -> None:
    before = {one["id"] for one in studio.get("results")}
    with studio.page() as page:
        say(page, "ask", verb="follow", number=1, ask={"points": LONG_PATH, "count": 12, "seed": 12})
        job = hear(page, "job")["job"]
        say(page, "cancel", job=job["id"])
        while job["state"] in ("waiting", "running"):
            job = hear(page, "job")["job"]
    assert job["state"] == "cancelled"
    assert sum(one["id"] not in before for one in studio.get("results")) < 12


def test_two_jobs_run_at_once_and_a_build_is_cancelled(studio: Studio) -> None:
    build = studio.send("POST", "jobs", {"kind": "build", "ask": {"threshold_m": 0.3, "rate_hz": 240, "mirror": True}})
    clip = studio.get("project")["document"]["clips"][0]["id"]
    ask = {"kind": "export", "ask": {"motion": f"clip:{clip}", "suffix": ".mp4"}}
    film = studio.send("POST", "jobs", ask)
    until(lambda: [studio.get(f"jobs/{job['id']}")["state"] for job in (build, film)].count("running") == 2)
    studio.send("DELETE", f"jobs/{build['id']}")
    assert studio.wait(build)["state"] == "cancelled"
    assert studio.wait(film)["state"] == "done"
    assert studio.get("graph")["current"], "the graph is still the old one"
    assert studio.send("DELETE", f"jobs/{build['id']}")["state"] == "cancelled"


def test_a_worker_that_dies_fails_its_job_and_is_started_anew(studio: Studio) -> None:
    ask = {"kind": "build", "ask": {"threshold_m": 0.3, "rate_hz": 240, "mirror": True}}
    job = studio.send("POST", "jobs", ask)
    until(lambda: studio.get(f"jobs/{job['id']}")["state"] == "running")
    for worker in studio.session.builds.workers:
        os.kill(worker.pid, signal.SIGKILL)
    job = studio.wait(job)
    assert job["state"] == "failed" and "try again" in job["error"]
    assert studio.wait(studio.send("POST", "jobs", {"kind": "joins"}))["state"] == "done"


def test_a_worker_that_does_not_obey_is_ended(studio: Studio) -> None:
    ask = {"kind": "build", "ask": {"threshold_m": 0.3, "rate_hz": 240, "mirror": True}}
    job = studio.send("POST", "jobs", ask)
    until(lambda: studio.get(f"jobs/{job['id']}")["state"] == "running")
    (worker,) = (worker for worker in studio.session.builds.workers if worker.alive)
    os.kill(worker.pid, signal.SIGSTOP)  # it hears nothing any more
    began = time.monotonic()
    studio.send("DELETE", f"jobs/{job['id']}")
    assert studio.wait(job)["state"] == "cancelled" and time.monotonic() - began > 1.5
    assert not worker.alive
    assert studio.wait(studio.send("POST", "jobs", {"kind": "joins"}))["state"] == "done"


def test_frames_are_dropped_for_a_slow_page_and_never_queued() -> None:
    async def play() -> None:
        page = OpenPage()
        for k in range(1000):
            page.say_frame(f"frame {k}", bytes(400))
        page.say_text("over")
        assert page.dropped == 1000 - QUEUE_FRAMES and not page.lost
        said = [(await page.next())[0] for _ in range(QUEUE_FRAMES + 1)]
        assert said == [*(f"frame {k}" for k in range(1000 - QUEUE_FRAMES, 1000)), "over"]
        page.say_frame("again", b"")
        assert await page.next() == ("again", b"")

    asyncio.run(play())


def test_a_machine_that_is_far_behind_goes_on_with_what_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_LATE_S", 0.2)
    path = tmp_path / "frames.f32"
    path.write_bytes(bytes(10 * row_bytes(2)))
    motion: Any = SimpleNamespace(id="clip:a", joints=["a", "b"], fps=100.0, frames=10)

    async def play() -> list[float]:
        page, due = OpenPage(), []
        playing = asyncio.create_task(live._play(page, m.Play(motion="clip:a", rate_hz=100, loop=True), motion, path))
        for k in range(6):
            due.append(json.loads((await page.next())[0])["due"])
            if k == 2:
                time.sleep(0.6)  # nobody gets a turn
        playing.cancel()
        assert page.dropped >= 40
        return due

    due = asyncio.run(play())
    assert max(b - a for a, b in itertools.pairwise(due)) > 0.4, "all that was late was sent"


def test_a_page_that_reads_nothing_is_let_go() -> None:
    async def fill() -> None:
        page = OpenPage()
        for _ in range(QUEUE_BYTES >> 20):
            page.say_text("", bytes(1 << 20))
        assert not page.lost
        page.say_text("", b"x")
        assert page.lost
        texts = OpenPage()
        for _ in range((QUEUE_BYTES >> 22) + 1):  # documents may have megabytes
            texts.say_text("x" * (1 << 22))
        assert texts.lost
        told = OpenPage()
        for _ in range(1000):
            told.say_text("x" * (1 << 20))
            assert len((await told.next())[0]) == 1 << 20 and not told.lost

    asyncio.run(fill())


def test_a_flood_of_messages_leaves_time_for_others(studio: Studio) -> None:
    with studio.page() as page:
        began = time.monotonic()
        for _ in range(400):
            say(page, "hello", protocol="x")
        for _ in range(400):
            hear(page, "welcome")
        assert time.monotonic() - began > 0.9, "as many messages as anybody likes are done at once"


def test_a_page_that_reads_slowly_sees_what_is_now(studio: Studio) -> None:
    motion = studio.get("project")["clips"][0]["id"]
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    line.connect(("127.0.0.1", studio.port))
    with connect(f"ws://127.0.0.1:{studio.port}/api/live", sock=line, max_size=None, max_queue=1) as page:
        say(page, "play", motion=motion, rate_hz=240.0, loop=True)
        hear(page, "frame")
        time.sleep(6.0)
        behind = [hear(page, "frame")["due"] for _ in range(700)]
    steps = [round(240 * (b - a)) for a, b in itertools.pairwise(behind)]
    assert min(steps) == 1 and max(steps) > 100, "all that waited was sent"
