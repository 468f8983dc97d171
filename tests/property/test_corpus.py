"""What once broke a reader, or took minutes or gigabytes, is now read or refused in one sentence."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from tests.fuzz import more_targets as more
from tests.fuzz import own_targets as own
from tests.fuzz.more_targets import use_request
from tests.fuzz.targets import use_path

from choreograph.base.errors import ChoreographError
from choreograph.formats import read_clip

CORPUS = Path(__file__).parents[1] / "corpus"
READERS = {
    "path": use_path,
    "request": partial(use_request, "follow"),
    "usd": lambda path, _: read_clip(path),
    "model": more.use_model,
    "markers": more.use_markers,
    "face": more.use_face,
    "head": more.use_face_glb,
    "track": more.use_track,
    "script": more.use_script,
    "obstacles": more.use_obstacles,
    "messages": more.use_messages,
    "layer": partial(use_request, "layer"),
    "character": more.use_character,
    "roles": own.use_roles,
    "project": own.use_project,
    "query": own.use_query,
    "page": own.use_said,
}
UNNAMED = ("messages", "query", "page", "roles", "project")
"""What is no file of that name, or is moved to where it belongs before it is read."""
KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())
CURVES = "C 1 1 2 2 3 3 "


def svg(commands: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg"><path d="M 0 0 {commands}"/></svg>'


LARGE = {
    "anchors.yaml": lambda: "\n".join(f"k{n}: &a{n} 1" for n in range(100_000)),
    "digits.yaml": lambda: "seed: " + "9" * 1_000_000,
    "based.yaml": lambda: "seed: 0x" + "f" * 1_000_000,
    "digits.json": lambda: f'{{"seed": {"9" * 1_000_000}}}',
    "names.json": lambda: f'{{"{"x" * 2_000_000}": 1}}',
    "values.json": lambda: f'{{"path": "{"x" * 2_000_000}"}}',
    "nested.json": lambda: "[" * 1_000_000,
    "mistakes.json": lambda: json.dumps({"points": [["a", "b"]] * 190_000}),
    "unknown.json": lambda: json.dumps({f"k{n}": 1 for n in range(400_000)}),
    "unknown_inside.json": lambda: json.dumps({"search": {f"k{n}": 1 for n in range(400_000)}}),
    "empty_lists.json": lambda: "[" + "[]," * 2_000_000 + "0]",
    "long_name.json": lambda: json.dumps({"path": f"{'ü' * 2000}.csv"}),
    "zero_name.json": lambda: json.dumps({"path": "a\0.csv"}),
    "curves.svg": lambda: svg(CURVES * 400_000),
    "segments.svg": lambda: svg("h1" * 3_000_000),
    "nested.path.json": lambda: "[" * 1_000_000,
    "digits.path.json": lambda: f"[[0, 0], [1, {'9' * 1_000_000}]]",
    "digits.csv": lambda: "x,z\n0,0\n1," + "9" * 1_000_000,
    "header.csv": lambda: "x" * 2_000_000 + ",z\n0,0\n1,1\n",
    "unit.path.json": lambda: f'{{"points": [[0, 0], [1, 1]], "unit": "{"m" * 1_000_000}"}}',
}

ROW = "0,1,0,0\n1,1,0,0\n"
TABLES = {
    "nul.track": lambda: "0,0,0\n\x00,1,1\n1,1,1\n",
    "long_cell.track": lambda: "0,0,0\n" + "9" * 200_000 + ",1,1\n",
    "infinite.track": lambda: "0,0,0\n1e999,1,1\n",
    "many.track": lambda: "1,1,1\n" * 200_000,
    "wide.track": lambda: ",".join("1" * 100_000) + "\n" + ROW,
    "long_cell.script": lambda: "t,x,z,heading_deg,speed\n0,0,0,0," + "a" * 100_000,
    "long_name.script": lambda: "t,x,z,heading_deg,speed," + "a" * 100_000 + "\n",
    "crowd.obstacles": lambda: "t,id,x,z,radius\n" + "".join(f"0,{k},0,0,1\n" for k in range(5000)),
    "giant.obstacles": lambda: "t,id,x,z,radius\n0,a,0,0,1e5\n",
    "at_once.obstacles": lambda: "t,id,x,z,radius\n0,a,0,0,1\n1e-300,a,9,0,1\n",
    "late.face": lambda: "Timecode,JawOpen\n1e308:00:00:00,0\n1e308:00:00:01,0\n",
    "next_year.face": lambda: "Timecode,JawOpen\n00:00:00:00,0\n00:00:00:01,0\n23:00:00:00,0\n",
    "long_shape.face": lambda: f"Timecode,{'a' * 100_000}\n00:00:00:00,9\n00:00:00:01,9\n",
    "huge_number.messages": lambda: '{"type": "goal", "x": 1' + "0" * 400 + "}",
    "huge_points.messages": lambda: '{"type": "goal", "points": [[0, 0], [1, 1' + "0" * 400 + "]]}",
    "far_points.messages": lambda: '{"type": "goal", "points": [[0, 0], [1e300, 1]]}',
    "nan.messages": lambda: '{"type": "goal", "x": NaN}',
    "deep.messages": lambda: "[" * 100_000,
    "long_type.messages": lambda: f'{{"type": "{"a" * 1_000_000}"}}',
    "deep.roles": lambda: "[" * 90_000,
    "long.roles": lambda: json.dumps({"x" * 50_000: "LeftFoot"}),
    "large.roles": lambda: json.dumps({f"k{n}": "a" for n in range(50_000)}),
    "unknown.roles": lambda: '{"left_foot": "nobody"}',
    "deep.project": lambda: "[" * 900_000,
    "no_table.project": lambda: '{"format": 2, "document": 5}',
    "open.query": lambda: "(" * 1999,
    "quote.query": lambda: "walk " * 399 + '"',
    "long.query": lambda: "walk " * 1_000_000,
    "long_motion.page": lambda: f'{{"type": "play", "motion": "{"x" * 3_000_000}"}}',
    "long_type.page": lambda: f'{{"type": "{"x" * 3_000_000}"}}',
    "number.page": lambda: '{"type": "ask", "verb": "bend", "number": 1, "ask": {"path": 5}}',
    "long.messages": lambda: '{"type": "goal", "x": "' + "a" * 3_000_000 + '"}',
}


def read(path: Path, kind: str) -> None:
    try:
        READERS[kind](path, 0)
    except ChoreographError as error:
        said = str(error)
        assert len(said) < 1500 + len(str(path)) and "\n" not in said
        assert path.name in said or kind in UNNAMED


@pytest.mark.parametrize("path", KEPT, ids=[f"{path.parent.name}/{path.name}" for path in KEPT])
def test_small_files(path: Path, tmp_path: Path) -> None:
    if path.parent.name == "usd":
        pytest.importorskip("pxr", reason="needs the usd extra")
    shutil.copytree(path.parent, tmp_path, dirs_exist_ok=True)  # readers may write beside what they read
    read(tmp_path / path.name, path.parent.name)


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.timeout(60)  # they took minutes, or did not end
def test_large_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(LARGE[name]())
    drawn = path.suffix in (".svg", ".csv") or ".path." in name
    read(path, "path" if drawn else "request")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the high-water mark from /proc")
def test_mistakes_by_the_thousand_take_little_memory(tmp_path: Path) -> None:
    for name in ("mistakes", "unknown", "unknown_inside", "empty_lists"):
        (tmp_path / f"{name}.json").write_text(LARGE[f"{name}.json"]())
    code = (
        "import re, sys; from pathlib import Path; import choreograph as cg\n"
        "from choreograph.contract.document import read_request_file\n"
        "peak = lambda: int(re.search(r'VmHWM:\\s*(\\d+)', Path('/proc/self/status').read_text())[1]) >> 10\n"
        "cg.FollowRequest(path='eight'); before = peak()\n"
        "for name in sys.argv[1:]:\n"
        "    try: read_request_file(cg.FollowRequest, name)\n"
        "    except cg.RequestError as error: assert len(str(error)) < 1500\n"
        "print(peak() - before)"
    )
    words = [sys.executable, "-c", code, *map(str, sorted(tmp_path.glob("*.json")))]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 300, "megabytes"


@pytest.mark.parametrize("name", TABLES)
def test_tables_and_messages(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(TABLES[name]())
    with pytest.raises(ChoreographError):
        READERS[path.suffix[1:]](path, 0)
    read(path, path.suffix[1:])
