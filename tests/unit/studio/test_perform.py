"""Performing in the studio: a way in pieces over the socket, the whole of it, bad ways, and a leader and a follower."""

from __future__ import annotations

import math
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.studio.running import Studio, hear, opened, say

from choreograph.demo import demo_clip
from choreograph.formats import read_clip, write_clip

Samples = list[list[float]]


def way(seconds: float, speed: float = 1.3, rate: float = 30.0, bend: float = 0.25) -> Samples:
    """A bent way at an even speed."""
    times = np.arange(round(seconds * rate) + 1) / rate
    radius = 1 / bend
    angle = speed * times / radius
    return np.stack([times, radius * (1 - np.cos(angle)), radius * np.sin(angle)], axis=1).round(4).tolist()


def rows(studio: Studio, result: dict[str, Any], person: int = 0) -> np.ndarray[Any, Any]:
    where = f"/api/motions/result/{result['id']}" + (f"/{person}" if person else "")
    data = studio.http.get(f"{where}/frames").content
    return np.frombuffer(data, "<f4").reshape(result["motions"][person]["frames"], -1)


def ask(studio: Studio, **asked: Any) -> dict[str, Any]:
    """The answer to a request, or the refusal."""
    with studio.page() as page:
        say(page, "ask", verb="perform", number=1, ask=asked)
        return hear(page, "answer", "refused")


def test_a_performed_way_is_answered_and_explained(studio: Studio, tmp_path: Path) -> None:
    samples = way(8.0)
    answer = ask(studio, samples=samples)
    assert answer["type"] == "answer", answer
    (result,) = answer["results"]
    metrics = {name: one["value"] for name, one in result["metrics"].items()}
    assert metrics["seconds"] == pytest.approx(8.0, abs=0.1)
    assert metrics["way_mean"] < 0.15 and metrics["way_worst"] < 0.4 and result["proved"]
    root = rows(studio, result)[:, [0, 2]]
    goal = np.array(samples)
    times = np.arange(len(root)) / result["motions"][0]["fps"]
    there = np.stack([np.interp(times, goal[:, 0], goal[:, k]) for k in (1, 2)], axis=1)
    assert np.linalg.norm(root - there, axis=1).mean() == pytest.approx(metrics["way_mean"], abs=0.02)
    assert np.linalg.norm(np.diff(root, axis=0), axis=1).max() * result["motions"][0]["fps"] < 3, "nobody leaps"
    # The sequence covers the whole, in order, and the strip on the timeline says the same.
    pieces = result["details"]["pieces"]
    assert pieces[0]["start_s"] == 0 and pieces[-1]["stop_s"] == pytest.approx(8.0, abs=0.05)
    assert all(a["stop_s"] == b["start_s"] for a, b in pairwise(pieces))
    runs = result["motions"][0]["sources"]
    assert [run["clip"] for run in runs] == [piece["recording"] for piece in pieces]
    assert runs[0]["start"] == 0 and runs[-1]["stop"] == result["motions"][0]["frames"]
    assert all(0 <= piece["sure"] <= 1 for piece in pieces)
    # What is said to do the same does.
    words = shlex.split(result["command"])
    assert words[0] == "choreograph"
    command = [sys.executable, "-m", "choreograph.cli.main", *words[1:], "--best-effort"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    program = tmp_path / "same.py"
    program.write_text(result["python"])
    subprocess.run([sys.executable, str(program)], cwd=tmp_path, check=True, capture_output=True)
    for name in ("perform.bvh", "perform_performed.bvh"):
        clip = read_clip(tmp_path / name)
        np.testing.assert_allclose(clip.root_pos[:, ::2], root, atol=2e-3)


def test_frames_come_while_it_is_performed(studio: Studio) -> None:
    samples = way(6.0)
    asked = {"smooth_s": 0.1}
    with studio.page() as page:
        for k in range(0, len(samples), 15):
            first = {"begin": asked, "lag_s": 1.5} if k == 0 else {}
            say(page, "moved", number=7, samples=samples[k : k + 15], **first)
        shown: list[np.ndarray[Any, Any]] = []
        count = 0
        while count < 3.5 * 30:
            message = hear(page, "partial", "refused", "trouble")
            assert message["type"] == "partial" and message["number"] == 7 and message["verb"] == "perform", message
            motion = message["motion"]
            assert message["start"] == count, "each frame comes once"
            shown.append(np.frombuffer(message["frames"], "<f4").reshape(message["count"], -1))
            count += message["count"]
            assert motion["frames"] == count == motion["sources"][-1]["stop"]
        live = np.concatenate(shown)
        # What is asked for as a whole replaces it.
        say(page, "ask", verb="perform", number=8, ask={**asked, "samples": samples})
        answer = hear(page, "answer", "refused")
    assert answer["type"] == "answer" and answer["number"] == 8
    whole = rows(studio, answer["results"][0])
    assert live.shape[1] == whole.shape[1]
    apart = np.linalg.norm(live[:, [0, 2]] - whole[: len(live), [0, 2]], axis=1)
    assert apart.mean() < 0.15, "what is seen early is about what comes of it"
    assert np.linalg.norm(np.diff(live[:, :3], axis=0), axis=1).max() * 30 < 3


def test_a_beginning_that_is_gone_is_said(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "moved", number=3, samples=way(1.0))  # nothing was begun: nothing to say either
        say(page, "moved", number=4, begin={}, lag_s=0.5, samples=way(1.0))
        refused = hear(page, "refused", "partial")
        assert refused["number"] == 4 and "lag" in refused["failure"]["error"]
        for text in ('"number":5', '"number":5,"samples":[[0,NaN,1]]', '"number":5,"samples":[[0,1]]'):
            page.send(f'{{"type":"moved",{text}}}')
            assert "samples" in hear(page, "trouble")["failure"]["error"]
        say(page, "hello", protocol="x")
        hear(page, "welcome")


def gap(samples: Samples, start: float, stop: float) -> Samples:
    return [row for row in samples if not start < row[0] < stop]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({}, "nothing leads yet"),
        ({"samples": way(3.0, speed=9.0)}, "but the examples at"),
        ({"samples": gap(way(4.0), 1.0, 2.5)}, "nothing is known for 1.5"),
        ({"samples": [[0, 0, 0], [1, 0, 1], [0.5, 0, 2]]}, "back to 0.5 s"),
        ({"samples": [[0, 0, 0], [1, math.nan, 1]]}, "samples[1][1]"),
        ({"samples": way(3.0), "only": "not name:*"}, "no clip has all of it"),
        ({"samples": way(3.0), "only": "name:nobody"}, "nothing has 'name:nobody'"),
        ({"samples": way(3.0), "advanced": {"stretch_s": -1}}, "advanced.stretch_s"),
        ({"leader": "nobody"}, "neither a clip of the examples nor a motion file"),
        ({"leader": "/etc/passwd.bvh"}, "files of its own folder"),
        ({"lead": "body"}, "'lead', which is not known"),
    ],
)
def test_what_cannot_be_performed_is_refused(studio: Studio, asked: dict[str, Any], why: str) -> None:
    refused = ask(studio, **asked)
    assert refused["type"] == "refused" and why in refused["failure"]["error"], refused


def test_short_gaps_and_haste_are_told_beside_the_answer(studio: Studio) -> None:
    top = studio.send("POST", "perform/examples", {})["fastest_m_s"]
    result = ask(studio, samples=gap(way(5.0, speed=1.2 * top), 2.0, 2.3))["results"][0]
    assert [problem["kind"] for problem in result["problems"][:2]] == ["input_repaired", "too_fast"]
    haste = result["problems"][1]
    assert haste["place"] is not None and haste["where"] == "samples" and haste["asked"] > haste["got"] > 0


@pytest.mark.slow
def test_one_segment_is_little_and_that_is_said(tmp_path: Path) -> None:
    clip = demo_clip("walk", 30.0)
    write_clip(tmp_path / "walk.npz", clip[:30])  # one step and a bit
    with opened(tmp_path) as studio:
        studio.settle()
        (result,) = ask(studio, samples=way(4.0))["results"]
        assert any(problem["kind"] == "examples_weak" for problem in result["problems"])
        assert len({piece["recording_start_s"] for piece in result["details"]["pieces"]}) == 1


def test_examples_are_told_with_their_speed(studio: Studio) -> None:
    found = studio.send("POST", "perform/examples", {})
    assert [one["name"] for one in found["examples"]] == [one["name"] for one in studio.get("project")["clips"]]
    assert found["segments"] == sum(one["segments"] for one in found["examples"]) > 20
    assert 0.5 < found["examples"][0]["usual_m_s"] <= found["examples"][0]["top_m_s"] <= found["fastest_m_s"] + 1e-9
    one = studio.send("POST", "perform/examples", {"request": {"only": f"name:{found['examples'][0]['name']}"}})
    assert len(one["examples"]) == 1 and one["segments"] == found["examples"][0]["segments"]
    answer = studio.http.post("/api/perform/examples", json={"request": {"only": "name:nobody"}})
    assert answer.status_code == 422 and "nothing has" in answer.json()["error"]


def test_a_performance_is_a_change_like_any_other(studio: Studio) -> None:
    before = studio.get("project")["document"]["requests"]
    studio.change("Perform", requests={**before, "perform": {"samples": way(2.0)}})
    assert len(studio.get("project")["document"]["requests"]["perform"]["samples"]) == 61
    assert studio.send("POST", "undo")["document"]["requests"] == before


# ---------------------------------------------------------------- pairs


@pytest.fixture(scope="module")
def dance(recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio with three trials of salsa, leader and follower, at 30 fps."""
    folder = tmp_path_factory.mktemp("dance")
    for subject in ("60", "61"):
        for trial in ("01", "02", "03"):
            name = f"{subject}_{trial}"
            clip = read_clip(recordings / "cmu" / subject / f"{name}.amc")
            write_clip(folder / f"{name}.npz", clip.resampled(30.0))
    with opened(folder) as running:
        running.settle()
        yield running


def test_a_leader_is_followed(dance: Studio) -> None:
    found = dance.send("POST", "perform/examples", {"request": {"leader": "60_02"}})
    assert [(one["leader"], one["name"]) for one in found["examples"]] == [
        (f"60_{trial}", f"61_{trial}") for trial in ("01", "02", "03")
    ]
    answer = ask(dance, leader="60_02")
    assert answer["type"] == "answer", answer
    (result,) = answer["results"]
    follower, leader = result["motions"]
    assert leader["leads"] and not follower["leads"] and follower["skeleton"] != leader["skeleton"]
    assert abs(follower["frames"] / follower["fps"] - leader["frames"] / leader["fps"]) < 0.1
    # The trial itself is held back: nothing of it is in the answer, so the error is an honest one.
    assert "61_02" not in {piece["recording"] for piece in result["details"]["pieces"]}
    metrics = {name: one["value"] for name, one in result["metrics"].items()}
    partner = [value for name, value in metrics.items() if name.startswith("partner")]
    assert len(partner) == 2 and all(0.05 < value < 0.6 for value in partner), metrics
    assert " 60_02 " in result["command"] and "'leader': '60_02'" in result["python"]
    holds = result["details"]["holds"]
    assert holds and all(hold["start"] < hold["stop"] <= follower["frames"] for hold in holds)
    people = [rows(dance, result, person) for person in range(2)]
    apart = np.linalg.norm(people[0][:, [0, 2]] - people[1][: len(people[0]), [0, 2]], axis=1)
    assert np.median(apart) < 1.5, "they dance together"


def test_nobody_leads(dance: Studio) -> None:
    assert "nothing leads yet" in ask(dance)["failure"]["error"]
