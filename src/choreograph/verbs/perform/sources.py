"""Where examples come from: a graph, recordings, pairs of them, or segments at hand; all become a segment database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.features.points import ENDS, TRACK
from choreograph.formats import read_clips
from choreograph.formats.inputs import find_motion_files
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import open_graph
from choreograph.motion.clip import Clip
from choreograph.motion.unify_skeletons import on_one_body
from choreograph.verbs.perform.examples import Example, SegmentDatabase, at_rate, pair_up, root_example
from choreograph.verbs.perform.pairs import Pair, Take, guess_pairs, pair_groups, pair_named, say_names
from choreograph.verbs.perform.prepare import PAIRS, WALKS, CutSettings, chosen_settings, find_segment_database
from choreograph.verbs.perform.request import CutRequest

Examples = MotionGraph | SegmentDatabase | Sequence[Clip] | Sequence[Example]
"""What performances can be made of."""


def is_graph_file(where: str) -> bool:
    """Whether a name is that of a .mog file."""
    return Path(where).suffix.lower() == ".mog"


def read_recordings(where: str) -> list[Clip]:
    """The clips of a folder, a pattern, a file or a motion graph (mirrored copies with them).

    Raises:
        ChoreographError: If there are none, or one cannot be read.
    """
    if is_graph_file(where):
        return list(open_graph(Path(where)).clips)
    clips: list[Clip] = []
    for path in find_motion_files([where]):
        own = read_clips(path)
        clips += [own[0].with_name(path.stem)] if len(own) == 1 else own
    return clips


def find_database(
    subject: Examples, request: CutRequest, *, led_by_body: bool = False, progress: Progress = silent
) -> SegmentDatabase:
    """The segment database of examples, cut as a request says.

    Args:
        subject: Segments, a graph, or recordings.
        request: Which of them, who answers whom, and where they are cut.
        led_by_body: Whether a body shall lead them; then recordings of pairs are looked for.
        progress: Hears how many recordings are at hand.

    Raises:
        RequestError: If nobody answers, or nothing can be cut so.
    """
    if isinstance(subject, SegmentDatabase):
        return _of_database(subject, request)
    if isinstance(subject, MotionGraph) and not request.answers and request.examples is None and request.pairs is None:
        return find_segment_database(subject, graph_settings(subject, request))
    settings, examples = find_examples(subject, request, led_by_body=led_by_body, progress=progress)
    return settings.build(examples)


def find_examples(
    subject: Examples, request: CutRequest, *, led_by_body: bool = False, progress: Progress = silent
) -> tuple[CutSettings, list[Example]]:
    """The examples that a request means, and how they are to be cut; arguments are those of `find_database`."""
    recorded = list(subject.examples) if isinstance(subject, SegmentDatabase) else list(_recorded(subject))
    given = [example for example in recorded if isinstance(example, Example)]
    if len(given) == len(recorded) and given:
        return _of_examples(given, request)
    clips = _only([clip for clip in recorded if isinstance(clip, Clip)], request)
    followers = read_recordings(request.answers) if request.answers else clips
    pairs = _find_pairs(clips, followers, request, led_by_body)
    if pairs is None:
        clips = _on_one_body(clips)
        examples = []
        for done, clip in enumerate(clips):
            progress("reading examples", done, len(clips))
            examples.append(root_example(clip))
        return _settings(WALKS, request), examples
    settings = _settings(PAIRS, request)
    examples = []
    for done, (leader, follower) in enumerate(pairs):
        progress("reading examples", done, len(pairs))
        one, other = clips[leader], followers[follower]
        examples.append(pair_up(one, other, roles=settings.control_roles, cut=request.cut))
    return settings, examples


def _on_one_body(clips: list[Clip]) -> list[Clip]:
    """Recordings of one body and rate: others are retargeted and resampled."""
    made, notes = on_one_body(clips)
    if clips and not made:
        raise RequestError(str(notes[0]))
    return [at_rate(clip, made[0].fps) for clip in made]


def find_clip(subject: Examples, name: str) -> Clip | None:
    """The clip of this name among examples, leaders before those who follow; None if there is none."""
    if isinstance(subject, MotionGraph):
        numbers = [number for number, info in enumerate(subject.infos) if info.name == name]
        return subject.clips[numbers[0]] if numbers else None
    examples = subject.examples if isinstance(subject, SegmentDatabase) else subject
    followers = []
    for one in examples:
        if isinstance(one, Clip) and one.name == name:
            return one
        if isinstance(one, Example):
            if one.leader is not None and one.leader.name == name:
                return one.leader
            followers += [one.target] if one.target.name == name else []
    return followers[0] if followers else None


def _recorded(subject: Any) -> Sequence[Any]:
    return list(subject.clips) if isinstance(subject, MotionGraph) else subject


def _find_pairs(
    clips: Sequence[Clip], followers: Sequence[Clip], request: CutRequest, led_by_body: bool
) -> list[Pair] | None:
    """Who leads whom; None where each clip answers its own track."""
    takes, others = ([Take(clip.name, len(clip), clip.fps) for clip in group] for group in (clips, followers))
    if request.pairs is not None:
        return pair_named(takes, others, request.pairs)
    if request.answers:
        return pair_groups(takes, others)
    if request.control == TRACK or not (led_by_body or request.control):
        return None
    try:
        return guess_pairs(takes, cut=request.cut)
    except RequestError:
        if request.control:  # of a body, and there is none
            raise
        return None


def _of_examples(examples: list[Example], request: CutRequest) -> tuple[CutSettings, list[Example]]:
    _refuse(request, "answers", "pairs", "control", "cut", why="the examples say who leads whom already")
    usual = WALKS if all(example.leader is None for example in examples) else PAIRS
    if request.examples is not None:
        clips = _only([example.target for example in examples], request)
        examples = [example for example in examples if any(example.target is clip for clip in clips)]
    return _settings(usual, request), examples


def _of_database(database: SegmentDatabase, request: CutRequest) -> SegmentDatabase:
    _refuse(request, "answers", "pairs", "control", "cut", "cut_at", why="the examples are cut into segments already")
    if request.examples is not None:
        _check_names(request.examples, database.names)
        wanted = np.isin(np.array(database.names), request.examples)
        database = database.taken(np.flatnonzero(wanted[database.example]))
        if not len(database):
            raise RequestError("the examples chosen have no segment in them; choose others", where="examples")
    return database.clustered(request.alike_m) if request.alike_m else database


def graph_settings(graph: MotionGraph, request: CutRequest) -> CutSettings:
    """How a graph's clips are cut: as a request says, or as was chosen for it when it was saved."""
    if request.cut_at is None and not request.control and not request.alike_m:
        return chosen_settings(graph)
    return _settings(PAIRS if graph.pairs else WALKS, request)


def _settings(usual: CutSettings, request: CutRequest) -> CutSettings:
    roles = request.control or (ENDS if usual.control_roles != TRACK else TRACK)
    return replace(usual, cut_at=request.cut_at or usual.cut_at, control_roles=tuple(roles), alike_m=request.alike_m)


def _only(clips: list[Clip], request: CutRequest) -> list[Clip]:
    """The clips that a request means."""
    if request.examples is None:
        if not clips:
            raise RequestError("there are no examples yet; add recordings that show how to move")
        return clips
    if not request.examples:
        raise RequestError("no example is chosen; choose one clip or more that show how to move", where="examples")
    _check_names(request.examples, [clip.name for clip in clips])
    return [clip for clip in clips if clip.name in request.examples]


def _check_names(names: Sequence[str], known: Sequence[str]) -> None:
    for n, name in enumerate(names):
        if name not in known:
            raise RequestError(
                f"examples[{n}] is {name!r}, which is not among the examples: they are {say_names(known, 8)}",
                where=f"examples[{n}]",
            )


def _refuse(request: CutRequest, *fields: str, why: str) -> None:
    for field in fields:
        if getattr(request, field):
            raise RequestError(f"{field} cannot be chosen: {why}", where=field)
