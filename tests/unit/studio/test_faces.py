"""The same request through Python, the command line and the studio gives the same motion, bit for bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.studio.running import CLIPS, Studio
from typer.testing import CliRunner

import choreograph as cg
from choreograph.cli.main import app
from choreograph.contract.request import read_request
from choreograph.formats.npz import read_npz
from choreograph.motion.clip import Clip
from choreograph.verbs import find_verb

REQUESTS: dict[str, dict[str, Any]] = {
    "follow": {
        "points": [[0, 0], [0.2, 3], [2, 4]], "smooth_m": 0.3, "facing_deg": 40, "count": 2, "label": "Walk",
        "finish": {"blend": "anticipation", "preset": "arms first"},
        "stretches": [{"start_m": 1, "stop_m": 2, "speed_m_s": 1.2}],
    },
    "solve": {
        "length_s": 3, "evaluations": 40_000, "count": 2, "seed": 3, "apart_m": 0.1,
        "body": [
            {"at_s": 0, "position": [1, -1], "facing_deg": 30},
            {"at_s": 3, "position": [1.5, 2], "facing_deg": 20},
        ],
        "labels": [{"start_s": 1, "stop_s": 2, "label": "Walk"}],
        "obstacles": [{"circle": {"centre": [-2, 0], "radius": 0.5}}],
    },
    "perform": {
        "samples": [[k / 10, 0.1 * np.sin(k / 8).round(4).item(), 0.11 * k] for k in range(40)],
        "examples": list(CLIPS), "stretch_s": 0.25,
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def examples(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the studio's clips and nothing else."""
    folder = tmp_path_factory.mktemp("examples")
    for name in CLIPS:
        (folder / f"{name}.npz").write_bytes((studio.session.places.folder / f"{name}.npz").read_bytes())
    return folder


def through_python(verb: str, subject: str) -> list[Clip]:
    kind = find_verb(verb).request
    whole: Any = cg.open_graph(subject) if verb != "perform" else [
        cg.read_clip(path).with_name(path.stem) for path in sorted(Path(subject).iterdir())
    ]  # fmt: skip
    result = getattr(cg, verb)(whole, read_request(kind, REQUESTS[verb]))
    return [answer.clip for answer in result.answers]


def through_the_command_line(verb: str, subject: str, folder: Path) -> list[Clip]:
    (folder / "request.json").write_text(json.dumps(REQUESTS[verb]))
    file = [str(folder / "request.json")] if find_verb(verb).takes_file else ["--request", str(folder / "request.json")]
    words = [verb, subject, *file, "-o", str(folder / "out"), "--format", "npz", "--best-effort"]
    ran = CliRunner().invoke(app, words, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    about = json.loads((folder / "out" / "answers.json").read_text())
    return [read_npz(folder / "out" / answer["files"][0]) for answer in about["answers"]]


def through_the_studio(verb: str, studio: Studio) -> list[Clip]:
    job = studio.wait(studio.send("POST", "jobs", {"kind": verb, "ask": REQUESTS[verb]}))
    assert job["state"] == "done", job
    return [read_npz(studio.session.places.result(result, ".npz")) for result in job["results"]]


@pytest.mark.parametrize("verb", REQUESTS)
def test_all_faces_give_the_same(studio: Studio, verb: str, examples: Path, tmp_path: Path) -> None:
    subject = str(examples if verb == "perform" else studio.session.places.graph)
    # Twice in the studio: what it remembers of the first time must not show.
    faces = [
        through_python(verb, subject),
        through_the_command_line(verb, subject, tmp_path),
        through_the_studio(verb, studio),
        through_the_studio(verb, studio),
    ]
    assert len({len(answers) for answers in faces}) == 1 and len(faces[0]) == REQUESTS[verb].get("count", 1)
    for answers in zip(*faces, strict=True):
        for other in answers[1:]:
            np.testing.assert_array_equal(other.root_pos, answers[0].root_pos)
            np.testing.assert_array_equal(other.local_rot, answers[0].local_rot)
