"""The command and the program that are shown do what was done."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.studio.running import Studio
from typer.testing import CliRunner

from choreograph.cli.main import app
from choreograph.formats.npz import read_npz

PATH = [[0.0, 0.0], [0.2, 3.0], [2.0, 4.0]]
ASKS: dict[str, dict[str, Any]] = {
    "plain": {"points": PATH},
    "in options alone": {"path": "eight:radius=1.5", "smooth_m": 0.25, "finish": {"clean": False}},
    "second candidate": {"points": PATH, "count": 2, "seed": 4},
    "everything": {
        "points": PATH, "smooth_m": 0.4, "rounded_m": 0.5, "facing_deg": 57.3, "prefer": {"walk": 0.01},
        "finish": {"blend": "anticipation", "preset": "arms first", "clean": False},
        "start": {"clip": "walk", "frame": 20}, "advanced": {"beam_width": 40, "weights": {"reuse": 0.1}},
        "goals": [
            {"start_m": 1.0, "end_m": 3.0, "speed_m_s": 1.2}, {"start_m": 2.0, "end_m": 99.0, "label": "walk"}
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ASKS)
def test_they_give_the_same_motion(studio: Studio, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    job = studio.wait(studio.send("POST", "jobs", {"kind": "follow", "ask": ASKS[name]}))
    assert job["state"] == "done", job
    result = studio.get(f"results/{job['results'][-1]}")
    wanted = read_npz(studio.session.places.result(result["id"], ".npz"))

    words = shlex.split(result["command"].replace("follow.bvh", "told.npz"), comments=True)
    assert words[0] == "choreograph"
    ran = CliRunner().invoke(app, [*words[1:], "--best-effort"], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    exec(compile(result["python"].replace(".bvh", ".npz"), "shown", "exec"), {})
    told = read_npz(tmp_path / ("told_2.npz" if ASKS[name].get("count") else "told.npz"))
    for motion in (told, read_npz(tmp_path / "follow_walk.npz")):
        np.testing.assert_array_equal(motion.root_pos, wanted.root_pos)
        np.testing.assert_array_equal(motion.local_rot, wanted.local_rot)


def test_walking_on_is_said_too(studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = studio.wait(studio.send("POST", "jobs", {"kind": "follow", "ask": {"points": PATH}}))
    ask = {"points": [[4.0, 4.0], [6.0, 6.0]], "after": {"request": {"points": PATH}}}
    job = studio.wait(studio.send("POST", "jobs", {"kind": "follow", "ask": ask}))
    result = studio.get(f"results/{job['results'][0]}")
    assert first["state"] == "done" and "--request" in result["command"]
    exec(compile(result["python"].replace(".bvh", ".npz"), "shown", "exec"), {})
    wanted = read_npz(studio.session.places.result(result["id"], ".npz"))
    np.testing.assert_allclose(read_npz(tmp_path / "follow_walk.npz").root_pos, wanted.root_pos, atol=0)
