"""The demo project: made when it is first opened, and whoever stops that gets it again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.studio.running import opened, until

from choreograph.demo import demo_names


@pytest.mark.slow
def test_it_has_clips_a_graph_and_a_path_to_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with opened(None) as studio:
        assert studio.get("project")["clips"] == [], "the page opens before there is anything to see"
        until(lambda: studio.get("jobs")[0]["done"] > 2)
    with opened(None) as studio:
        until(lambda: studio.get("project")["graph"])
        studio.settle()
        walk = studio.wait(studio.send("POST", "jobs", {"kind": "follow"}))
        assert walk["state"] == "done", walk
        project = studio.get("project")
    assert {clip["name"] for clip in project["clips"]} == set(demo_names())
    assert project["graph"]["current"] and project["document"]["name"] == "Demo"
    assert project["results"][0]["request"] == project["document"]["requests"]["follow"]
    assert project["results"][0]["metrics"]["path_mean"]["value"] < 0.15
    with opened(None) as studio:
        assert studio.get("project")["results"] == project["results"] and not studio.get("jobs")
