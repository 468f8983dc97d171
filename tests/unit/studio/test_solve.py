"""Solving over the socket: answers that improve, requests that change, what cannot be had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.studio.running import Studio, hear, say, until

from choreograph.motion.packed import pack_frames

START = {"at_s": 0, "place": [1.0, -1.0], "facing_deg": 30}
END = {"at_s": 4, "place": [2.0, 3.0], "facing_deg": 60}


def request(**changes: Any) -> dict[str, Any]:
    return {"duration_s": 4, "goals": [START, END], "count": 3, "time_limit_s": 1.2, **changes}


def answers(page: Any, number: int) -> list[dict[str, Any]]:
    """What comes until the last answer to a request."""
    heard: list[dict[str, Any]] = []
    while not heard or not heard[-1]["final"]:
        message = hear(page, "answer", "refused")
        assert message["type"] == "answer", message
        if message["number"] == number:
            heard.append(message)
    return heard


def frames(studio: Studio, result: dict[str, Any]) -> np.ndarray[Any, Any]:
    data = studio.http.get(f"/api/motions/result/{result['id']}/frames")
    assert data.status_code == 200
    return np.frombuffer(data.content, "<f4").reshape(result["motions"][0]["frames"], -1)


def listed(studio: Studio) -> set[str]:
    return {one["id"] for one in studio.get("results")}


def test_answers_come_and_improve(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "ask", verb="solve", number=1, ask=request(time_limit_s=4.0))
        heard = answers(page, 1)
    assert len(heard) >= 2 and len(heard[0]["results"]) == 1, "the best alone comes first"
    best = [answer["results"][0]["cost"] for answer in heard]
    assert best == sorted(best, reverse=True)
    final = heard[-1]["results"]
    assert 1 <= len(final) <= 3
    assert [one["cost"] for one in final] == sorted(one["cost"] for one in final)
    ways = [np.array(one["path"]) for one in final]
    assert all(np.abs(a - b).max() > 0.2 for n, a in enumerate(ways) for b in ways[:n]), "they differ"
    for result in final:
        assert [one["where"] for one in result["details"]["errors"]] == ["goals[0]", "goals[1]"]
        assert not result["problems"] or result["problems"][0]["kind"] == "fewer_answers", result["problems"]
        moving = frames(studio, result)
        # Finishing has met the arrows; the root is within a hand of the torso's place.
        np.testing.assert_allclose(moving[0, [0, 2]], START["place"], atol=0.1)
        np.testing.assert_allclose(moving[-1, [0, 2]], END["place"], atol=0.1)
    assert {one["id"] for one in final} <= listed(studio)
    beaten = {one["id"] for answer in heard for one in answer["results"]} - {one["id"] for one in final}
    until(lambda: not beaten & listed(studio))  # what was bettered goes


def test_the_program_gives_the_same_motion(studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studio.page() as page:
        say(page, "ask", verb="solve", number=1, ask=request(seed=7))
        result = answers(page, 1)[-1]["results"][-1]
    file = studio.session.places.result(result["id"], ".request.yaml")
    assert str(file) in result["command"] and "work_limit:" in file.read_text() and "seed: 7" in file.read_text()
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(result["python"], names)
    assert pack_frames(names["answer"].clip) == frames(studio, result).tobytes()
    assert (tmp_path / "solve_motion.bvh").stat().st_size > 1000


def test_a_changed_request_goes_on_from_what_was_found(studio: Studio) -> None:
    moved = [START, {**END, "place": [2.3, 3.0]}]
    with studio.page() as page:
        say(page, "ask", verb="solve", number=1, ask=request(time_limit_s=60))
        before = hear(page, "answer")["results"][0]
        say(page, "ask", verb="solve", number=2, ask=request(goals=moved))
        heard = answers(page, 2)
    assert "went on from an earlier request" in heard[-1]["results"][0]["command"]
    until(lambda: before["id"] not in listed(studio))  # answers to the older request go with it


def test_a_search_can_be_stopped_and_goes_on(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "ask", verb="solve", number=1, ask=request(time_limit_s=60))
        job = hear(page, "job")["job"]
        while job["kind"] != "solve":
            job = hear(page, "job")["job"]
        hear(page, "answer")
        say(page, "cancel", job=job["id"])
        stopped = answers(page, 1)[-1]["results"]
        assert stopped and stopped[0]["id"] in listed(studio)
        say(page, "ask", verb="solve", number=2, ask=request(time_limit_s=1.0))
        again = answers(page, 2)[0]["results"]
    assert again[0]["cost"] <= stopped[0]["cost"], "nothing is lost in between"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"goals": [START]}, "nothing is asked for besides a duration and a start"),
        ({"goals": [START, {**END, "at_s": 12}]}, "goals[1].at_s is 12"),
        ({"goals": [END, END]}, "goals[1].at_s is 4, when goals[0] is too"),
        ({"goals": [{**START, "facing_deg": None}, END]}, "goals[0].facing_deg is missing"),
        ({"goals": [START, {**END, "place": [1]}]}, "goals[1].place"),
        ({"goals": [{"at_s": 1, "joint": "nose", "position": [None, 1, None]}]}, "goals[0].joint is 'nose'"),
        ({"goals": [{"at_s": 1, "joint": "head"}]}, "goals[0]"),
        ({"goals": [{"at_s": 1, "pose": {"clip": "nobody"}}]}, "goals[0].pose.clip"),
        (
            {"goals": [{"at_s": 1, "pose": {"clip": "walk", "frame": 99999}, "exact": True}]},
            "goals[0].pose.frame is 99999",
        ),
        ({"goals": [{"start_s": 2, "end_s": 1, "label": "walk"}]}, "goals[0].end_s is 1"),
        ({"scene": {"obstacles": [{"clearance_m": 0.3}]}}, "scene.obstacles[0]"),
        ({"scene": {"obstacles": [{"centre": [1, -1], "radius_m": 1}]}}, "scene.obstacles[0]"),
        ({"duration_s": -1}, "duration_s is -1"),
        ({"count": 1000}, "count"),
        ({"constraints": []}, "constraints"),
    ],
)
def test_what_cannot_be_is_named_by_its_place(studio: Studio, change: dict[str, Any], why: str) -> None:
    with studio.page() as page:
        say(page, "ask", verb="solve", number=9, ask=request(**change))
        refused = hear(page, "refused", "answer")
    assert refused["type"] == "refused" and refused["number"] == 9
    assert why in refused["failure"]["error"], refused["failure"]["error"]


def test_what_is_out_of_reach_is_told_with_the_nearest(studio: Studio) -> None:
    head = {"at_s": 2, "joint": "head", "position": [0.0, 2.6, None]}
    far = {**END, "place": [1.0, 79.0]}
    with studio.page() as page:
        say(page, "ask", verb="solve", number=1, ask=request(goals=[START, far, head], count=1))
        result = answers(page, 1)[-1]["results"][0]
    problems = {one["where"]: one for one in result["problems"]}
    assert {where.partition(".")[0] for where in problems} == {"goals[2]", "goals[1]"}
    head = problems["goals[2].position"]
    assert "out of reach" in head["text"] and 1.4 < head["nearest"] < 2.0, "no head of these clips is higher"
    away = problems["goals[1].place"]
    assert "out of reach" in away["text"] and away["place"] is not None and away["unit"] == "m"
    assert 1.0 < away["nearest"] < 20.0 < away["asked"], "how far one comes in the time, and how far it was to be"


def test_constraints_are_reported_in_their_own_terms(studio: Studio) -> None:
    ask = request(
        goals=[
            START,
            END,
            {"start_s": 1, "end_s": 2, "label": "walk"},
            {"at_s": 2, "pose": {"clip": "walk", "frame": 20}},
        ],
        scene={"obstacles": [{"centre": [-3.0, 0.0], "radius_m": 0.5}]},
    )
    with studio.page() as page:
        say(page, "ask", verb="solve", number=1, ask=ask)
        result = answers(page, 1)[-1]["results"][0]
    known = {one["where"] for one in result["details"]["errors"]}
    assert {f"goals[{n}]" for n in range(4)} <= known
    assert not any(problem["where"].startswith("scene") for problem in result["problems"]), "it keeps clear"
