"""Performing in the studio: a way in pieces over the socket, the whole of it, bad ways, and a leader and a follower."""

from __future__ import annotations

import csv
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
from choreograph.studio.document import ClipEntry, PerformAsk
from choreograph.studio.tasks.examples import Library, choose, find_pairs

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
    figures = result["figures"]
    assert figures["seconds"] == pytest.approx(8.0, abs=0.1)
    assert figures["mean_cm"] < 15 and figures["worst_cm"] < 40 and figures["proved"]
    root = rows(studio, result)[:, [0, 2]]
    goal = np.array(samples)
    times = np.arange(len(root)) / result["motions"][0]["fps"]
    there = np.stack([np.interp(times, goal[:, 0], goal[:, k]) for k in (1, 2)], axis=1)
    assert np.linalg.norm(root - there, axis=1).mean() == pytest.approx(figures["mean_cm"] / 100, abs=0.02)
    assert np.linalg.norm(np.diff(root, axis=0), axis=1).max() * result["motions"][0]["fps"] < 3, "nobody leaps"
    # The sequence covers the whole, in order, and the strip on the timeline says the same.
    pieces = result["pieces"]
    assert pieces[0]["start_s"] == 0 and pieces[-1]["stop_s"] == pytest.approx(8.0, abs=0.05)
    assert all(a["stop_s"] == b["start_s"] for a, b in pairwise(pieces))
    runs = result["motions"][0]["sources"]
    assert [run["clip"] for run in runs] == [piece["recording"] for piece in pieces]
    assert runs[0]["start"] == 0 and runs[-1]["stop"] == result["motions"][0]["frames"]
    assert all(0 <= piece["sure"] <= 1 for piece in pieces)
    # What is said to do the same does.
    words = shlex.split(result["command"])
    assert words[0] == "choreograph"
    command = [str(Path(sys.executable).with_name("choreograph")), *words[1:]]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    program = tmp_path / "same.py"
    program.write_text(result["python"].replace("performed.bvh", "program.bvh"))
    subprocess.run([sys.executable, str(program)], cwd=tmp_path, check=True, capture_output=True)
    for name in ("performed.bvh", "program.bvh"):
        clip = read_clip(tmp_path / name)
        np.testing.assert_allclose(clip.root_pos[:, ::2], root, atol=2e-3)
    with (tmp_path / "pieces.csv").open(newline="") as file:
        assert [row["recording"] for row in csv.DictReader(file)] == [piece["recording"] for piece in pieces]


def test_frames_come_while_it_is_performed(studio: Studio) -> None:
    samples = way(6.0)
    asked = {"lag_s": 1.5, "smooth_s": 0.1}
    with studio.page() as page:
        for k in range(0, len(samples), 15):
            first = {"begin": asked} if k == 0 else {}
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
        say(page, "moved", number=4, begin={"lag_s": 0.5}, samples=way(1.0))
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
        ({}, "press on the floor"),
        ({"samples": way(3.0, speed=9.0)}, "but the examples at"),
        ({"samples": gap(way(4.0), 1.0, 2.5)}, "nothing is known for 1.5"),
        ({"samples": [[0, 0, 0], [1, 0, 1], [0.5, 0, 2]]}, "back to 0.5 s"),
        ({"samples": [[0, 0, 0], [1, math.nan, 1]]}, "samples[1][1]"),
        ({"samples": way(3.0), "examples": []}, "no example is chosen"),
        ({"samples": way(3.0), "examples": ["nobody"]}, "not in the library"),
        ({"samples": way(3.0), "stretch_s": -1}, "stretch_s"),
        ({"lead": "body"}, "no two clips are recordings of a pair"),
    ],
)
def test_what_cannot_be_performed_is_refused(studio: Studio, asked: dict[str, Any], why: str) -> None:
    refused = ask(studio, **asked)
    assert refused["type"] == "refused" and why in refused["failure"]["error"], refused


def test_short_gaps_and_haste_are_told_beside_the_answer(studio: Studio) -> None:
    top = studio.send("POST", "perform/examples", {})["fastest_m_s"]
    result = ask(studio, samples=gap(way(5.0, speed=1.2 * top), 2.0, 2.3))["results"][0]
    texts = [problem["text"] for problem in result["problems"]]
    assert "0.30 s were missing" in texts[0] and "faster than any example" in texts[1]
    assert result["problems"][1]["place"] is not None


def test_one_segment_is_little_and_that_is_said(tmp_path: Path) -> None:
    clip = demo_clip("walk", 30.0)
    write_clip(tmp_path / "walk.npz", clip[:30])  # one step and a bit
    with opened(tmp_path) as studio:
        studio.settle()
        (result,) = ask(studio, samples=way(4.0))["results"]
        assert "one segment only" in result["problems"][-1]["text"]
        assert len({piece["recording_start_s"] for piece in result["pieces"]}) == 1


def test_examples_are_told_with_their_speed(studio: Studio) -> None:
    found = studio.send("POST", "perform/examples", {})
    assert [one["name"] for one in found["examples"]] == [one["name"] for one in studio.get("project")["clips"]]
    assert found["segments"] == sum(one["segments"] for one in found["examples"]) > 20
    assert 0.5 < found["examples"][0]["usual_m_s"] <= found["examples"][0]["top_m_s"] <= found["fastest_m_s"] + 1e-9
    one = studio.send("POST", "perform/examples", {"examples": [found["examples"][0]["clip"]]})
    assert len(one["examples"]) == 1 and one["segments"] == found["examples"][0]["segments"]
    answer = studio.http.post("/api/perform/examples", json={"examples": ["nobody"]})
    assert answer.status_code == 422 and "not in the library" in answer.json()["error"]


def test_a_performance_is_a_change_like_any_other(studio: Studio) -> None:
    before = studio.get("project")["document"]["perform"]
    studio.change("Perform", perform={**before, "samples": way(2.0)})
    assert len(studio.get("project")["document"]["perform"]["samples"]) == 61
    assert studio.send("POST", "undo")["document"]["perform"] == before


# ---------------------------------------------------------------- pairs


def library(*names: str, frames: dict[str, int] | None = None) -> Library:
    entries = [ClipEntry(id=f"c{k}", source=f"r{k}", name=name) for k, name in enumerate(names)]
    bodies = {f"r{k}": ("s", 30.0, (frames or {}).get(name, 100), ["go"]) for k, name in enumerate(names)}
    return Library(entries, bodies)


def test_pairs_are_found_by_their_names() -> None:
    dance = library("61_02", "60_01", "walk", "61_01", "60_02", "60_03", "16_01")
    assert find_pairs(dance) == [("c4", "c0"), ("c1", "c3")]
    assert find_pairs(library("salsa_leader_2", "salsa_follower_2", "walk_1")) == [("c0", "c1")]
    uneven = library("60_01", "61_01", frames={"61_01": 90})
    assert find_pairs(uneven) == [] and find_pairs(uneven, cut=True) == [("c0", "c1")]
    assert find_pairs(library("walk_turn_left", "jog_turn_left", "run")) == []


def test_walks_of_one_body_are_the_usual_examples() -> None:
    some = library("walk_1", "jog", "Walk_2", "walk_3", "start", "walk_to_jog", "walk_4")
    bodies = {"r3": ("other", 30.0, 100, ()), "r4": ("s", 30.0, 9, ["walk"]), "r6": ("s", 30.0, 9, ["walk", "jump"])}
    some = some._replace(bodies={**some.bodies, **bodies})
    assert [one.clip.id for one in choose(PerformAsk(), some)] == ["c0", "c2", "c4"]
    assert [one.clip.id for one in choose(PerformAsk(), library("a", "b"))] == ["c0", "c1"], "all, where none walks"


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
    clips = {clip["name"]: clip["id"] for clip in dance.get("project")["document"]["clips"]}
    found = dance.send("POST", "perform/examples", {"lead": "body"})
    assert [(one["leader"], one["name"]) for one in found["examples"]] == [
        (clips[f"60_{trial}"], f"61_{trial}") for trial in ("01", "02", "03")
    ]
    answer = ask(dance, lead="body", leader=clips["60_02"])
    assert answer["type"] == "answer", answer
    (result,) = answer["results"]
    follower, leader = result["motions"]
    assert leader["leads"] and not follower["leads"] and follower["skeleton"] != leader["skeleton"]
    assert abs(follower["frames"] / follower["fps"] - leader["frames"] / leader["fps"]) < 0.1
    # The trial itself is held back: nothing of it is in the answer, so the error is an honest one.
    assert "61_02" not in {piece["recording"] for piece in result["pieces"]}
    assert 5 < result["figures"]["partner_cm"] < 60 and result["figures"]["partner_root_cm"] < 40
    assert "without(1)" in result["python"] and result["command"].startswith("#")
    assert result["holds"] and all(hold["start"] < hold["stop"] <= follower["frames"] for hold in result["holds"])
    people = [rows(dance, result, person) for person in range(2)]
    apart = np.linalg.norm(people[0][:, [0, 2]] - people[1][: len(people[0]), [0, 2]], axis=1)
    assert np.median(apart) < 1.5, "they dance together"


def test_nobody_leads(dance: Studio) -> None:
    assert "choose the clip that leads" in ask(dance, lead="body")["failure"]["error"]
