"""Building a motion graph from clips: prepare, compare, connect. With a file, the work is kept as it goes.

Local minima of one pair of clips depend on nothing but those clips and the settings, so a graph that grows or shrinks
keeps what it has, and comes out as if it had been built at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from choreograph.base.arrays import Ints
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress
from choreograph.build.checkpoint import Checkpoint
from choreograph.build.comparison import Compare, WindowComparison, grow_minima, merge_minima
from choreograph.build.long_blends import MOST_PAIRS, find_long_blends
from choreograph.build.prepare import KnownFiles, Prepared, check_any, digest, prepare_clips, sum_up
from choreograph.graph import connect
from choreograph.graph.info import ClipInfo, Origin
from choreograph.graph.lazy import PickedClips
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import MANY_FRAMES, GraphSettings
from choreograph.graph.tables import Minima, Table
from choreograph.motion.clip import Clip, Note
from choreograph.motion.skeleton import Skeleton

_FOUND_ANEW = "goal-missed", "unknown-label", "thinned", "not-joined"
"""Kinds of notes about a graph as it was, which say nothing of it once it has changed."""


def build_graph(
    clips: Sequence[Clip],
    settings: GraphSettings | None = None,
    *,
    onto: Skeleton | bool = True,
    progress: Progress | None = None,
    workers: int | None = None,
    checkpoint: Checkpoint | None = None,
) -> MotionGraph:
    """The motion graph of the clips.

    >>> from choreograph.demo import demo_clip
    >>> build_graph([demo_clip("walk", 30.0), demo_clip("walk_veer_left", 30.0)])  # doctest: +ELLIPSIS
    MotionGraph(2 clips, ... nodes, ... edges)

    Args:
        clips: Recordings of people and rigs, at any rates.
        settings: What graph is wanted; the defaults if None.
        onto: The skeleton to retarget clips of other bodies to; True for the one of most clips, False
            for none. The graph's notes say what was retargeted.
        progress: Hears how many pairs of windows are compared; raising `Cancelled` from it stops the work.
        workers: Threads to compare with; as many as there are processors if None.
        checkpoint: Where work is kept as it is done, to go on from after an interruption.

    Returns:
        The graph. If nothing connects it is empty, and `report_graph` says what would help.

    Raises:
        SkeletonMismatch: If the clips' skeletons differ and nothing is to be retargeted.
        RequestError: If there is no clip as long as a window.
    """
    settings = settings or GraphSettings()
    prepared = prepare_clips(clips, settings, onto=onto, progress=progress)
    return build_prepared(prepared, settings, None, progress, workers, checkpoint)


def add_clips(
    graph: MotionGraph,
    clips: Sequence[Clip],
    *,
    onto: bool = True,
    progress: Progress | None = None,
    workers: int | None = None,
    checkpoint: Checkpoint | None = None,
) -> MotionGraph:
    """The graph of the clips it has and these; only pairs with a new clip are compared.

    Args:
        graph: What there is.
        clips: What comes to it. Clips that the graph has, by SHA-256 of their files and by their motion, are passed
            over with a note.
        onto: Whether new clips of other bodies are retargeted to the graph's.
        progress: Hears how far the work has come.
        workers: Threads to compare with.
        checkpoint: Where work is kept as it is done.
    """
    fresh, notes = KnownFiles(graph).pass_over(clips)
    new = prepare_clips(fresh, graph.settings, onto=onto, graph=graph, progress=progress)
    new = replace(new, notes=(*notes, *new.notes))
    return add_prepared(graph, new, " ".join(map(digest, new.clips)), progress, workers, checkpoint)


def add_prepared(
    graph: MotionGraph,
    new: Prepared,
    key: str,
    progress: Progress | None,
    workers: int | None,
    checkpoint: Checkpoint | None,
) -> MotionGraph:
    """The graph of the clips it has and others that are ready.

    Args:
        graph: What there is.
        new: What comes to it: on its body, under names that it does not have, numbered on from its clips.
        key: What the new clips are told by.
        progress: Hears how far the work has come.
        workers: Threads to compare with.
        checkpoint: Where work is kept as it is done.
    """
    there, here = range(len(graph.infos)), range(len(new.infos))
    clips = PickedClips([*((graph.clips, n) for n in there), *((new.clips, n) for n in here)])
    both = Prepared(clips, (*graph.infos, *new.infos), (*graph.notes, *new.notes))
    known = Known(graph, np.arange(len(graph.infos)))
    # What is there is told by its file, so that it need not be read for that.
    key = f"{graph.fingerprint.motion} {key}"
    return build_prepared(both, graph.settings, known, progress, workers, checkpoint, key)


def remove_clips(graph: MotionGraph, names: Sequence[str], *, progress: Progress | None = None) -> MotionGraph:
    """The graph without these clips and their mirrored copies; nothing is compared anew, unless a goal asks for it.

    Raises:
        RequestError: If a name is not a clip's, or no clip would be left.
    """
    gone = {graph.find_clip(name) for name in names}
    gone |= {n for n, info in enumerate(graph.infos) if info.mirror_of in gone}
    stay = [n for n in range(len(graph.infos)) if n not in gone]
    if not stay:
        raise RequestError("that would leave the graph without clips; delete the file instead")
    lone = [n for n in gone if graph.infos[n].mirror_of is not None and graph.infos[n].mirror_of not in gone]
    if lone:
        name = graph.infos[lone[0]].name
        original = graph.infos[graph.infos[lone[0]].mirror_of or 0].name
        raise RequestError(f"{name!r} is the mirrored copy of {original!r}; remove that, and the copy goes with it")
    number = {old: new for new, old in enumerate(stay)}
    infos = tuple(_renumbered(graph.infos[n], number) for n in stay)
    clips = PickedClips([(graph.clips, n) for n in stay])
    known = Known(graph, np.array(stay))
    notes = _notes_without({graph.infos[n].name for n in gone}, {info.name for info in infos}, graph.notes)
    return build_prepared(Prepared(clips, infos, notes), graph.settings, known, progress, None, None)


def _notes_without(gone: set[str], stay: set[str], notes: Sequence[Note]) -> tuple[Note, ...]:
    """Notes but for those that name clips which are gone, and none that stays."""
    named = [set(re.findall(r"'([^']+)'", note.message)) for note in notes]
    return tuple(note for note, names in zip(notes, named, strict=True) if not names & gone or names & stay)


def _renumbered(info: ClipInfo, number: dict[int, int]) -> ClipInfo:
    return info if info.mirror_of is None else replace(info, mirror_of=number[info.mirror_of])


class Known:
    """What an earlier graph found about clips that the new one has too."""

    def __init__(self, graph: MotionGraph, numbers: Ints) -> None:
        """Take the graph whose clip numbers[n] is clip n now, in the same order."""
        self.count = len(numbers)
        self.searched_m = graph.searched_m
        self.history = graph.history
        # Times that were given for each clip fit no other clips.
        self.cut_settings = graph.cut_settings if isinstance(graph.cut_settings.get("cut_at"), str) else {}
        self._graph, self._numbers = graph, numbers

    def with_minima(self, minima: Minima, limits: connect.ConnectLimits) -> Minima:
        """Minima between the known clips, by their numbers now, up to their limits, and those that were found since."""
        if self.count == len(self._graph.infos):
            grown = grow_minima(self._graph, minima)
            if grown is not None and (grown.distance_m <= limits.of(grown)).all():
                return grown
        old = self._minima()
        near = old.distance_m <= limits.of(old)
        return merge_minima([old if near.all() else old.take(near), minima])

    def _minima(self) -> Minima:
        """Minima between the known clips, by their numbers now; of a file's, read when asked for and not kept."""
        old = Minima(**self._graph.read_columns("minima", tuple(Minima.dtypes)))
        if self.count == len(self._graph.infos):
            return old
        renumber = np.full(len(self._graph.infos), -1, np.int32)
        renumber[self._numbers] = np.arange(self.count)
        both = (renumber[old.clip_a] >= 0) & (renumber[old.clip_b] >= 0)
        columns = old.take(both).columns()
        columns["clip_a"], columns["clip_b"] = renumber[columns["clip_a"]], renumber[columns["clip_b"]]
        return Minima(**columns)


def build_prepared(
    prepared: Prepared,
    settings: GraphSettings,
    known: Known | None,
    progress: Progress | None,
    workers: int | None,
    checkpoint: Checkpoint | None,
    key: str | None = None,
    compare: Compare | None = None,
) -> MotionGraph:
    """The graph of clips that are ready: compare, connect.

    Args:
        prepared: The clips.
        settings: What graph is wanted.
        known: What is known of some of them.
        progress: Hears how far the work has come.
        workers: Threads.
        checkpoint: Where work is kept as it is done.
        key: What the clips are told by, if they need not be read for that.
        compare: Compares windows in place of this machine's threads, as `iterate_minima` does.
    """
    check_any(prepared.infos, prepared.notes)
    search = WindowComparison(
        prepared.clips,
        prepared.infos,
        settings,
        progress=progress,
        workers=workers,
        checkpoint=checkpoint,
        key=key,
        compare=compare,
    )
    notes = sum_up(note for note in prepared.notes if note.kind not in _FOUND_ANEW)
    notes += [
        Note("unknown-label", f"no clip has a label {text!r}: the threshold given for it changes nothing")
        for text in connect.missing_labels(prepared.infos, settings)
    ]
    threshold_m = settings.threshold_m
    for level_m in _levels(settings):
        # Pairs of known clips are as good as searched, up to the level that the earlier graph was searched to.
        searched = known if known is not None and known.searched_m >= level_m else None
        involving = None if searched is None else range(searched.count, len(prepared.clips))
        batch, evaluated = search.find(level_m, involving)
        limits = connect.limits_between(prepared.infos, settings, level_m)
        minima = merge_minima([batch]) if searched is None else searched.with_minima(batch, limits)
        del batch
        if settings.goal is None:
            break
        lowest = connect.find_threshold(minima, settings, prepared.infos, settings.goal, level_m)
        if lowest is not None:
            threshold_m = lowest
            break
    else:
        threshold_m = settings.ceiling_m
        text = f"the goal {settings.goal} was not reached with thresholds up to {100 * settings.ceiling_m:.3g} cm"
        notes.append(Note("goal-missed", text))
    search.keep_outlines()
    search.windows.release()
    joined = connect.connect(minima, settings, threshold_m, prepared.infos)
    notes += _thinned(len(joined.transitions), minima, settings, threshold_m, prepared.infos)
    extra, refused = _long_blends(prepared, settings, np.flatnonzero(joined.shown == 0), search)
    notes += refused
    if extra and settings.max_blend_s:
        joined = connect.connect(minima, settings, threshold_m, prepared.infos, extra["long_blends"])  # type: ignore[arg-type]
    return MotionGraph(
        settings,
        threshold_m,
        prepared.clips,
        prepared.infos,
        joined.tables({"minima": minima, **extra}),
        searched_m=level_m,
        origin=Origin(
            evaluated,
            notes,
            () if known is None else known.history,
            cut_settings={} if known is None else known.cut_settings,
        ),
    )


def _long_blends(
    prepared: Prepared, settings: GraphSettings, lost: Ints, search: WindowComparison
) -> tuple[dict[str, Table], list[Note]]:
    """Long blends that join lost clips, and why none were looked for if nobody asked for them and there is too much."""
    frames = np.array([info.frames for info in prepared.infos], np.int64)
    if not len(lost) or not settings.longest_blend_s or (len(lost) == len(frames) and settings.max_blend_s is None):
        return {}, []
    pairs = int(frames[lost].sum()) * int(frames.sum())
    if settings.max_blend_s is None and (pairs > MOST_PAIRS or frames.sum() > MANY_FRAMES):
        text = (
            f"long blends to the {len(lost)} clips left out take long and were not looked for; ask for it (max_blend_s)"
        )
        return {}, [Note("not-joined", text)]
    blends, alignment = find_long_blends(prepared.clips, prepared.infos, settings, lost, search)
    return {"long_blends": blends, "alignment": alignment}, []


def _thinned(
    links: int, minima: Minima, settings: GraphSettings, threshold_m: float, infos: Sequence[ClipInfo]
) -> list[Note]:
    """What was left out because a place had more transitions than are kept."""
    most = settings.most_transitions(sum(info.frames for info in infos))
    if not most:
        return []
    frames = np.array([info.frames for info in infos], np.int32)
    near = minima.distance_m <= connect.thresholds_of(minima, settings, threshold_m, infos)
    fits = [
        near & (frame + 2 * settings.window_frames <= frames[clip])
        for clip, frame in ((minima.clip_a, minima.frame_a), (minima.clip_b, minima.frame_b))
    ]
    there = sum(int(np.count_nonzero(which)) for which in fits)
    if there == links:
        return []
    text = (
        f"{there - links:,} of {there:,} transitions were left out: from each place the {most} nearest are "
        "kept, and those that hold the graph together, unless you ask for more (nearest)"
    )
    return [Note("thinned", text)]


def _levels(settings: GraphSettings) -> Iterator[float]:
    """General thresholds to look for minima with, metres: the one given, or larger ones until a goal is reached."""
    level = settings.threshold_m
    if settings.goal is not None:
        while level < settings.ceiling_m:
            yield level
            level *= 2
        level = settings.ceiling_m
    yield level
