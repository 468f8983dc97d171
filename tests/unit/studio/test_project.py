"""The project in memory and on disk: undo, versions, damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from choreograph.base.errors import RequestError
from choreograph.studio import project as module
from choreograph.studio.document import ClipEntry, ProjectDocument
from choreograph.studio.facts import Recording, Result
from choreograph.studio.project import Project, Stale
from choreograph.studio.project_paths import ProjectPaths, find_places


@pytest.fixture
def places(tmp_path: Path) -> ProjectPaths:
    return find_places(tmp_path)


def rename(project: Project, name: str) -> None:
    project.change(f"Rename to {name}", project.document.model_copy(update={"name": name}))


def test_undo_and_redo_go_through_whole_documents(places: ProjectPaths) -> None:
    project = Project(places)
    first = project.document.name
    for name in ("a", "b", "c"):
        rename(project, name)
    assert (project.undo_label, project.redo_label, project.version) == ("Rename to c", None, 4)
    project.undo()
    project.undo()
    assert (project.document.name, project.undo_label, project.redo_label) == ("a", "Rename to a", "Rename to b")
    project.redo()
    assert project.document.name == "b"
    rename(project, "d")
    assert project.redo_label is None, "another way was taken"
    for _ in range(3):
        project.undo()
    assert project.document.name == first
    with pytest.raises(RequestError, match="nothing to undo"):
        project.undo()


def test_a_change_to_an_old_version_is_refused(places: ProjectPaths) -> None:
    project = Project(places)
    rename(project, "a")
    with pytest.raises(Stale, match="version 2"):
        project.change("x", ProjectDocument(name="late"), base=1)
    project.change("x", ProjectDocument(name="in time"), base=2)
    version = project.version
    project.change("nothing", project.document)
    assert project.version == version, "a change that changes nothing is none"


def test_everything_is_there_again_after_a_restart(places: ProjectPaths) -> None:
    project = Project(places)
    for name in ("a", "b"):
        rename(project, name)
    project.undo()
    project.view = project.view.model_copy(update={"theme": "light"})
    project.save()
    again = Project(places)
    assert (again.document, again.version, again.view) == (project.document, project.version, project.view)
    assert (again.undo_label, again.redo_label) == ("Rename to a", "Rename to b")
    again.redo()
    assert again.document.name == "b"


def test_the_history_is_bounded(places: ProjectPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEPS_KEPT", 5)
    project = Project(places)
    for number in range(20):
        rename(project, f"n{number}")
    steps = 0
    while project.undo_label:
        project.undo()
        steps += 1
    assert steps == 5 and project.document.name == "n14"
    monkeypatch.setattr(module, "HISTORY_BYTES", 1000)
    rename(project, "x" * 150)
    for number in range(9):
        rename(project, f"{number}" * 150)
    assert sum(len(step.document) for step in project._undo) <= 1000


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', '{"format": 99}', '{"format":1,"document":3}'])
def test_a_damaged_file_is_refused_with_what_to_do(places: ProjectPaths, content: str) -> None:
    places.project.write_text(content)
    with pytest.raises(RequestError, match=r"project\.json"):
        Project(places)
    assert places.project.read_text() == content, "it is left as it was"


def test_damaged_results_and_foreign_graphs_are_passed_over(places: ProjectPaths) -> None:
    (places.keep / "results" / "abc.json").write_text("{")
    (places.keep / "recordings" / "abc.json").write_text('{"id": "abc"}')
    places.graph_facts.write_text(json.dumps({"file": "/etc/passwd", "summary": {}, "curve": {}}))
    project = Project(places)
    assert not project.results and not project.recordings and project.graph_file is None


def test_bettered_results_can_be_had_a_while_longer(places: ProjectPaths) -> None:
    project = Project(places)
    count = module.FADING_KEPT + 2
    for number in range(count):
        made = Result(
            id=f"r{number:02d}", verb="plan", name="", created="", request={}, motions=[], command="", python=""
        )
        project.results[made.id] = made
        places.result(made.id, ".json").write_text(made.model_dump_json())
        places.result(made.id, ".frames").write_bytes(b"")
    for number in range(count - 1):
        project.fade_result(f"r{number:02d}")
    assert list(project.results) == [f"r{count - 1:02d}"]
    assert list(project.fading) == [f"r{number:02d}" for number in range(1, count - 1)], "the last few"
    assert not places.result("r00", ".frames").exists() and places.result("r01", ".frames").exists()
    again = Project(places)
    assert list(again.results) == [f"r{count - 1:02d}"] and not again.fading
    assert not places.result("r01", ".frames").exists(), "nothing of them is left"


def test_documents_may_only_name_what_is_there(places: ProjectPaths) -> None:
    project = Project(places)
    about = {"name": "walk", "file": "walk.bvh", "format": "bvh", "fps": 30, "skeleton": "s", "joints": [], "notes": []}
    project.add_recordings([Recording(id="r", frames=100, labels=[], **about)])  # type: ignore[arg-type]
    good = ClipEntry(id="a", source="r", name="walk", trim=(10, 20))
    project.change("Add", ProjectDocument(clips=[good]))
    for wrong, why in (
        ({"source": "x"}, "not there"),
        ({"trim": (20, 10)}, "trimmed"),
        ({"trim": (0, 101)}, "its recording has 100"),
        ({"labels": [{"text": "x", "start": 5, "stop": 11}]}, "within the 10 frames"),
    ):
        entry = ClipEntry.model_validate({**good.model_dump(), **wrong})
        with pytest.raises(RequestError, match=why):
            project.change("x", ProjectDocument(clips=[entry]))
    with pytest.raises(RequestError, match="two clips"):
        project.change("x", ProjectDocument(clips=[good, good]))
