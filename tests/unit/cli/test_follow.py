"""`choreograph follow` on a small graph of demo motion."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from choreograph.base.errors import ChoreographError, OutputExists, RequestError
from choreograph.build.graph import build_graph
from choreograph.cli.main import app, load_command
from choreograph.cli.options import collect
from choreograph.contract.request import read_request
from choreograph.demo import demo_clip
from choreograph.formats import read_clip
from choreograph.graph.store import save_graph
from choreograph.verbs.follow.request import FollowAdvanced, FollowRequest
from choreograph.verbs.options import as_options

QUICK = ("--advanced", "method=beam", "--advanced", "beam_width=30")


@pytest.fixture(scope="module")
def mog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "walks.mog"
    names = ("walk", "walk_veer_left", "walk_veer_right", "walk_turn_90_left", "walk_turn_90_right")
    save_graph(build_graph([demo_clip(name) for name in names]), path)
    return path


def run(*words: object) -> str:
    result = CliRunner().invoke(app, ["follow", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_it_writes_motion_picture_and_result(mog: Path, tmp_path: Path) -> None:
    said = run(mog, "-p", "line:length=5", "-o", tmp_path / "w.bvh", "--picture", tmp_path / "w.png",
               "--result", tmp_path / "w.json", *QUICK)  # fmt: skip
    assert "off the path on average" in said
    motion = read_clip(tmp_path / "w.bvh")
    result = json.loads((tmp_path / "w.json").read_text())
    [answer] = result["answers"]
    assert result["status"] == answer["status"] == "complete" and answer["motions"][0]["frames"] == len(motion)
    assert result["request"]["path"] == "line:length=5" and result["graph"] == str(mog) and result["verb"] == "follow"
    assert answer["metrics"]["path_mean"]["value"] < 0.1 and answer["metrics"]["path_mean"]["unit"] == "m"
    shown = sum(edge["stop"] - edge["start"] for edge in answer["walk"]["edges"])
    assert shown >= answer["walk"]["frames"]
    assert answer["motions"][0]["sources"][0]["clip"].startswith("walk")
    assert (tmp_path / "w.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_rendered_may_be_a_sheet(mog: Path, tmp_path: Path) -> None:
    words = ("-p", "line:length=5", "-o", tmp_path / "w.bvh", *QUICK)
    run(mog, *words, "--render", tmp_path / "w.png", "--film-size", "400")
    with Image.open(tmp_path / "w.png") as image:
        assert image.size[0] == 400


def test_the_same_seed_gives_the_same_file(mog: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        run(mog, "-p", "circle:radius=3", "-o", tmp_path / f"{name}.bvh", "--seed", 3, *QUICK)
    assert (tmp_path / "a.bvh").read_bytes() == (tmp_path / "b.bvh").read_bytes()


def test_several_answers_are_numbered_and_differ(mog: Path, tmp_path: Path) -> None:
    run(mog, "-p", "s", "-o", tmp_path / "w.npz", "--count", 2, *QUICK)
    first, second = (read_clip(tmp_path / f"w_{k}.npz") for k in (1, 2))
    frames = min(len(first), len(second))
    assert np.abs(first.local_rot[:frames] - second.local_rot[:frames]).max() > 0.05


def test_raw_feet_slide_more(mog: Path, tmp_path: Path) -> None:
    for name, words in (("raw", ["--no-clean"]), ("clean", [])):
        run(mog, "-p", "circle:radius=3", "-o", tmp_path / f"{name}.npz", *words, *QUICK)
    raw, clean = read_clip(tmp_path / "raw.npz"), read_clip(tmp_path / "clean.npz")
    assert np.abs(raw.root_pos - clean.root_pos).max() > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-p", "circle:size=4"], "radius"),
        (["-p", "nowhere.csv"], "nowhere.csv"),
        (["-p", "line", "--label", "swim"], "no clip of the graph is labelled 'swim'"),
        (["-p", "line", "--prefer", "16_99=1"], "no clip of the graph is called '16_99'"),
        (["-p", "line", "--prefer", "walk"], "CLIP=COST"),
        (["-p", "line", "--start-clip", "jump"], "no clip of the graph is called 'jump'"),
        (["-p", "line", "--advanced", "method=magic"], "'bound', 'beam', 'thesis'"),
        (["-p", "line", "--blend", "square"], "'linear', 'cubic', 'anticipation'"),
        (["-p", "line", "--advanced", "horizon_s=0.5", "--advanced", "retain_s=1"], "cannot be longer"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_written(mog: Path, tmp_path: Path, words: list[str], message: str) -> None:
    with pytest.raises(ChoreographError, match=message):
        run(mog, *words, "-o", tmp_path / "w.bvh")
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten_unasked(mog: Path, tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text("mine")
    with pytest.raises(OutputExists):
        run(mog, "-p", "line", "-o", tmp_path / "w.bvh", "--result", tmp_path / "w.json")
    assert (tmp_path / "w.json").read_text() == "mine" and not (tmp_path / "w.bvh").exists()


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_two_outputs_with_one_name_are_refused_before_any_work(
    mog: Path, tmp_path: Path, force: tuple[str, ...]
) -> None:
    words = ("follow", mog, "-p", "line:length=5", "-o", tmp_path / "w.bvh", "--result", tmp_path / "w.bvh", *force)
    with pytest.raises(RequestError, match=r"two outputs are called .*w\.bvh"):
        CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False)
    assert not list(tmp_path.iterdir())


def test_a_motion_format_is_needed(mog: Path, tmp_path: Path) -> None:
    with pytest.raises(ChoreographError, match="unknown file type"):
        run(mog, "-p", "line", "-o", tmp_path / "w.xyz")
    with pytest.raises(RequestError, match=r"films as .mp4 or .gif, not .avi"):
        run(mog, "-p", "line", "-o", tmp_path / "w.bvh", "--render", tmp_path / "w.avi", *QUICK)
    assert not list(tmp_path.iterdir())


def test_a_request_file_does_the_same_and_options_count_before_it(mog: Path, tmp_path: Path) -> None:
    file = tmp_path / "ask.yaml"
    file.write_text("path: circle:radius=3\nadvanced: {method: beam, beam_width: 30}\nseed: 3\n")
    run(mog, "--request", file, "-o", tmp_path / "a.bvh")
    run(mog, "-p", "circle:radius=3", "-o", tmp_path / "b.bvh", "--seed", 3, *QUICK)
    run(mog, "--request", file, "-o", tmp_path / "c.bvh", "--seed", 5)
    assert (tmp_path / "a.bvh").read_bytes() == (tmp_path / "b.bvh").read_bytes()
    assert (tmp_path / "a.bvh").read_bytes() != (tmp_path / "c.bvh").read_bytes()
    file.write_text("path: line\nadvanced:\n  beam_width: wide\n")
    with pytest.raises(
        RequestError, match=r"ask.yaml, line 3: advanced.beam_width is 'wide'; it must be a whole number"
    ):
        run(mog, "--request", file, "-o", tmp_path / "d.bvh")


def test_what_is_missed_is_said_with_exit_code_3(mog: Path, tmp_path: Path) -> None:
    words = ["follow", str(mog), "-p", "line:length=6", "--speed", "8", "-o", str(tmp_path / "w.bvh"), *QUICK]
    missed = CliRunner().invoke(app, words, catch_exceptions=False)
    assert missed.exit_code == 3 and "instead of 8 m/s" in missed.output and (tmp_path / "w.bvh").is_file()
    assert CliRunner().invoke(app, [*words, "--force", "--best-effort"], catch_exceptions=False).exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- 1\n- 2\n", r"ask.yaml: a request is an object with names and values; found \[1, 2\]"),
        ("just text\n", "ask.yaml: a request is an object"),
        ("path: line\nadvanced: 5\n", "ask.yaml, line 2: advanced is 5; it must be an object"),
    ],
)
def test_a_file_with_something_else_than_an_object_is_refused_whatever_options_say(
    mog: Path, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "ask.yaml"
    file.write_text(text)
    with pytest.raises(RequestError, match=said):
        run(mog, "--request", file, "-o", tmp_path / "a.bvh", "--seed", 5, *QUICK)


def test_what_was_taken_of_a_drawing_is_said(mog: Path, tmp_path: Path) -> None:
    file = tmp_path / "plan.svg"
    file.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"><path id="a" d="M0 0V400"/><path id="b" d="M0 0V9"/></svg>'
    )
    said = run(mog, "-p", file, "-o", tmp_path / "w.bvh", *QUICK)
    assert "the drawing has 2 lines" in said and "one unit of the drawing was taken as 1 cm" in said


def test_options_say_what_the_request_says() -> None:
    asked = FollowRequest(
        "eight:radius=2.5", smooth_m=0.25, facing_deg=30, prefer={"walk": 0.01}, count=2,
        advanced=FollowAdvanced(method="beam", forced_progress_m_s=0.1), finish={"clean": False},
    )  # fmt: skip
    words = as_options(asked)
    assert (
        words is not None
        and words[:2] == ["--path", "eight:radius=2.5"]
        and "--no-clean" in words
        and "forced_progress_m_s=0.1" in words
    )
    command = load_command("follow")
    values = command.make_context("follow", ["some.mog", "-o", "w.bvh", *words]).params
    assert read_request(FollowRequest, collect(FollowRequest, values)) == asked
    assert as_options(asked.with_(path="", points=((0.0, 0.0), (1.0, 2.0)))) is None
