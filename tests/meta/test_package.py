"""Promises about the package as a whole."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import choreograph
from choreograph.cli.main import TOOLS, load_command
from choreograph.verbs import rooms

SOURCES = sorted(Path(choreograph.__file__).parent.rglob("*.py"))
HEAVY = ("numba", "matplotlib", "pygltflib", "pxr", "imageio_ffmpeg", "PIL", "scipy", "typer", "rich")
COMMANDS = sorted([*TOOLS, *rooms()])


def test_public_names_are_sorted_and_there() -> None:
    assert list(choreograph.__all__) == sorted(set(choreograph.__all__))
    for name in choreograph.__all__:
        assert getattr(choreograph, name) is not None


def test_importing_is_light() -> None:
    code = f"import sys, choreograph; print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert found == "[]", f"`import choreograph` also imports {found}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name: str) -> None:
    command = load_command(name)
    said = " ".join((command.help or "").split())
    assert name in rooms() or said.startswith(TOOLS[name]), "lists say something else"
    for one in getattr(command, "commands", {name: command}).values():
        assert "Example" in one.help and f"choreograph {name}" in one.help, "help lacks an example"
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{name}: {parameter.name} has no help"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(Path(choreograph.__file__).parent)))
def test_library_code_never_prints_nor_sets_up_logging(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in ("print", "logging.basicConfig"), f"line {node.lineno}: {called}"


def test_the_core_needs_nothing_under_the_gpl() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    seen: set[str] = set()
    left = [Requirement(text) for text in project["dependencies"]]
    while left:
        wanted = left.pop()
        if wanted.name in seen or (wanted.marker is not None and not wanted.marker.evaluate({"extra": ""})):
            continue
        seen.add(wanted.name)
        about = metadata.metadata(wanted.name)
        words = [about.get("License-Expression") or "", *about.get_all("Classifier", [])]
        assert not any("GPL" in word.replace("LGPL", "") for word in words), f"{wanted.name}: {words}"
        left += [Requirement(text) for text in metadata.requires(wanted.name) or []]
    # Their own files are under the BSD licence, the programs and libraries in their wheels are not.
    assert not seen & {"imageio-ffmpeg", "av"}


def test_there_is_a_licence_and_it_is_typed() -> None:
    assert (Path(choreograph.__file__).parent / "py.typed").is_file()


def test_reference_pages_are_made_from_the_code(tmp_path: Path) -> None:
    from choreograph.cli.reference import write_pages

    for page in write_pages(tmp_path):
        kept = Path(__file__).parents[2] / "docs" / "reference" / page.name
        assert kept.read_text("utf-8") == page.read_text("utf-8"), f"{kept} is not what the code says: make reference"
