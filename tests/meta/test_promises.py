"""The limits that the guides promise are those that the code has, and that tests hold it to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.fuzz import ROOM, SECONDS
from tests.fuzz.targets import Target, find_targets

from choreograph.contract import document
from choreograph.formats import _asf, _fbx_scene, _fbx_tree, _usd_child, assemble, bvh, channels, tables, usd_read
from choreograph.goals.inputs import MAX_TRACK_ROWS
from choreograph.scene import obstacle_file, path_files
from choreograph.scene.path import MAX_LENGTH, MAX_POINTS
from choreograph.studio import http_server as listening
from choreograph.studio import pages, security, steering, uploads
from choreograph.verbs.steer import stream

DOCS = Path(__file__).parents[2] / "docs"
GIB, MIB = 1 << 30, 1 << 20


def row(file: str, begins: str) -> str:
    """The row of a guide's table that begins so."""
    (found,) = [line for line in (DOCS / file).read_text("utf-8").splitlines() if line.startswith(f"| {begins}")]
    return found


FILES = {
    "`.bvh`, `.amc`, `.asf`": (
        f"{assemble.MAX_BYTES // GIB} GiB | {channels.MAX_GROWTH} times the file and {ROOM // MIB} MiB",
        f"{bvh.MAX_JOINTS:,} joints in BVH and ASF",
        f"{_fbx_scene.MAX_JOINTS:,} nodes, {_fbx_tree._DEPTH} deep",
    ),
    "`.usda`, `.usdc`, `.usd` | 2": (
        f"{channels.MAX_GROWTH} times the file and {usd_read.CHILD_BYTES // MIB} MiB",
        f"{_usd_child.MAX_JOINTS:,} joints, {_usd_child.MAX_SKELETONS:,} figures, {_usd_child.MAX_LAYERS:,} layers",
    ),
    "paths:": (f"{path_files.MAX_FILE_BYTES // MIB} MiB | 200 times", f"{MAX_POINTS:,} points or segments"),
    "tables:": (
        f"{tables.MAX_BYTES // MIB} MiB | 200 times",
        f"{MAX_TRACK_ROWS:,} rows of a track, {obstacle_file.MAX_ROWS:,} of a script, "
        f"{obstacle_file.MAX_OBSTACLES:,} obstacles",
    ),
    "requests:": (
        f"{document.MAX_BYTES // 1_000_000} MB | 200 times the file and {ROOM // MIB} MiB",
        f"{document.MAX_VALUES:,} values",
        f"{document.MAX_DEPTH} deep",
        f"{document.MAX_SCALAR:,} characters a value, {document.MAX_NUMBER} a number",
    ),
}
STUDIO = {
    "an upload": (
        f"{security.UPLOAD_BYTES['/api/recordings'] // GIB} GB, {uploads.MOST_FILES:,} files of at most "
        f"{uploads.FILE_BYTES // MIB} MB each; a character {security.UPLOAD_BYTES['/api/characters'] // MIB} MB",
        {4: "four"}[uploads.MOST_UPLOADS],
    ),
    "any other request": (f"{security.BODY_BYTES // MIB} MB",),
    "a message of the socket": (f"steering {stream.MAX_MESSAGE // 1_000_000} MB",),
    "steering": (
        f"{steering.MAX_CLIENTS} clients, {stream.MAX_CHARACTERS} characters each, {steering.MAX_TOGETHER} together",
    ),
    "a path": (f"{stream.MAX_POINTS:,} points, {MAX_LENGTH / 1000:g} km",),
    "a page that does not read": (f"{pages.QUEUE:,} messages or {pages.QUEUE_BYTES // MIB} MB behind",),
    "frames of a motion": (f"{pages.QUEUE_FRAMES} wait for a page",),
    "connections": (
        f"{listening.MAX_CONNECTIONS}; one that brings no request within {listening.REQUEST_S:g} s",
        f"body for {security.BODY_S:g} s",
        f"answer for {listening.STUCK_S:g} s",
    ),
}


@pytest.mark.parametrize(
    ("file", "begins"), [*(("formats.md", one) for one in FILES), *(("studio.md", one) for one in STUDIO)]
)
def test_limits(file: str, begins: str) -> None:
    for words in (FILES if file == "formats.md" else STUDIO)[begins]:
        assert words in row(file, begins)


def test_readers_are_held_to_the_memory_that_is_promised(tmp_path: Path) -> None:
    assert bvh.MAX_JOINTS == _asf.MAX_BONES and assemble.MAX_BYTES == 2 * GIB
    for name, target in find_targets(tmp_path).items():
        plain = name in ("bvh", "amc", "asf", "npz", "glb", "fbx", "usda", "usdc")
        assert target.growth == (channels.MAX_GROWTH if plain or name == "mog" else 200), name
    assert Target.growth == channels.MAX_GROWTH


def test_a_small_file_takes_no_longer_than_is_promised() -> None:
    (seconds,) = re.findall(r"A small file takes at most (\d+) s", (DOCS / "formats.md").read_text("utf-8"))
    assert float(seconds) == SECONDS
