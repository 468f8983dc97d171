"""`choreograph solve` on a small graph of demo motion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from choreograph.cli.main import app
from choreograph.demo import demo_clip
from choreograph.errors import ChoreographError, OutputExists, RequestError
from choreograph.formats import read_clip
from choreograph.graph.build import build_graph
from choreograph.graph.store import save_graph

REQUEST = {
    "length_s": 4,
    "body": [
        {"at_s": 0, "position": [0, 0], "facing_deg": 0},
        {"at_s": 4, "position": [2.0, 3.0], "facing_deg": 90},
    ],
}


@pytest.fixture(scope="module")
def mog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "walks.mog"
    save_graph(build_graph([demo_clip(name) for name in ("walk", "walk_turn_90_left", "walk_turn_90_right")]), path)
    return path


@pytest.fixture
def request_file(tmp_path: Path) -> Path:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST))
    return path


def run(*words: object) -> str:
    result = CliRunner().invoke(app, ["solve", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_it_writes_answers_that_are_where_they_should_be(mog: Path, request_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = run(mog, request_file, "-o", out, "-n", 2, "--evaluations", 60_000, "--apart", 0.2)
    assert "answer_1.bvh" in said and "body[1]" in said
    result = json.loads((out / "answers.json").read_text())
    assert len(result["answers"]) == 2 and result["request"] == REQUEST
    for number, answer in enumerate(result["answers"], 1):
        clip = read_clip(out / f"answer_{number}.bvh")
        assert clip.seconds == pytest.approx(4 + 1 / clip.fps)
        assert clip.root_pos[-1, [0, 2]] == pytest.approx([2.0, 3.0], abs=1e-3)
        assert sum(piece["stop"] - piece["start"] for piece in answer["pieces"]) == 121


def test_a_kept_search_is_gone_on_with(mog: Path, request_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(mog, request_file, "-o", out, "-n", 1, "--evaluations", 5_000)
    before = json.loads((out / "answers.json").read_text())
    run(mog, request_file, "-o", out, "-n", 1, "--evaluations", 40_000, "--resume")
    after = json.loads((out / "answers.json").read_text())
    assert after["evaluations"] >= before["evaluations"] + 40_000
    assert after["answers"][0]["score"] <= before["answers"][0]["score"]


@pytest.mark.parametrize(
    ("document", "error", "said"),
    [
        ({**REQUEST, "joints": [{"at_s": 1, "joint": "tail", "position": [0, 0, 0]}]}, RequestError, "no joint is"),
        ({**REQUEST, "length_s": 3}, RequestError, r"body\[1\].at_s is 4"),
    ],
)  # fmt: skip
def test_mistakes_write_nothing(
    mog: Path, tmp_path: Path, document: dict[str, object], error: type[ChoreographError], said: str
) -> None:
    (tmp_path / "r.json").write_text(json.dumps(document))
    with pytest.raises(error, match=said):
        run(mog, tmp_path / "r.json", "-o", tmp_path / "out", "--evaluations", 1000)
    assert not (tmp_path / "out").exists()


def test_nothing_is_overwritten_unasked(mog: Path, request_file: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "answer_1.bvh").write_text("precious")
    with pytest.raises(OutputExists):
        run(mog, request_file, "-o", tmp_path / "out", "--evaluations", 1000)
    with pytest.raises(RequestError, match="no search to go on from"):
        run(mog, request_file, "-o", tmp_path / "out", "--evaluations", 1000, "--resume")
    assert (tmp_path / "out" / "answer_1.bvh").read_text() == "precious"
