"""A request file in the place of a verb's subject, which names the subject itself."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from choreograph.cli.main import app
from choreograph.demo import demo_clip
from choreograph.formats import read_clip, write_clip


def _run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, " ".join(done.output.split()) + str(done.exception or "")


def test_a_request_names_its_motion_beside_it(tmp_path: Path) -> None:
    write_clip(tmp_path / "jump.bvh", demo_clip("jump_high", 60.0))
    (tmp_path / "request.yaml").write_text("motion: jump.bvh\nbody: {mass_kg: 62}\n")
    code, _ = _run("dynamics", str(tmp_path / "request.yaml"), "--result", str(tmp_path / "out.json"))
    assert code == 0
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["request"] == {"body": {"mass_kg": 62}} and written["clip"] == str(tmp_path / "jump.bvh")


def test_options_count_before_the_file(tmp_path: Path) -> None:
    clip = demo_clip("walk", 60.0)
    write_clip(tmp_path / "walk.bvh", clip)
    (tmp_path / "request.json").write_text('{"motion": "walk.bvh", "seconds": 1.0}')
    out = tmp_path / "out.bvh"
    code, said = _run("retime", str(tmp_path / "request.json"), "--seconds", "1.5", "-o", str(out))
    assert code == 0, said
    assert abs(read_clip(out).seconds - 1.5) < 0.05


def test_what_a_verb_finds_wrong_is_named_with_its_line(tmp_path: Path) -> None:
    write_clip(tmp_path / "walk.bvh", demo_clip("walk", 60.0))
    out = ("-o", str(tmp_path / "out.bvh"))
    for file, text, line in (
        ("ask.yaml", "motion: walk.bvh\ncycles: 2\n\nstart_s: 99\n", 4),
        ("ask.json", '{"motion": "walk.bvh",\n "start_s": 99}', 2),
    ):
        (tmp_path / file).write_text(text)
        code, said = _run("loop", str(tmp_path / file), *out)
        assert code != 0 and f"{file}, line {line}: 99 s is behind the motion's end" in said
    # One that an option says is in no line of it, nor is one that it leaves out.
    for start in (("--start", "98"), ("--start", "98", "--request", str(tmp_path / "ask.yaml"))):
        (tmp_path / "ask.yaml").write_text("start_s: 0.1\n")
        code, said = _run("loop", str(tmp_path / "walk.bvh"), *start, *out)
        assert code != 0 and "98 s is behind the motion's end" in said and "line" not in said, said


def test_a_request_without_a_motion_says_how_to_name_one(tmp_path: Path) -> None:
    (tmp_path / "request.yaml").write_text("cutoff_hz: 6\n")
    code, said = _run("dynamics", str(tmp_path / "request.yaml"))
    assert code != 0 and "names no motion" in said


def test_its_own_mistakes_are_named_with_their_lines(tmp_path: Path) -> None:
    write_clip(tmp_path / "jump.bvh", demo_clip("jump_high", 60.0))
    (tmp_path / "request.yaml").write_text("motion: jump.bvh\n\ncutoff: 6\n")
    code, said = _run("dynamics", str(tmp_path / "request.yaml"))
    assert code != 0 and "line 3" in said
