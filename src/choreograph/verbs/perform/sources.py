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
from choreograph.graph.clips import clip_info
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import open_graph
from choreograph.graph.subgraph import matching_clips
from choreograph.motion.clip import Clip
from choreograph.motion.unify_skeletons import on_one_body
from choreograph.verbs.perform.examples import OWN_TRACK, Example, SegmentDatabase, at_rate, make_examples
from choreograph.verbs.perform.pairs import Pair, Take, guess_pairs, pair_groups, pair_named
from choreograph.verbs.perform.prepare import PAIRS, WALKS, CutSettings, chosen_settings, find_segment_database
from choreograph.verbs.perform.request import CutRequest

Examples = MotionGraph | SegmentDatabase | Sequence[Clip] | Sequence[Example]
"""What performances can be made of."""
_CUTTING = ("lead_joints", "cut_to_shorter")


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
        RequestError: If there are no answers, or nothing can be cut so.
    """
    subject = choose_examples(subject, request.only)
    if isinstance(subject, SegmentDatabase):
        _refuse(request, "answers", "pairs", *_CUTTING, "cut_at", why="the examples are cut into segments already")
        alike_m = request.advanced.alike_m
        return subject.clustered(alike_m) if alike_m else subject
    if isinstance(subject, MotionGraph) and not request.answers and request.pairs is None:
        return find_segment_database(subject, graph_settings(subject, request))
    settings, examples = find_examples(subject, request.with_(only=None), led_by_body=led_by_body, progress=progress)
    return settings.build(examples)


def find_examples(
    subject: Examples, request: CutRequest, *, led_by_body: bool = False, progress: Progress = silent
) -> tuple[CutSettings, list[Example]]:
    """The examples that a request means, and how they are to be cut; arguments are those of `find_database`."""
    recorded = list(_recorded(choose_examples(subject, request.only)))
    examples = [example for example in recorded if isinstance(example, Example)]
    if examples:
        _refuse(request, "answers", "pairs", *_CUTTING, why="the examples say who leads whom already")
        return _settings(WALKS if all(one.leader is None for one in examples) else PAIRS, request), examples
    if not recorded:
        raise RequestError("there are no examples yet; add recordings that show how to move")
    followers = read_recordings(request.answers) if request.answers else recorded
    pairs = _find_pairs(recorded, followers, request, led_by_body)
    if pairs is None:
        followers, notes = on_one_body(recorded)
        if not followers:
            raise RequestError(str(notes[0]))
        followers = [at_rate(clip, followers[0].fps) for clip in followers]
        pairs = [(OWN_TRACK, number) for number in range(len(followers))]
        settings = _settings(WALKS, request)
    else:
        settings = _settings(PAIRS, request)
    roles, cut = settings.control_roles, request.cut_to_shorter
    return settings, make_examples(recorded, followers, pairs, roles, cut_to_shorter=cut, progress=progress)


def choose_examples(subject: Examples, query: str | None) -> Examples:
    """The examples that a query finds, pairs by who answers; all without one.

    Raises:
        RequestError: If it finds none, or none with a segment.
    """
    if query is None:
        return subject
    if isinstance(subject, MotionGraph):
        return subject.only(query)
    clips = [one.target if isinstance(one, Example) else one for one in _recorded(subject)]
    numbers = matching_clips([clip_info(clip, clip.fps, None) for clip in clips], query)
    if not isinstance(subject, SegmentDatabase):
        return [subject[number] for number in numbers]  # type: ignore[return-value]
    database = subject.subset(np.flatnonzero(np.isin(subject.example, numbers)))
    if not len(database):
        raise RequestError(f"only {query!r} finds no example with a segment; choose others", where="only")
    return database


def find_clip(subject: Examples, name: str) -> Clip | None:
    """The clip of this name among examples, leaders before those who follow; None if there is none."""
    if isinstance(subject, MotionGraph):
        numbers = [number for number, info in enumerate(subject.infos) if info.name == name]
        return subject.clips[numbers[0]] if numbers else None
    followers = []
    for one in _recorded(subject):
        if isinstance(one, Clip) and one.name == name:
            return one
        if isinstance(one, Example):
            if one.leader is not None and one.leader.name == name:
                return one.leader
            followers += [one.target] if one.target.name == name else []
    return followers[0] if followers else None


def _recorded(subject: Any) -> Sequence[Any]:
    if isinstance(subject, MotionGraph):
        return subject.clips
    return subject.examples if isinstance(subject, SegmentDatabase) else subject


def _find_pairs(
    clips: Sequence[Clip], followers: Sequence[Clip], request: CutRequest, led_by_body: bool
) -> list[Pair] | None:
    """Who leads whom; None where each clip answers its own track."""
    takes, others = ([Take(clip.name, len(clip), clip.fps) for clip in group] for group in (clips, followers))
    if request.pairs is not None:
        return pair_named(takes, others, request.pairs)
    if request.answers:
        return pair_groups(takes, others)
    if request.lead_joints == TRACK or not (led_by_body or request.lead_joints):
        return None
    try:
        return guess_pairs(takes, cut_to_shorter=request.cut_to_shorter)
    except RequestError:
        if request.lead_joints:  # of a body, and there is none
            raise
        return None


def graph_settings(graph: MotionGraph, request: CutRequest) -> CutSettings:
    """How a graph's clips are cut: as a request says, or as was chosen for it when it was saved."""
    if request.cut_at is None and not request.lead_joints and not request.advanced.alike_m:
        return chosen_settings(graph)
    return _settings(PAIRS if graph.pairs else WALKS, request)


def _settings(usual: CutSettings, request: CutRequest) -> CutSettings:
    roles = request.lead_joints or (ENDS if usual.control_roles != TRACK else TRACK)
    cut_at, alike_m = request.cut_at or usual.cut_at, request.advanced.alike_m
    return replace(usual, cut_at=cut_at, control_roles=tuple(roles), alike_m=alike_m)


def _refuse(request: CutRequest, *fields: str, why: str) -> None:
    for field in fields:
        if getattr(request, field):
            raise RequestError(f"{field} cannot be chosen: {why}", where=field)
