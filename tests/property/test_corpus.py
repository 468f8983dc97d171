"""What once broke a reader, or took minutes or gigabytes, is now read or refused in one sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.fuzz.targets import use_path, use_request

from choreograph.errors import ChoreographError
from choreograph.formats import read_clip

CORPUS = Path(__file__).parents[1] / "corpus"
READERS = {"path": use_path, "request": partial(use_request, "follow"), "usd": lambda path, _: read_clip(path)}
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
    "curves.svg": lambda: svg(CURVES * 400_000),
    "segments.svg": lambda: svg("h1" * 3_000_000),
    "nested.path.json": lambda: "[" * 1_000_000,
    "digits.path.json": lambda: f"[[0, 0], [1, {'9' * 1_000_000}]]",
    "digits.csv": lambda: "x,z\n0,0\n1," + "9" * 1_000_000,
    "header.csv": lambda: "x" * 2_000_000 + ",z\n0,0\n1,1\n",
    "unit.path.json": lambda: f'{{"points": [[0, 0], [1, 1]], "unit": "{"m" * 1_000_000}"}}',
}


def read(path: Path, kind: str) -> None:
    try:
        READERS[kind](path, 0)
    except ChoreographError as error:
        said = str(error)
        assert path.name in said and len(said) < 1500 + len(str(path)) and "\n" not in said


@pytest.mark.parametrize("path", KEPT, ids=[f"{path.parent.name}/{path.name}" for path in KEPT])
def test_small_files(path: Path) -> None:
    if path.parent.name == "usd":
        pytest.importorskip("pxr", reason="needs the usd extra")
    read(path, path.parent.name)


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.timeout(60)  # they took minutes, or did not end
def test_large_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(LARGE[name]())
    drawn = path.suffix in (".svg", ".csv") or ".path." in name
    read(path, "path" if drawn else "request")
