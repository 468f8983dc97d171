"""Where a project is and where the studio keeps what belongs to it; nothing outside is ever written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from choreograph.base.errors import RequestError

try:
    import fcntl
except ImportError:  # Windows, where nothing stands in the way of opening a project twice
    fcntl = None  # type: ignore[assignment]

KEEP = ".choreograph"
"""Name of the studio's own folder within a project."""


@dataclass(frozen=True)
class ProjectPaths:
    """A project's folders and files."""

    folder: Path
    """The folder that was opened, or that of the .mog file."""
    keep: Path
    """The studio's own folder in it."""
    given_graph: Path | None = None
    """The .mog file that was opened."""
    demo: bool = False
    """Whether the project is the package's own demo motion."""

    @property
    def project(self) -> Path:
        """Document, undo history and view."""
        return self.keep / "project.json"

    @property
    def graph(self) -> Path:
        """The graph that was built here."""
        return self.keep / "graph.mog"

    @property
    def graph_facts(self) -> Path:
        """What is known of the graph in use: its file, summary and curve."""
        return self.keep / "graph.json"

    @property
    def incoming(self) -> Path:
        """Uploads that have not been read yet."""
        return self.keep / "incoming"

    @property
    def exports(self) -> Path:
        """Files made for download, a folder for each job."""
        return self.keep / "exports"

    def claim(self) -> IO[bytes]:
        """Have the project for oneself until the file that is returned is closed, or the process ends.

        Raises:
            RequestError: If another studio has it.
        """
        file = (self.keep / "lock").open("ab")
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                raise RequestError(f"{self.folder} is open in another studio; use that one, or stop it first") from None
        return file

    def recording(self, recording: str, suffix: str = ".npz") -> Path:
        """A recording as it was read (.npz), or what is known of it (.json)."""
        return self.keep / "recordings" / f"{recording}{suffix}"

    def result(self, result: str, suffix: str, person: int = 0) -> Path:
        """A result (.json), or a person's motion in it: as a clip (.npz), as frames for the stage (.f32)."""
        return self.keep / "results" / f"{result}{f'.{person}' if person else ''}{suffix}"

    def examples(self, key: str) -> Path:
        """A folder of recorded examples."""
        return self.keep / "examples" / key

    def clip(self, key: str, suffix: str) -> Path:
        """A clip of the library, ready for the stage: facts (.json), frames (.f32), pictures (.dark.png …)."""
        return self.keep / "cache" / f"{key}{suffix}"

    def character(self, character: str) -> Path:
        """A character of the project, as GLB."""
        return self.keep / "characters" / f"{character}.glb"

    def worn(self, key: str, suffix: str) -> Path:
        """A motion on a character, for the stage: facts (.json), frames (.f32); the character's figure (.glb)."""
        return self.keep / "cache" / f"{key}{suffix}"

    def figure(self, skeleton: str) -> Path:
        """The mannequin of a skeleton."""
        return self.keep / "cache" / f"{skeleton}.glb"


def find_places(target: Path | None) -> ProjectPaths:
    """The places of a folder, of a .mog file, or of the demo project.

    Raises:
        RequestError: If there is no such folder or .mog file, or it cannot be written to.
    """
    if target is None:
        folder = _data_folder() / "choreograph" / "demo"
        return _writable(ProjectPaths(folder, folder / KEEP, demo=True))
    path = target.expanduser().resolve()
    if path.is_dir():
        return _writable(ProjectPaths(path, path / KEEP))
    if path.suffix.lower() != ".mog":
        raise RequestError(f"{target} is no folder and no .mog file; give a folder of motion files, or a motion graph")
    if not path.is_file():
        raise RequestError(f"there is no file {target}")
    return _writable(ProjectPaths(path.parent, path.parent / f"{KEEP}-{path.stem}", given_graph=path))


def _data_folder() -> Path:
    given = os.environ.get("XDG_DATA_HOME", "")
    return Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "share"


def _writable(places: ProjectPaths) -> ProjectPaths:
    try:
        for name in ("recordings", "results", "cache", "incoming", "exports", "characters"):
            (places.keep / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RequestError(
            f"the studio keeps its work in {places.keep}, which cannot be made: {error.strerror}; "
            "choose a folder that may be written to"
        ) from error
    return places
