"""A verb that lives elsewhere comes into every face: the registry, the command line, the studio."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.studio.running import Studio, opened
from typer.testing import CliRunner

from choreograph.cli.main import app
from choreograph.contract.request import read_request
from choreograph.demo import demo_clip
from choreograph.formats import read_clip, write_clip
from choreograph.studio.typescript import typescript
from choreograph.verbs import find_verb, rooms

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def toy() -> Iterator[None]:
    """The environment in which the toy is a verb; worker processes have it too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHOREOGRAPH_VERBS", "tests.toys.shift")
        known = os.environ.get("PYTHONPATH", "")
        patch.setenv("PYTHONPATH", os.pathsep.join([*([known] if known else []), str(ROOT)]))
        rooms.cache_clear()
        yield
    rooms.cache_clear()


@pytest.fixture(scope="module")
def studio(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("toy")
    write_clip(folder / "walk.npz", demo_clip("walk", 30.0)[:60])
    with opened(folder) as running:
        running.settle()
        yield running


def test_the_registry_and_python_have_it(toy: None) -> None:
    assert list(rooms())[-1] == "shift" and rooms()["shift"].summary.startswith("Shift a motion along the floor")
    verb, clip = find_verb("shift"), demo_clip("walk", 30.0)[:60]
    result = verb.search(clip, read_request(verb.request, {"along_m": 2})).run()
    np.testing.assert_allclose(result.clip.root_pos, clip.root_pos + np.array([0, 0, 2]))


def test_the_command_line_has_it(toy: None, tmp_path: Path) -> None:
    clip = demo_clip("walk", 30.0)[:60]
    write_clip(tmp_path / "walk.npz", clip)
    assert "shift" in CliRunner().invoke(app, ["--help"]).output
    shown = CliRunner().invoke(app, ["shift", "--help"], env={"COLUMNS": "120"}).output
    assert "--along" in shown and "Turning" in shown
    words = ["shift", str(tmp_path / "walk.npz"), "--along", "2", "-o", str(tmp_path / "there.npz")]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    np.testing.assert_allclose(read_clip(tmp_path / "there.npz").root_pos, clip.root_pos + np.array([0, 0, 2]))
    assert CliRunner().invoke(app, [*words, "--force", "--along", "9"]).exit_code == 3, "what is not met is told"


def test_the_studio_has_it(studio: Studio) -> None:
    verb = next(one for one in studio.get("verbs") if one["name"] == "shift")
    assert verb["subject"] == "clip" and verb["request"]["properties"]["along_m"]["unit"] == "m"
    clip = studio.get("project")["document"]["clips"][0]["id"]
    result = asked(studio, {"along_m": 3.0}, f"clip:{clip}")
    rows = [
        np.frombuffer(studio.http.get(f"/api/motions/{which}/frames").content, "<f4").reshape(60, -1)
        for which in (f"clip/{clip}", f"result/{result['id']}")
    ]
    np.testing.assert_allclose(rows[1][:, :3], rows[0][:, :3] + np.array([0, 0, 3]), atol=1e-5)
    assert result["metrics"]["shifted"] == {"value": 3.0, "unit": "m", "text": "shifted by", "said": "3 m"}
    assert result["command"].startswith("choreograph shift ") and "--along 3" in result["command"]
    assert "find_verb('shift')" in result["python"] and not result["problems"]
    far = asked(studio, {"along_m": 8.0}, f"result:{result['id']}")["problems"][0]
    assert (far["where"], far["asked"], far["got"], far["place"]) == ("along_m", 5.0, 8.0, [0.0, 0.0, 8.0])


def test_its_motion_is_chosen_in_the_document(studio: Studio) -> None:
    job = studio.wait(studio.send("POST", "jobs", {"kind": "shift"}))
    assert job["state"] == "failed" and "no motion is chosen" in job["error"]
    clip = studio.get("project")["document"]["clips"][0]["id"]
    studio.change("Choose", subjects={"shift": f"clip:{clip}"}, requests={"shift": {"along_m": 1.5}})
    job = studio.wait(studio.send("POST", "jobs", {"kind": "shift"}))
    assert studio.get(f"results/{job['results'][0]}")["subject"] == f"clip:{clip}"


def test_the_pages_types_are_those_of_our_own_verbs(toy: None) -> None:
    assert "ShiftRequest" not in typescript()


def asked(studio: Studio, ask: dict[str, Any], subject: str) -> dict[str, Any]:
    job = studio.wait(studio.send("POST", "jobs", {"kind": "shift", "ask": ask, "subject": subject}))
    assert job["state"] == "done", job
    result: dict[str, Any] = studio.get(f"results/{job['results'][0]}")
    return result
