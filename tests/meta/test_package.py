"""Promises about the package as a whole."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.meta.tree import modules

import choreograph
from choreograph.cli.main import TOOLS, load_command
from choreograph.verbs import rooms

HEAVY = ("numba", "matplotlib", "pygltflib", "pxr", "imageio_ffmpeg", "PIL", "scipy", "typer", "rich")
ROOT = Path(__file__).parents[2]


def test_public_names_are_sorted_and_there() -> None:
    assert list(choreograph.__all__) == sorted(set(choreograph.__all__))
    for name in choreograph.__all__:
        assert getattr(choreograph, name) is not None


def test_importing_is_light() -> None:
    code = f"import sys, choreograph; print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert found == "[]", f"`import choreograph` also imports {found}"


def test_every_command_explains_itself_with_an_example() -> None:
    wrong = []
    for name in sorted([*TOOLS, *rooms()]):
        command = load_command(name)
        if name in TOOLS and not " ".join((command.help or "").split()).startswith(TOOLS[name]):
            wrong.append(f"{name}: lists say something else than its help")
        for one in getattr(command, "commands", {name: command}).values():
            if "Example" not in one.help or f"choreograph {name}" not in one.help:
                wrong.append(f"{name}: help of {one.name} lacks an example")
        wrong += [f"{name}: {one.name} has no help" for one in command.params if not getattr(one, "help", None)]
    assert not wrong, "\n".join(wrong)


def test_library_code_never_prints_nor_sets_up_logging() -> None:
    wrong = [
        f"{module}:{node.lineno}"
        for module in modules()
        for node in module.nodes(ast.Call)
        if ast.unparse(node.func) in ("print", "logging.basicConfig")
    ]
    assert not wrong, "\n".join(wrong)


def licence(package: str) -> str:
    """What a package says about its licence, in one line; some put the whole text where a name belongs."""
    about = metadata.metadata(package)
    kinds = [word.rpartition(" :: ")[2] for word in about.get_all("Classifier", []) if word.startswith("License ::")]
    told = [about.get("License-Expression") or "", (about.get("License") or "").strip().split("\n")[0], *kinds]
    return "; ".join(dict.fromkeys(word for word in told if word))


def test_the_core_needs_nothing_under_the_gpl(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    seen: set[str] = set()
    left = [Requirement(text) for text in project["dependencies"]]
    while left:
        wanted = left.pop()
        if wanted.name in seen or (wanted.marker is not None and not wanted.marker.evaluate({"extra": ""})):
            continue
        seen.add(wanted.name)
        said = licence(wanted.name)
        assert said, f"{wanted.name} does not say under which licence it is"
        free = said.replace("LGPL", "").replace("Lesser General Public", "")
        assert "GPL" not in free and "General Public" not in free, f"{wanted.name}: {said}"
        left += [Requirement(text) for text in metadata.requires(wanted.name) or []]
    with capsys.disabled():
        print("\n" + "\n".join(f"  {name:20} {licence(name)[:90]}" for name in sorted(seen, key=str.lower)))
    # Their own files are under the BSD licence, the programs and libraries in their wheels are not.
    assert not seen & {"imageio-ffmpeg", "av"}


LOCKS = ("requirements/run.txt", "requirements/dev.txt")


@pytest.mark.parametrize("name", LOCKS)
def test_what_is_installed_is_written_down_by_name_version_and_hash(name: str) -> None:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    assert lines[0].startswith("# CPython 3.")
    pinned = [re.fullmatch(r"([a-z0-9-]+)==(\S+) --hash=sha256:[0-9a-f]{64}", line) for line in lines[1:]]
    assert all(pinned) and len({one[1] for one in pinned if one}) == len(pinned)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = {one[1]: one[2] for one in pinned if one}
    extras = ("studio", "film", "usd") if "run" in name else ("studio", "film", "usd", "notebook", "dev")
    for text in [*project["dependencies"], *(t for e in extras for t in project["optional-dependencies"][e])]:
        wanted = Requirement(text)
        if wanted.name != project["name"]:
            assert versions[wanted.name] in wanted.specifier, f"{text}: run `make upgrade`"


def test_make_demo_installs_what_the_studio_offers() -> None:
    """Whoever only runs `make demo` can export USD and films too."""
    (extras,) = re.findall(r"^RUN := (\S+)$", (ROOT / "Makefile").read_text(), re.M)
    locked = (ROOT / "requirements" / "run.txt").read_text()
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra in ("studio", "film", "usd"):
        assert extra in extras.split(",")
        for needed in known[extra]:
            assert re.search(rf"^{re.escape(Requirement(needed).name)}==", locked, re.M | re.I), f"{needed} of {extra}"


def test_npm_packages_are_written_down_without_addresses() -> None:
    text = (ROOT / "package-lock.json").read_text("utf-8")
    assert "://" not in text
    packages = json.loads(text)["packages"]
    assert packages[""]["devDependencies"] == json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    # Parts for systems on which nobody has run `make upgrade` have no hash.
    assert all("integrity" in package or package.get("optional") for name, package in packages.items() if name)


def test_there_is_a_licence_and_it_is_typed() -> None:
    assert (Path(choreograph.__file__).parent / "py.typed").is_file()


def test_reference_pages_are_made_from_the_code(tmp_path: Path) -> None:
    from choreograph.cli.reference import write_pages

    for page in write_pages(tmp_path):
        kept = Path(__file__).parents[2] / "docs" / "reference" / page.name
        assert kept.read_text("utf-8") == page.read_text("utf-8"), f"{kept} is not what the code says: make reference"
