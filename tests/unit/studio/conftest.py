"""Studios to test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.studio.running import CLIPS, Studio, opened

from choreograph.demo import demo_clip
from choreograph.formats import write_clip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests for which a studio runs: it works in processes of its own, which takes seconds."""
    for item in items:
        if {"studio", "empty"}.intersection(
            getattr(item, "fixturenames", ())
        ) and "unit/studio" in item.path.as_posix():
            item.add_marker("slow")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of motion files."""
    folder = tmp_path_factory.mktemp("recorded")
    for name in CLIPS:
        write_clip(folder / f"{name}.npz", demo_clip(name, 30.0))
    return folder


@pytest.fixture(scope="session")
def studio(recorded: Path) -> Iterator[Studio]:
    """A studio with clips and their graph, for tests that leave both as they are."""
    with opened(recorded) as running:
        running.settle()
        job = running.wait(running.send("POST", "jobs", {"kind": "build"}))
        assert job["state"] == "done", job
        running.settle()
        yield running


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Studio]:
    """A studio on an empty folder."""
    with opened(tmp_path) as running:
        yield running
