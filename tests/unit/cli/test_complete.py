"""Completing, learning and faces on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.cli.main import app
from choreograph.demo import demo_clip


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walks")
    for name in ("walk", "walk_veer_left"):
        cg.write_clip(folder / f"{name}.npz", demo_clip(name, 30.0))
    return folder


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


REQUEST = """\
duration_s: 2
goals:
  - {at_s: 0, pose: {clip: walk, frame: 10}, as_recorded: true}
  - {at_s: 1, joint: right_hand, position: [null, 1.3, null]}
"""


def test_a_request_is_completed_as_python_does(walks: Path, tmp_path: Path) -> None:
    (tmp_path / "request.yaml").write_text(REQUEST)
    said = run(
        "complete", walks, tmp_path / "request.yaml", "-o", tmp_path / "out.npz", "--result", tmp_path / "out.json"
    )
    assert "2.03 s through 2 goals" in said
    made = cg.read_clip(tmp_path / "out.npz")
    assert made.global_positions()[30, made.skeleton.need("right_hand"), 1] == pytest.approx(1.3, abs=1e-4)
    told = json.loads((tmp_path / "out.json").read_text())
    assert told["verb"] == "complete" and told["answers"][0]["model"]["clips"] == 2
    clips = [cg.read_clip(walks / f"{name}.npz") for name in ("walk", "walk_veer_left")]
    own = cg.complete(clips, cg.read_request_file(cg.CompleteRequest, tmp_path / "request.yaml"))
    np.testing.assert_array_equal(own.clip.local_rot, made.local_rot)


def test_what_cannot_be_reached_ends_with_3(walks: Path, tmp_path: Path) -> None:
    (tmp_path / "far.yaml").write_text(REQUEST.replace("1.3", "9.0"))
    said = run("complete", walks, tmp_path / "far.yaml", "-o", tmp_path / "out.npz", code=3)
    assert "farther than the body reaches" in said
    run("complete", walks, tmp_path / "far.yaml", "-o", tmp_path / "out2.npz", "--best-effort")


def test_a_model_is_learned_kept_and_used(walks: Path, tmp_path: Path) -> None:
    model, looks = tmp_path / "walks.model", tmp_path / "looks.npz"
    said = run("learn", walks, "-o", model, "--order", 2, "--simulate", looks)
    assert "order 2" in said and "° per joint" in said and len(cg.read_clip(looks)) == 151
    request = REQUEST.replace("clip: walk", f"file: {walks / 'walk.npz'}")
    (tmp_path / "request.yaml").write_text(request)
    run("complete", model, tmp_path / "request.yaml", "-o", tmp_path / "out.npz")
    with pytest.raises(RequestError, match=r"ends in \.model"):
        run("learn", walks, "-o", tmp_path / "walks.npz")


def test_a_gap_is_filled(walks: Path, tmp_path: Path) -> None:
    walk = demo_clip("walk", 30.0)
    cg.write_clip(tmp_path / "a.npz", walk[:30])
    cg.write_clip(tmp_path / "b.npz", walk[45:80])
    words = ("--between", tmp_path / "a.npz", "--between", tmp_path / "b.npz", "--gap", 0.53)
    run("complete", walks, *words, "-o", tmp_path / "gap.npz")
    assert len(cg.read_clip(tmp_path / "gap.npz")) == 17


def test_a_gap_between_people_is_filled(walks: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    walk = demo_clip("walk", 30.0)
    tall = replace(walk, skeleton=walk.skeleton.scaled(1.15), root_pos=1.15 * walk.root_pos)
    cg.write_clip(tmp_path / "a.npz", walk[:30])
    cg.write_clip(tmp_path / "b.npz", tall[45:80])
    words = ("--between", tmp_path / "a.npz", "--between", tmp_path / "b.npz", "--gap", 0.53, "--no-as-recorded")
    run("complete", walks, *words, "-o", tmp_path / "gap.npz")
    made = cg.read_clip(tmp_path / "gap.npz")
    assert len(made) == 17 and made.skeleton.matches(walk.skeleton)


@pytest.mark.slow
def test_splines_and_starts_are_options(walks: Path, tmp_path: Path) -> None:
    (tmp_path / "request.yaml").write_text(REQUEST)
    words = ("complete", walks, tmp_path / "request.yaml", "--advanced", "knots_s=0.1")
    words += ("--advanced", "weights.dynamics=2", "--advanced", "weights.goals=0.5")
    run(
        *words,
        "-o",
        tmp_path / "out.npz",
        "--objective-picture",
        tmp_path / "starts.png",
        "--picture",
        tmp_path / "out.png",
    )
    made = cg.read_clip(tmp_path / "out.npz")
    assert made.global_positions()[30, made.skeleton.need("right_hand"), 1] == pytest.approx(1.3, abs=1e-4)
    for name in ("starts.png", "out.png"):
        assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"


def test_the_objective_from_three_starts_ends_alike(walks: Path, tmp_path: Path) -> None:
    from choreograph.verbs.complete.plot import plot_objective

    (tmp_path / "request.yaml").write_text(REQUEST)
    clips = [cg.read_clip(walks / f"{name}.npz") for name in ("walk", "walk_veer_left")]
    result = cg.complete(clips, cg.read_request_file(cg.CompleteRequest, tmp_path / "request.yaml"))
    lines = plot_objective(result).axes[0].get_lines()
    assert len(lines) == 3
    ends = [float(line.get_ydata()[-1]) for line in lines]
    assert max(ends) - min(ends) < 1e-3 and min(float(line.get_ydata()[0]) for line in lines) > 1.0


def test_behaviours_are_learned_from_a_graph_by_label(tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    for name, label in (("walk", "walk"), ("walk_veer_left", "walk"), ("jump_high", "jump")):
        cg.write_clip(folder / f"{name}.npz", demo_clip(name, 30.0).with_labels([label]))
    graph = tmp_path / "people.mog"
    run("build", folder, "-o", graph)
    said = run("learn", graph, "--label", "jump", "-o", tmp_path / "jump.model")
    assert "of 1 clips" in said
    (tmp_path / "both.yaml").write_text(
        "duration_s: 2.5\ngoals:\n  - {at_s: 0, pose: {clip: walk, frame: 10}, as_recorded: true}\n"
        "  - {start_s: 0, end_s: 1.2, label: walk}\n  - {start_s: 1.2, end_s: 2.5, label: jump}\n"
    )
    run("complete", graph, tmp_path / "both.yaml", "-o", tmp_path / "out.npz", "--result", tmp_path / "out.json")
    held = json.loads((tmp_path / "out.json").read_text())["answers"][0]["behaviours"]
    assert held[0] == "walk" and held[-1] == "jump"
    # Two behaviours and no labels: the likelier one holds when.
    run("learn", graph, "--behaviours", "walk", "--behaviours", "jump", "-o", tmp_path / "both.model")
    (tmp_path / "keys.yaml").write_text(
        "duration_s: 1\ngoals:\n"
        + "".join(
            f"  - {{at_s: {k / 10}, pose: {{file: clips/walk.npz, frame: {10 + 3 * k}}}, as_recorded: true}}\n"
            for k in range(11)
        )
    )
    words = ("complete", tmp_path / "both.model", tmp_path / "keys.yaml", "-o", tmp_path / "found.npz")
    run(*words, "--result", tmp_path / "found.json", "--best-effort")
    assert set(json.loads((tmp_path / "found.json").read_text())["answers"][0]["behaviours"]) == {"walk"}
    with pytest.raises(RequestError, match=r"goals\[0\].label"):
        (tmp_path / "other.yaml").write_text("duration_s: 1\ngoals:\n  - {start_s: 0, end_s: 1, label: crawl}\n")
        run("complete", tmp_path / "both.model", tmp_path / "other.yaml", "-o", tmp_path / "never.npz")
