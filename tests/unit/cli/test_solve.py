"""`choreograph solve` on a small graph of demo motion."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import choreograph as cg
from choreograph.base.errors import ChoreographError, OutputExists, RequestError
from choreograph.build.graph import build_graph
from choreograph.cli.main import app
from choreograph.demo import demo_clip
from choreograph.formats import read_clip
from choreograph.graph import cache
from choreograph.graph.store import save_graph
from choreograph.motion.clip import Clip
from choreograph.verbs.solve.person import Person
from choreograph.verbs.solve.request import SolveRequest

REQUEST: dict[str, Any] = {
    "duration_s": 4,
    "goals": [
        {"at_s": 0, "place": [0, 0], "facing_deg": 0},
        {"at_s": 4, "place": [2.0, 3.0], "facing_deg": 90},
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


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["solve", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def test_it_writes_answers_that_are_where_they_should_be(mog: Path, request_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = run(mog, request_file, "-o", out, "-n", 2, "--work-limit", 60_000, "--apart", 0.2)
    assert "answer_1.bvh: " in said and "torso off by at most 0 m" in said
    result = json.loads((out / "answers.json").read_text())
    assert len(result["answers"]) == 2
    assert result["request"] == {**REQUEST, "count": 2, "work_limit": 60_000, "apart_m": 0.2}
    assert result["verb"] == "solve" and result["graph"] == str(mog) and not result["problems"]
    for number, answer in enumerate(result["answers"], 1):
        clip = read_clip(out / f"answer_{number}.bvh")
        assert clip.seconds == pytest.approx(4 + 1 / clip.fps)
        assert clip.root_pos[-1, [0, 2]] == pytest.approx([2.0, 3.0], abs=1e-3)
        assert sum(piece["stop"] - piece["start"] for piece in answer["pieces"]) == 121


def test_a_kept_search_is_gone_on_with(mog: Path, request_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(mog, request_file, "-o", out, "-n", 1, "--work-limit", 5_000)
    before = json.loads((out / "answers.json").read_text())
    run(mog, request_file, "-o", out, "-n", 1, "--work-limit", 40_000, "--resume")
    after = json.loads((out / "answers.json").read_text())
    assert after["evaluations"] >= before["evaluations"] + 40_000
    assert after["answers"][0]["score"] <= before["answers"][0]["score"]


def test_answers_that_are_no_longer_named_are_removed(mog: Path, request_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = (mog, request_file, "-o", out, "--work-limit", 60_000, "--apart", 0.1)
    run(*words, "-n", 3, "--format", "amc")
    (out / "answer_9.bvh").write_text("mine")
    whole = {f"answer_{n}.{suffix}" for n in (1, 2, 3) for suffix in ("amc", "asf")}
    rest = {"answer_9.bvh", "answers.json", "search.json"}
    assert {path.name for path in out.iterdir()} == whole | rest
    run(*words, "-n", 2, "--resume")
    assert {path.name for path in out.iterdir()} == {"answer_1.bvh", "answer_2.bvh"} | rest
    run(*words, "-n", 1, "--force")
    assert {path.name for path in out.iterdir()} == {"answer_1.bvh"} | rest
    assert json.loads((out / "answers.json").read_text())["answers"][0]["files"] == ["answer_1.bvh"]


def test_nothing_but_answers_of_the_folder_can_be_removed(mog: Path, request_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for file in ("precious.txt", "out/notes.txt", "out/answer_7.bvh"):
        (tmp_path / file).write_text("mine")
    named = ["../precious.txt", "notes.txt", "answer_7.bvh", "answer_/../notes.txt", 3]
    (out / "answers.json").write_text(json.dumps({"answers": [{"files": named}, 4]}))
    run(mog, request_file, "-o", out, "-n", 1, "--work-limit", 500, "--force")
    assert (tmp_path / "precious.txt").exists() and (out / "notes.txt").exists()
    assert not (out / "answer_7.bvh").exists()


def test_the_seed_of_a_kept_search_rules(mog: Path, request_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = (mog, request_file, "-o", out, "-n", 1, "--work-limit", 500)
    run(*words, "--seed", 5)
    with pytest.raises(RequestError, match=r"--seed is 7, but the search in .*search.json began with 5"):
        run(*words, "--resume", "--seed", 7)
    run(*words, "--resume", "--seed", 5)
    run(*words, "--resume")
    assert json.loads((out / "answers.json").read_text())["seed"] == 5


def test_a_kept_search_goes_on_with_a_changed_request(mog: Path, request_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = (mog, request_file, "-o", out, "-n", 1, "--work-limit", 5_000)
    run(*words)
    assert "the request is not the one" not in run(*words, "--resume")
    changed = {**REQUEST, "goals": [REQUEST["goals"][0], {"at_s": 4, "place": [2.2, 3.1]}]}
    request_file.write_text(json.dumps(changed))
    assert "the request is not the one" in run(*words, "--resume")
    kept = json.loads((out / "answers.json").read_text())["request"]
    assert kept == {**changed, "count": 1, "work_limit": 5_000}
    assert read_clip(out / "answer_1.bvh").root_pos[-1, [0, 2]] == pytest.approx([2.2, 3.1], abs=1e-3)
    request_file.write_text(json.dumps({**REQUEST, "duration_s": 5}))
    assert "the request is not the one" in run(*words, "--resume")
    assert read_clip(out / "answer_1.bvh").seconds > 5


def damage(**change: object) -> Callable[[dict[str, Any]], object]:
    return lambda state: {**state, **change}


@pytest.mark.parametrize(
    "change",
    [
        lambda state: [],
        lambda state: {},
        damage(batches=[[0, 900, 901]]),
        damage(batches=[[1, 0, 10**6]]),
        damage(batches=[[7, 0, 0]]),
        damage(batches=[[0, -5, 0]]),
        damage(batches=[[0, 0, 0]] * 100_000),
        damage(batches=[1, 2]),
        damage(batches=[[0, 0, 1]], tried=2),
        damage(tried=-1),
        damage(chance=0),
        damage(chance=-3),
        damage(chance=2**70),
        damage(seed="5"),
        damage(minima=3),
        damage(minima=[{"starts": [[1]], "stops": 3, "nodes": None}]),
        damage(waiting=[[]]),
        damage(evaluations=None),
    ],
)
def test_a_damaged_search_is_refused(
    mog: Path, request_file: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    out = tmp_path / "out"
    words = (mog, request_file, "-o", out, "-n", 1, "--work-limit", 5)
    run(*words, "--no-clean")
    state = json.loads((out / "search.json").read_text())
    assert state["current"] is not None
    (out / "search.json").write_text(json.dumps(change(state)))
    with pytest.raises(RequestError, match=r"search.json: the saved search is damaged"):
        run(*words, "--resume")


@pytest.mark.parametrize("seconds", ["inf", "nan", "0", "1e300"])
def test_searches_end(mog: Path, request_file: Path, tmp_path: Path, seconds: str) -> None:
    with pytest.raises(RequestError, match=r"^--time-limit is .*; it must be a number (from )?0.01"):
        run(mog, request_file, "-o", tmp_path / "out", "--time-limit", seconds)


@pytest.mark.parametrize(
    ("document", "error", "said"),
    [
        ({**REQUEST, "goals": [{"at_s": 1, "joint": "tail", "position": [0, 0, 0]}]}, RequestError, "is no joint"),
        ({**REQUEST, "duration_s": 3}, RequestError, r"goals\[1\].at_s is 4"),
    ],
)  # fmt: skip
def test_mistakes_write_nothing(
    mog: Path, tmp_path: Path, document: dict[str, object], error: type[ChoreographError], said: str
) -> None:
    (tmp_path / "r.json").write_text(json.dumps(document))
    with pytest.raises(error, match=said):
        run(mog, tmp_path / "r.json", "-o", tmp_path / "out", "--work-limit", 1000)
    assert not (tmp_path / "out").exists()


def test_nothing_is_overwritten_unasked(mog: Path, request_file: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "answer_1.bvh").write_text("precious")
    with pytest.raises(OutputExists):
        run(mog, request_file, "-o", tmp_path / "out", "--work-limit", 1000)
    with pytest.raises(RequestError, match="no search to go on from"):
        run(mog, request_file, "-o", tmp_path / "out", "--work-limit", 1000, "--resume")
    assert (tmp_path / "out" / "answer_1.bvh").read_text() == "precious"


def test_yaml_and_a_function_that_must_be_allowed(mog: Path, tmp_path: Path) -> None:
    (tmp_path / "style.py").write_text(
        "def upright(c):\n    return 0 * c.times_s + 0.01\n\ndef odd(c):\n    return 1 / 0\n"
    )
    (tmp_path / "r.yaml").write_text(
        "duration_s: 4\ngoals:\n  - {at_s: 0, place: [0, 0], facing_deg: 0}\n  - {at_s: 4, place: [2, 3]}\n"
        "  - {function: 'style.py:upright'}\n"
    )
    words = (mog, tmp_path / "r.yaml", "-o", tmp_path / "out", "-n", 1, "--work-limit", 3_000)
    with pytest.raises(RequestError, match="--allow-code"):
        run(*words)
    assert not (tmp_path / "out").exists()
    assert "upright costs" in run(*words, "--allow-code")
    result = json.loads((tmp_path / "out" / "answers.json").read_text())
    assert result["request"]["goals"][2:] == [{"function": "style.py:upright"}]
    (tmp_path / "r.yaml").write_text((tmp_path / "r.yaml").read_text().replace("upright", "odd"))
    with pytest.raises(RequestError, match=r"goals\[2\] \(odd\) raised ZeroDivisionError"):
        run(mog, tmp_path / "r.yaml", "-o", tmp_path / "other", "--work-limit", 1_000, "--allow-code")
    assert not (tmp_path / "other").exists()


def test_hierarchies_are_built_once_for_each_greatest_cost(
    mog: Path, request_file: Path, tmp_path: Path, empty_cache: Path
) -> None:
    before = mog.read_bytes()
    words = (mog, request_file, "-n", 1, "--work-limit", 500)
    for number, extra in enumerate(((), ("--advanced", "max_cut_cost=3"), (), ("--advanced", "max_cut_cost=3"))):
        run(*words, "-o", tmp_path / f"out{number}", *extra)
    assert [entry.kind for entry in cache.list_entries()] == ["hierarchy", "hierarchy"]
    shutil.rmtree(empty_cache)
    empty_cache.write_text("a file is in the way")
    run(*words, "-o", tmp_path / "out4")
    answers = [(tmp_path / f"out{number}" / "answer_1.bvh").read_text() for number in (0, 2, 4)]
    assert answers[0] == answers[1] == answers[2]
    assert mog.read_bytes() == before


def test_what_is_out_of_reach_is_said(mog: Path, tmp_path: Path) -> None:
    asked = {**REQUEST, "goals": [*REQUEST["goals"], {"at_s": 2, "joint": "head", "position": [None, 3, None]}]}
    (tmp_path / "r.json").write_text(json.dumps(asked))
    words = (mog, tmp_path / "r.json", "-o", tmp_path / "out", "-n", 1, "--work-limit", 500)
    said = run(*words, code=3)
    assert run(*words, "--force", "--best-effort") == said
    assert "'head' at a height of 3.00 m at 2 s is out of reach; the nearest is 1." in said
    [problem] = json.loads((tmp_path / "out" / "answers.json").read_text())["answers"][0]["problems"]
    assert problem["where"] == "goals[2].position" and problem["asked"] == 3 and 1 < problem["nearest"] < 2
    assert problem["text"] in said.replace("\n", "")


def test_what_stays_missed_after_finishing_is_said(mog: Path, tmp_path: Path) -> None:
    far = {**REQUEST, "goals": [REQUEST["goals"][0], {"at_s": 4, "place": [0, 60]}]}
    (tmp_path / "r.json").write_text(json.dumps(far))
    said = run(mog, tmp_path / "r.json", "-o", tmp_path / "out", "-n", 1, "--work-limit", 500, code=3)
    answer = json.loads((tmp_path / "out" / "answers.json").read_text())["answers"][0]
    missed = answer["metrics"]["body_worst"]["value"]
    assert f"The torso is {missed:.0f} m from its target at 4.0 s." in said
    last = read_clip(tmp_path / "out" / "answer_1.bvh").root_pos[-1, [0, 2]]
    assert np.linalg.norm(last - [0, 60]) == pytest.approx(missed, abs=0.2)  # the root is not the torso


@pytest.mark.parametrize("suffix", ["bvh", "glb"])
def test_two_who_meet_one_with_a_graph_of_his_own(mog: Path, tmp_path: Path, suffix: str) -> None:
    (tmp_path / "ben.mog").write_bytes(mog.read_bytes())
    (tmp_path / "r.yaml").write_text(
        """
        duration_s: 4
        characters:
          anna: {goals: [{at_s: 0, place: [0, 0], facing_deg: 0}]}
          ben: {graph: ben.mog}
        meet:
          - at_s: 3
            who: [anna, ben]
            poses: [{clip: walk, frame: 120}, {clip: walk, frame: 100}]
            offset: {left_m: 0, ahead_m: 1.2, turned_deg: 180}
        """
    )
    words = (mog, tmp_path / "r.yaml", "-o", tmp_path / "out", "-n", 1, "--work-limit", 5_000, "--format", suffix)
    said = run(*words, "--no-clean")
    assert "anna: " in said and "ben: " in said
    out = tmp_path / "out"
    if suffix == "bvh":
        anna, ben = (read_clip(out / f"answer_1_{name}.bvh") for name in ("anna", "ben"))
        at = round(3 * anna.fps)
        gap = anna.global_positions()[at, anna.skeleton.hips] - ben.global_positions()[at, ben.skeleton.hips]
        assert np.hypot(gap[0], gap[2]) == pytest.approx(1.2, abs=1e-3)
    else:
        assert [p.name for p in sorted(out.iterdir())] == ["answer_1.glb", "answers.json"]
        assert json.loads((out / "answers.json").read_text())["answers"][0]["characters"].keys() == {"anna", "ben"}
    (tmp_path / "ben.mog").unlink()
    with pytest.raises(RequestError, match=r"characters.ben.graph: .*ben.mog: "):
        run(*words, "--force")
    with pytest.raises(RequestError, match="holds no search to go on from"):
        run(*words, "--resume")
    with pytest.raises(OutputExists):
        run(*words)


@pytest.mark.slow
def test_a_picture_and_a_film_beside_the_motions(mog: Path, request_file: Path, tmp_path: Path) -> None:
    words = (mog, request_file, "-o", tmp_path / "out", "-n", 2, "--work-limit", 20_000, "--apart", 0.1)
    for extra, said in (
        (("--picture", "p.svg"), "pictures are written as .png, not .svg"),
        (("--render", "f"), "films"),
    ):
        with pytest.raises(RequestError, match=said):
            run(*words, *extra)
    picture, film = tmp_path / "best.png", tmp_path / "best.gif"
    picture.write_text("precious")
    with pytest.raises(OutputExists):
        run(*words, "--picture", picture)
    assert picture.read_text() == "precious" and not (tmp_path / "out").exists()
    run(*words, "--picture", picture, "--render", film, "--force")
    assert picture.read_bytes().startswith(b"\x89PNG") and film.read_bytes().startswith(b"GIF8")


def test_pictures_of_several_people_show_where_they_meet(
    mog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "r.yaml").write_text(
        """
        duration_s: 4
        characters:
          anna: {goals: [{at_s: 0, place: [0, 0], facing_deg: 0}]}
          ben: {goals: [{at_s: 0, place: [0, 4], facing_deg: 180}]}
        meet:
          - {at_s: 3, who: [anna, ben], poses: [{clip: walk, frame: 120}, {clip: walk, frame: 100}], duration_s: 0.5,
             offset: {left_m: 0, ahead_m: 1, turned_deg: 180}}
        """
    )
    drawn: list[tuple[int, list[list[float]]]] = []

    def draw(clips: list[Clip], people: list[Person], settings: None, others: list[Clip]) -> np.ndarray:
        drawn.append((len(clips), [[target.at_s for target in one.body] for one in people]))
        return np.zeros((8, 8, 3), np.uint8)

    monkeypatch.setattr("choreograph.verbs.solve.picture.draw_solved", draw)
    out = tmp_path / "out"
    said = run(mog, tmp_path / "r.yaml", "-o", out, "-n", 1, "--work-limit", 20_000, "--no-clean",
               "--picture", tmp_path / "p.png")  # fmt: skip
    assert drawn == [(2, [[0, 3], [0, 3]])]
    assert f"{out / 'answer_1_anna.bvh'}, {out / 'answer_1_ben.bvh'}: anna: " in said and "; ben: " in said
    named = json.loads((out / "answers.json").read_text())["answers"][0]
    assert named["files"] == ["answer_1_anna.bvh", "answer_1_ben.bvh"]
    assert [e["where"] for e in named["characters"]["ben"]["errors"]] == ["characters.ben.goals[0]", "meet[0]"]


def test_the_schema_is_printed_alone() -> None:
    schema = json.loads(run("--schema"))
    assert schema == SolveRequest.model_json_schema() and schema["required"] == ["duration_s"]


def test_options_and_file_say_one_request_together(mog: Path, request_file: Path, tmp_path: Path) -> None:
    words = ("-n", 1, "--work-limit", 20_000, "--min-piece", 0.5, "--seed", 4, "--no-clean", "--format", "npz")
    run(mog, request_file, "-o", tmp_path / "out", *words)
    wanted = {"count": 1, "work_limit": 20_000, "min_piece_s": 0.5, "seed": 4, "finish": {"clean": False}}
    request = cg.read_request(SolveRequest, {**REQUEST, **wanted})
    clip = cg.solve(cg.open_graph(mog), request).clip
    written = read_clip(tmp_path / "out" / "answer_1.npz")
    assert np.array_equal(written.root_pos, clip.root_pos) and np.array_equal(written.local_rot, clip.local_rot)
    assert (
        cg.read_request(SolveRequest, json.loads((tmp_path / "out" / "answers.json").read_text())["request"]) == request
    )
    (tmp_path / "short.json").write_text(json.dumps({"goals": REQUEST["goals"]}))
    with pytest.raises(RequestError, match=r"short.json: duration_s is missing"):
        run(mog, tmp_path / "short.json", "-o", tmp_path / "two")
    run(mog, tmp_path / "short.json", "-o", tmp_path / "two", "--duration", 4, "-n", 1, "--work-limit", 500)


def test_a_request_that_is_not_there_gets_a_sentence(mog: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"nope.yaml: cannot be read: No such file or directory$"):
        run(mog, tmp_path / "nope.yaml", "-o", tmp_path / "out")
    with pytest.raises(RequestError, match=r"nothing is asked for: --duration is missing. Give it, or a file: solve"):
        run(mog, "-o", tmp_path / "out")


def test_too_few_answers_are_said(mog: Path, request_file: Path, tmp_path: Path) -> None:
    said = run(mog, request_file, "-o", tmp_path / "out", "-n", 50, "--work-limit", 2_000, "--apart", 3)
    assert re.search(r"\d+ of 50 different answers found\. Search longer, or lower the distance of 3 m", said)


def test_the_bar_tells_seconds_and_the_score(
    mog: Path, request_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr("choreograph.cli.common.err_console", Console(file=screen, force_terminal=True, width=120))
    run(mog, request_file, "-o", tmp_path / "out", "-n", 1, "--time-limit", 0.5, "--no-clean")
    assert re.search(r"0\.\d/0\.5 s, score \d\.\d{4}", screen.getvalue())
