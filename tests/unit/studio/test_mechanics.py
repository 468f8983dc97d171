"""Mechanics in the studio: forces and torques for the stage, files besides the motion, motions on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.studio.running import Studio, hear, opened, say

from choreograph.demo import demo_clip
from choreograph.formats import write_clip


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("mechanics")
    write_clip(folder / "jump.npz", demo_clip("jump_high", 60.0))
    with opened(folder) as running:
        running.settle()
        yield running


def clip_of(studio: Studio) -> str:
    return f"clip:{studio.get('project')['document']['clips'][0]['id']}"


@pytest.fixture(scope="module")
def measured(studio: Studio) -> dict[str, Any]:
    ask = {"kind": "dynamics", "ask": {"body": {"mass_kg": 60}}, "subject": clip_of(studio)}
    job = studio.wait(studio.send("POST", "jobs", ask))
    assert job["state"] == "done", job
    found: dict[str, Any] = studio.get(f"results/{job['results'][0]}")
    return found


def test_forces_and_torques_are_there_for_the_stage(studio: Studio, measured: dict[str, Any]) -> None:
    assert measured["mechanics"] is True and measured["subject"] == clip_of(studio)
    mechanics = studio.get(f"results/{measured['id']}/mechanics")
    motion = measured["motions"][0]
    assert mechanics["rate"] == 60 and len(mechanics["com"]) == motion["frames"]
    assert len(mechanics["strength"]) == len(mechanics["torques"][0]) == len(motion["joints"])
    standing = sum(force[1] for force in mechanics["forces"][5])
    assert standing == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("output", "suffix", "begins"), [("table", ".csv", b"frame,"), ("model", ".urdf", b"<robot")])
def test_its_own_files_can_be_had(
    studio: Studio, measured: dict[str, Any], output: str, suffix: str, begins: bytes
) -> None:
    facts = next(verb for verb in studio.get("verbs") if verb["name"] == "dynamics")
    assert any(one["name"] == output and suffix in one["suffixes"] for one in facts["outputs"])
    ask = {"result": measured["id"], "output": output, "suffix": suffix}
    job = studio.wait(studio.send("POST", "jobs", {"kind": "output", "ask": ask}))
    assert job["state"] == "done", job
    file = studio.http.get(f"/api/exports/{job['id']}/{job['results'][0]}")
    assert file.status_code == 200 and file.content.startswith(begins)


def test_what_cannot_be_had_is_said(studio: Studio, measured: dict[str, Any]) -> None:
    ask = {"result": measured["id"], "output": "table", "suffix": ".exe"}
    answer = studio.http.post("/api/jobs", json={"kind": "output", "ask": ask})
    assert answer.status_code == 422 and "table (.csv)" in answer.text
    assert studio.http.get("/api/results/nobody/mechanics").status_code == 404


def test_motions_on_the_way_are_seen_before_the_answer(studio: Studio) -> None:
    with studio.page() as page:
        say(page, "ask", number=7, verb="physics", ask={"farther_m": 0.1}, subject=clip_of(studio))
        seen = []
        while (message := hear(page, "partial", "answer", "refused"))["type"] == "partial":
            seen.append(message)
        assert message["type"] == "answer" and message["final"], message
        result = message["results"][0]
        assert seen and all(one["start"] == 0 and one["count"] == one["motion"]["frames"] for one in seen)
        assert seen[-1]["motion"]["joints"] == result["motions"][0]["joints"]
        assert result["mechanics"] and len(result["details"]["footprints"]) == 12
