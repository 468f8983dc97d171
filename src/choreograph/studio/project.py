"""The project as the server holds it: document, undo history, view and what is known of recordings and results."""

from __future__ import annotations

import json
import time
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from choreograph.base.errors import ChoreographError, RequestError
from choreograph.contract.migrate import marked
from choreograph.formats.atomic import atomic_write
from choreograph.studio.archive import Archive, clip_number, file_stamp
from choreograph.studio.document import ClipEntry, Message, ProjectDocument, View
from choreograph.studio.facts import Curve, GraphSummary, Recording, Result
from choreograph.studio.library import check_document, graph_key
from choreograph.studio.migration import FORMAT, migrate_project, migrate_result
from choreograph.studio.project_paths import ProjectPaths
from choreograph.studio.requests import check_drafts

M = TypeVar("M", bound=Message)

STEPS_KEPT = 200  # that can be undone
HISTORY_BYTES = 8_000_000
"""Room for the history on disk: with thousands of clips, whole documents are large."""
FADING_KEPT = 12  # deleted things that can still be had back


class Stale(ChoreographError):
    """A change was made to a document that is no longer the present one."""


class NotThere(ChoreographError):
    """There is nothing of that name."""


class UndoStep(NamedTuple):
    """Something that was done, and the document (as JSON) from before it; for redo, from after it."""

    label: str
    document: str


class Project:
    """Everything that is kept; methods change it in memory, `save` writes it."""

    def __init__(self, places: ProjectPaths) -> None:
        self.places = places
        self.version = 1
        self.document = ProjectDocument(name=_name(places))
        self.view = View()
        self._undo: list[UndoStep] = []
        self._redo: list[UndoStep] = []
        self.files: dict[str, list[Any]] = {}
        """Motion files of the folder that were read: size, time and recording (several by name), by path within it."""
        self.recordings = {one.id: one for one in _read_all(places.keep / "recordings", Recording)}
        results = _read_all(places.keep / "results", Result, migrate_result)
        self.results = {one.id: one for one in results if one.verb != "preview"}
        self.fading: dict[str, Result] = {}
        """The last results that better ones took the place of: pages that were just told of them can have them."""
        for passing in (one for one in results if one.verb == "preview"):
            self.forget_result(passing.id)
        self.archive = None if places.given_graph is None else Archive(places.given_graph)
        """The .mog file that was opened."""
        self.graph_file: str | None = None
        self._graph: GraphSummary | None = None
        self.curve: Curve | None = None
        self.lost_sources = False
        """Whether clips came from a .mog file that is no longer as it was."""
        self.is_new = not places.project.exists()
        if not self.is_new:
            self._load()
        self._load_graph()

    # ------------------------------------------------------------------ the document

    @property
    def undo_label(self) -> str | None:
        """What Undo would undo."""
        return self._undo[-1].label if self._undo else None

    @property
    def redo_label(self) -> str | None:
        """What Redo would do again."""
        return self._redo[-1].label if self._redo else None

    def change(self, label: str, document: ProjectDocument, base: int | None = None) -> None:
        """Take over another document.

        Args:
            label: What was done.
            document: The whole of it.
            base: The version that it was made from; None for the present one.

        Raises:
            Stale: If the document has changed since.
            RequestError: If the document asks for what is not there.
        """
        if base is not None and base != self.version:
            raise Stale(
                f"the document is at version {self.version} and the change was made to version {base}: "
                "fetch it anew and change that"
            )
        check_document(document, self.sources)
        check_drafts(document.requests, self.document.requests)
        if document == self.document:
            return
        self._undo.append(UndoStep(label, self.document.model_dump_json()))
        self._redo.clear()
        self._trim_history()
        self.document = document
        self.version += 1

    def undo(self) -> None:
        """Go back a step."""
        self._step(self._undo, self._redo, "undo")

    def redo(self) -> None:
        """Go forward a step that was gone back."""
        self._step(self._redo, self._undo, "do again")

    def _step(self, source: list[UndoStep], target: list[UndoStep], what: str) -> None:
        if not source:
            raise RequestError(f"there is nothing to {what}")
        label, document = source.pop()
        target.append(UndoStep(label, self.document.model_dump_json()))
        self.document = ProjectDocument.model_validate_json(document)
        self.version += 1

    def _trim_history(self) -> None:
        while len(self._undo) > 1 and (
            len(self._undo) > STEPS_KEPT or sum(len(step.document) for step in self._undo) > HISTORY_BYTES
        ):
            self._undo.pop(0)

    # ------------------------------------------------------------------ the graph

    @property
    def graph(self) -> GraphSummary | None:
        """The graph, with whether it still is what the document says."""
        if self._graph is None:
            return None
        current = self._graph.built_from == graph_key(self.graph_entries(), self.document.graph)
        return self._graph.model_copy(update={"current": current})

    @property
    def sources(self) -> Mapping[str, Recording]:
        """Recordings by id: those that were read in, and those that stay in the .mog file that was opened."""
        return self.recordings if self.archive is None else ChainMap(self.recordings, self.archive)  # type: ignore[arg-type]

    @property
    def is_archive(self) -> bool:
        """Whether the clips of a .mog file are too many to be entries of the document."""
        return self.archive is not None and self.archive.is_large

    def graph_entries(self, *, whole: bool = False) -> list[ClipEntry]:
        """The clips that the graph is of; of an archive only those that came to it, unless `whole`."""
        if self.archive is None or not self.archive.is_large:
            return self.document.clips
        added = [entry for entry in self.document.clips if entry.source not in self.archive]
        return [*self.archive.entries(), *added] if whole else added

    def open_graph(self, file: str, summary: GraphSummary) -> None:
        """Use the graph of a file, of which more is known later; nothing is written before that."""
        key = graph_key(self.graph_entries(), self.document.graph)
        self.graph_file, self._graph, self.curve = file, summary.model_copy(update={"built_from": key}), None

    def set_graph(self, file: str, summary: GraphSummary, curve: Curve) -> None:
        """Use another graph; written at once, since its file is there already."""
        self.graph_file, self._graph, self.curve = file, summary, curve
        stamp = file_stamp(Path(file))
        facts = {
            "file": file,
            "stamp": stamp,
            "summary": summary.model_dump(mode="json"),
            "curve": curve.model_dump(mode="json"),
        }
        with atomic_write(self.places.graph_facts, overwrite=True) as temporary:
            temporary.write_text(json.dumps(facts), encoding="utf-8")

    def _load_graph(self) -> None:
        try:
            facts = json.loads(self.places.graph_facts.read_text("utf-8"))
            summary, curve = GraphSummary.model_validate(facts["summary"]), Curve.model_validate(facts["curve"])
            # Only the project's own two graphs are ever opened, whatever the file says.
            known = [path for path in (self.places.graph, self.places.given_graph) if str(path) == facts["file"]]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return
        if known and known[0] is not None and known[0].is_file():
            if facts.get("stamp", file_stamp(known[0])) != file_stamp(known[0]):
                return  # another file by now
            self.graph_file, self._graph, self.curve = str(known[0]), summary, curve

    # ------------------------------------------------------------------ results

    def add_recordings(self, recordings: Iterable[Recording]) -> None:
        """Take note of recordings that were read."""
        self.recordings.update({one.id: one for one in recordings})

    def result_list(self) -> list[Result]:
        """Results, the newest first, with whether the document keeps them."""
        marks = set(self.document.kept)
        ordered = sorted(self.results.values(), key=lambda one: one.id, reverse=True)
        return [one.model_copy(update={"kept": one.id in marks}) for one in ordered]

    def fade_result(self, result: str) -> None:
        """Take a result off the list; its files go when more of them have."""
        result_gone = self.results.pop(result, None)
        if result_gone is None:
            return
        self.fading[result] = result_gone
        with atomic_write(self.places.result(result, ".json"), overwrite=True) as temporary:
            # Whoever opens the project again finds none of it.
            passing = result_gone.model_copy(update={"verb": "preview"})
            temporary.write_text(json.dumps(marked(passing.model_dump(mode="json"))), "utf-8")
        for oldest in list(self.fading)[:-FADING_KEPT]:
            self.forget_result(oldest)

    def forget_result(self, result: str) -> None:
        """Delete a result's files."""
        self.results.pop(result, None)
        self.fading.pop(result, None)
        for path in (self.places.keep / "results").glob(f"{result}.*"):
            path.unlink(missing_ok=True)

    def clean_motions(self, younger_s: float = 0.0) -> None:
        """Delete copies of motions that requests named, where no result that is there was asked for so.

        Args:
            younger_s: Copies that were used within so many seconds stay: a request that names them may be under way.
        """
        copies = [path for path in (self.places.keep / "cache").glob("*.npz") if _age_s(path) >= younger_s]
        if not copies:
            return
        texts = [f"{one.command} {one.python}" for one in list(self.results.values())]
        for path in (self.places.keep / "results").glob("*.request.yaml"):
            with suppress(OSError):
                texts.append(path.read_text("utf-8"))
        for path in copies:
            if not any(path.stem in text for text in texts):
                path.unlink(missing_ok=True)

    # ------------------------------------------------------------------ on disk

    def save(self) -> None:
        """Write document, history and view, whole or not at all."""
        plain = {
            "format": FORMAT,
            "version": self.version,
            "document": self.document.model_dump(mode="json"),
            "view": self.view.model_dump(mode="json"),
            "files": self.files,
            "undo": self._undo,
            "redo": self._redo,
        }
        with atomic_write(self.places.project, overwrite=True) as temporary:
            temporary.write_text(json.dumps(plain, ensure_ascii=False), encoding="utf-8")

    def _load(self) -> None:
        path = self.places.project
        try:
            plain = json.loads(path.read_text("utf-8"))
            if plain["format"] > FORMAT:
                raise RequestError(f"{path} was written by a newer version of the studio; update choreograph")
            plain = migrate_project(plain, self.places)
            self.document = ProjectDocument.model_validate(plain["document"])
            self.view = View.model_validate(plain["view"])
            self.version = int(plain["version"])
            self.files = {str(name): list(facts) for name, facts in plain["files"].items()}
            self._undo = [UndoStep(str(label), str(document)) for label, document in plain["undo"]]
            self._redo = [UndoStep(str(label), str(document)) for label, document in plain["redo"]]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise RequestError(
                f"{path} cannot be read ({type(error).__name__}); move it away to begin the project anew: "
                "recordings and results stay"
            ) from error
        self.lost_sources = any(clip_number(entry.source) is not None for entry in self.document.clips) and not any(
            entry.source in self.sources for entry in self.document.clips
        )
        self.document.clips[:] = [entry for entry in self.document.clips if entry.source in self.sources]


def _age_s(path: Path) -> float:
    """Seconds since a file was last used; negative where it is gone."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except OSError:
        return -1.0


def _name(places: ProjectPaths) -> str:
    if places.demo:
        return "Demo"
    return places.given_graph.stem if places.given_graph else places.folder.name or "Untitled"


def _read_all(folder: Path, model: type[M], migrate: Callable[[Any, Path], Any] = lambda plain, _: plain) -> list[M]:
    """All that is kept in a folder; what cannot be read, from a damaged disk or a newer version, is passed over."""
    models = []
    for path in sorted(folder.glob("*.json")):
        if "." in path.stem:
            continue
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            models.append(model.model_validate(migrate(json.loads(path.read_bytes()), path)))
    return models
