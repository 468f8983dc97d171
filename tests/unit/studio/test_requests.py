"""Which files a request may name in the studio: those of the project's folder, whatever way they are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from choreograph.base.errors import RequestError
from choreograph.studio.requests import read_draft
from choreograph.verbs import find_verb

LEADS_OUT = (
    *("../secret.bvh", "in/../../secret.bvh", "/etc/passwd", "~/secret.bvh", "~root/x.bvh", "link.bvh", "li*.bvh"),
    *("linked/secret.bvh", "linked", "in", "**/*.bvh", "**/**/x.bvh"),
)
FIELDS = {"retime": "like", "physics": "like", "retarget": "to", "layer": "upper", "perform": "leader"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project's folder with links that lead out of it."""
    folder = tmp_path / "project"
    (folder / "in").mkdir(parents=True)
    (folder / "own").mkdir()
    (tmp_path / "secret.bvh").write_text("x")
    (folder / "own" / "walk.bvh").write_text("x")
    (folder / "link.bvh").symlink_to(tmp_path / "secret.bvh")
    (folder / "linked").symlink_to(tmp_path)
    (folder / "in" / "one.bvh").symlink_to(tmp_path / "secret.bvh")
    return folder


@pytest.mark.parametrize("verb", FIELDS)
@pytest.mark.parametrize("name", LEADS_OUT)
def test_nothing_outside_is_named(home: Path, verb: str, name: str) -> None:
    value = [name] if FIELDS[verb] == "like" else name
    with pytest.raises(RequestError, match="files of its own folder"):
        read_draft(find_verb(verb), {FIELDS[verb]: value}, home)


@pytest.mark.parametrize("name", ["own/walk.bvh", "own", "own/*.bvh", "nobody.bvh", "x" * 4000])
def test_what_is_inside_is_named(home: Path, name: str) -> None:
    read_draft(find_verb("physics"), {"like": [name]}, home)


def test_names_that_no_file_can_have_are_refused(home: Path) -> None:
    with pytest.raises(RequestError, match="NUL"):
        read_draft(find_verb("retarget"), {"to": "a\0.bvh"}, home)
    with pytest.raises(RequestError) as caught:
        read_draft(find_verb("retarget"), {"to": "/" + "x" * 4000}, home)
    assert len(str(caught.value)) < 500
