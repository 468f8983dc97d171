"""Where is looked: a graph, its file, clips in memory, or motion files and folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.finding.features import Features, clip_features, graph_features, join_features, stream_features
from choreograph.formats import read_clips
from choreograph.formats.inputs import find_motion_files
from choreograph.formats.trials import find_trial
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import open_graph
from choreograph.motion.clip import Clip, Label
from choreograph.motion.query import ClipText, describe_clips


@dataclass(frozen=True)
class Told:
    """What is known of a clip that words can ask for."""

    name: str
    path: str
    labels: tuple[Label, ...]
    own_frames: int
    fps: float


@dataclass(frozen=True, eq=False)
class SearchedRecordings:
    """Clips that can be searched."""

    facts: tuple[Told, ...]
    texts: tuple[ClipText, ...]
    features: Callable[[], Features]
    """Computed, or taken from the cache, when they are first needed."""
    read: Callable[[int], Clip]
    """The clip of a number."""
    skipped: tuple[str, ...] = field(default=())
    """Files that could not be read, and why."""
    notes: tuple[str, ...] = field(default=())
    """What was assumed of the rates of files, alike notes once, each with the first clip that it holds for."""


_OF_RATES = {"assumed-rate": "; say it in a trials.tsv beside the files", "doubtful-rate": ""}
"""Notes that speeds depend on, and what to do, in place of what they advise to whoever reads a single file."""

Source = MotionGraph | str | Path | Clip | Sequence["Clip | str | Path"]


def open_recordings(source: Source, progress: Progress | None = None, *, frames: bool = True) -> SearchedRecordings:
    """What a source holds, ready to be searched.

    Args:
        source: A graph, the name of its file, clips, or names of motion files, folders and patterns.
        progress: Hears how far reading has come.
        frames: Whether frames will be looked at; where only words count, files that need not be read are not.

    Raises:
        RequestError: If there is nothing, or clips and names are mixed.
    """
    progress = progress or silent
    if isinstance(source, MotionGraph):
        return _of_graph(source, progress)
    if isinstance(source, Clip):
        source = [source]
    names = [source] if isinstance(source, str | Path) else list(source)
    if all(isinstance(one, Clip) for one in names) and names:
        return _of_clips([one for one in names if isinstance(one, Clip)], progress)
    if any(isinstance(one, Clip) for one in names) or not names:
        raise RequestError("give a graph, clips, or names of files and folders to search")
    texts = [str(one) for one in names]
    if len(texts) == 1 and texts[0].lower().endswith(".mog"):
        return _of_graph(open_graph(texts[0]), progress)
    if any(text.lower().endswith(".mog") for text in texts):
        raise RequestError(
            "search one .mog file at a time, or motion files and folders; words are looked for besides (only)"
        )
    return _of_files(find_motion_files(texts), progress, frames)


def _of_graph(graph: MotionGraph, progress: Progress) -> SearchedRecordings:
    facts = tuple(Told(info.name, info.path, info.labels, info.own_frames, info.fps) for info in graph.infos)
    return SearchedRecordings(
        facts, tuple(describe_clips(facts)), lambda: graph_features(graph, progress), lambda number: graph.clips[number]
    )


def _of_clips(clips: Sequence[Clip], progress: Progress) -> SearchedRecordings:
    facts = tuple(_facts_of(clip) for clip in clips)
    return SearchedRecordings(
        facts, tuple(describe_clips(facts)), lambda: stream_features(clips, progress), lambda number: clips[number]
    )


def _facts_of(clip: Clip, path: Path | None = None) -> Told:
    where = str(path) if path is not None else "" if clip.source is None else clip.source.path
    return Told(clip.name, where, clip.labels, len(clip), clip.fps)


def _of_files(paths: Sequence[Path], progress: Progress, frames: bool) -> SearchedRecordings:
    """Files, read one at a time; what is kept of each is its features."""
    from choreograph.base.errors import ChoreographError

    facts: list[Told] = []
    where: list[tuple[Path, int]] = []
    parts: list[Features] = []
    skipped: list[str] = []
    notes: dict[str, str] = {}
    for done, path in enumerate(paths, 1):
        try:
            trial = None if frames or path.suffix.lower() != ".amc" else find_trial(path)
            if trial is not None and trial.frames and trial.fps:
                labels = (Label(trial.description, 0, trial.frames),) if trial.description else ()
                facts.append(Told(path.stem, str(path.absolute()), labels, trial.frames, trial.fps))
                where.append((path, 0))
                continue
            clips = read_clips(path)
            own = [clip_features(clip) for clip in clips] if frames else []
        except ChoreographError as error:
            skipped.append(str(error))
            continue
        for k, clip in enumerate(clips):
            facts.append(_facts_of(clip, path.absolute()))
            where.append((path, k))
            for note in clip.source.notes if clip.source is not None and frames else ():
                if note.kind in _OF_RATES:
                    notes.setdefault(note.message.partition(";")[0] + _OF_RATES[note.kind], clip.name)
        parts += own
        progress("reading", done, len(paths))
    if not facts and skipped:
        raise RequestError(f"none of {len(paths)} files can be read; the first: {skipped[0]}")
    return SearchedRecordings(
        tuple(facts),
        tuple(describe_clips(facts)),
        lambda: join_features(parts),
        lambda number: read_clips(where[number][0])[where[number][1]],
        tuple(skipped),
        tuple(f"{name}: {text}" for text, name in notes.items()),
    )
