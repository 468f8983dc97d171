"""Projects of earlier versions of the studio open: what was asked, undo, and results that play.

`studio_v1.tar.xz` is a folder that the version of 16 November 2026 worked in: three walks, a graph, a path that was
followed and walked on from, arrows, a performance, and one step undone.
"""

from __future__ import annotations

import json
import math
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.unit.studio.running import Studio, opened

from choreograph.contract.request import read_request
from choreograph.studio.facts import Result
from choreograph.studio.project import Project
from choreograph.studio.project_paths import find_places
from choreograph.verbs import find_verb

FILE = Path(__file__).parent / "studio_v1.tar.xz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The project, as if it had been made here."""
    with tarfile.open(FILE) as archive:
        archive.extractall(tmp_path, filter="data")
    facts = tmp_path / ".choreograph" / "graph.json"
    plain = json.loads(facts.read_text())
    facts.write_text(json.dumps({**plain, "file": str(tmp_path / ".choreograph" / "graph.mog")}))
    return tmp_path


@pytest.fixture
def studio(folder: Path) -> Iterator[Studio]:
    with opened(folder) as running:
        running.settle()
        yield running


def test_what_was_asked_is_a_request_of_its_verb(folder: Path) -> None:
    project = Project(find_places(folder))
    requests = project.document.requests
    assert set(requests) == {"follow", "solve", "perform"}
    for verb, draft in requests.items():
        read_request(find_verb(verb).request, draft)
    follow = requests["follow"]
    assert follow["points"] == [[0.6, 4.0], [1.0, 5.0]] and follow["count"] == 2 and follow["smooth_m"] == 0.25
    before = follow["after"]["request"]
    assert before["points"][-1] == [0.3, 3.0] and before["facing_deg"] == pytest.approx(math.degrees(0.5))
    assert before["prefer"] == {"walk": 0.01} and before["finish"] == {"blend": "linear"} and before["seed"] == 3
    assert before["goals"] == [{"start_m": 0.5, "speed_m_s": 1.2, "end_m": 1.5}]
    solve = read_request(find_verb("solve").request, requests["solve"])
    assert {"at_s": 1.5, "joint": "head", "position": [None, 1.5, None]} in solve.as_document()["goals"]
    assert [one.hips_m for one in solve.scene.obstacles] == [0.3] and solve.scene.obstacles[0].radius_m == 0.5
    perform = requests["perform"]
    assert perform["only"] == 'name:"walk" or name:"walk_veer_left"' and perform["finish"] == {"clean": False}
    assert len(perform["samples"]) == 25 and perform["advanced"] == {"stretch_s": 0.3} and project.view.lag_s == 2.0


def test_history_goes_back_and_forth(folder: Path) -> None:
    project = Project(find_places(folder))
    assert project.redo_label is not None and project.undo_label == "Perform"
    project.redo()
    assert project.document.kept
    while project.undo_label:
        project.undo()
    assert "points" not in project.document.requests["follow"]
    while project.redo_label:
        project.redo()
    assert project.document.requests["perform"]["samples"]


def test_it_is_written_in_the_present_format_and_read_again(folder: Path) -> None:
    project = Project(find_places(folder))
    project.save()
    again = Project(find_places(folder))
    assert json.loads(project.places.project.read_text())["format"] == 3
    assert again.document == project.document and again.undo_label == project.undo_label


def test_results_are_listed_and_play(studio: Studio) -> None:
    results = [Result.model_validate(one) for one in studio.get("results")]
    assert [one.verb for one in reversed(results)] == ["follow", "follow", "follow", "solve", "perform"]
    for result in results:
        motion = result.motions[0]
        data = studio.http.get(f"/api/motions/result/{result.id}/frames").content
        assert np.frombuffer(data, "<f4").reshape(motion.frames, -1).shape[1] == 3 + 4 * len(motion.joints)
        assert result.metrics["seconds"].value == pytest.approx(motion.frames / motion.fps, abs=0.1)
    follow, perform = results[-1], results[0]
    assert 0 < follow.metrics["path_mean"].value < 0.5 and follow.metrics["path_mean"].said.endswith("cm")
    assert follow.request["facing_deg"] == pytest.approx(math.degrees(0.5))
    assert perform.details["pieces"] and perform.details["pieces"][0]["recording"] in ("walk", "walk_veer_left")


def test_it_goes_on_from_there(studio: Studio) -> None:
    assert studio.get("project")["graph"]["transitions"] > 0
    job = studio.wait(studio.send("POST", "jobs", {"kind": "follow"}))
    assert job["state"] == "done", job
    assert studio.get(f"results/{job['results'][0]}")["request"]["after"]["request"]["seed"] == 3
