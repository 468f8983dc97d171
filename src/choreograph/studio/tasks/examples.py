"""What performances are made of: clips of the library, in a file that commands can name; segments are in the cache."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from choreograph.errors import GraphFileError, RequestError
from choreograph.studio.context import WorkerContext
from choreograph.studio.document import ClipEntry, PerformAsk
from choreograph.studio.library import clip_key, digest
from choreograph.studio.messages import ExampleFacts, Examples
from choreograph.studio.worker import TaskChannel
from choreograph.synthesis.perform.examples import SegmentDatabase, pair_up, root_example
from choreograph.synthesis.perform.prepare import PAIRS, WALKS
from choreograph.synthesis.perform.request import PerformSettings, usual_settings
from choreograph.synthesis.perform.store import open_segments, save_segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WILDER = ("jog", "run", "jump", "hop", "leap")
FILES_KEPT = 16
"""Files of examples that stay on disk; the commands of results name them."""


class Chosen(NamedTuple):
    """A clip and who led it, if that is somebody else."""

    leader: ClipEntry | None
    clip: ClipEntry


class Library(NamedTuple):
    """The clips that can be examples."""

    clips: Sequence[ClipEntry]
    bodies: Mapping[str, tuple[str, float, int, Sequence[str]]]
    """Skeleton, rate, number of frames and labels of each recording."""

    def find(self, clip: str) -> ClipEntry:
        """A clip by its id."""
        for entry in self.clips:
            if entry.id == clip:
                return entry
        raise RequestError(f"the clip {clip!r} is not in the library any more; choose another")

    def length(self, entry: ClipEntry) -> tuple[int, float]:
        """Number of frames and rate of a clip."""
        _, fps, frames, _ = self.bodies[entry.source]
        start, stop = entry.trim or (0, frames)
        return stop - start, fps

    def walks(self, entry: ClipEntry) -> bool:
        """Whether name or labels say that somebody walks, and does nothing wilder."""
        own = self.bodies[entry.source][3] if entry.labels is None else [label.text for label in entry.labels]
        said = " ".join([entry.name, *own]).lower()
        return "walk" in said and not any(word in said for word in _WILDER)


class Base(NamedTuple):
    """A segment database, the clips it is of and its file."""

    segments: SegmentDatabase
    chosen: list[Chosen]
    file: Path


def examples(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> Examples:
    """What is to be known of the examples; asked as a PerformAsk and the library."""
    asked: PerformAsk = ask["ask"]
    base = find_base(context, asked, Library(*ask["library"]), channel)
    segments, settings = base.segments, settings_of(base.segments, PerformAsk())
    facts = []
    for number, (leader, clip) in enumerate(base.chosen):
        speeds = _speeds(segments.controls[number], segments.fps)
        facts.append(
            ExampleFacts(
                clip=clip.id,
                leader=None if leader is None else leader.id,
                name=clip.name,
                seconds=(len(segments.controls[number]) - 1) / segments.fps,
                segments=int((segments.example == number).sum()),
                usual_m_s=float(np.median(speeds)),
                top_m_s=float(speeds.max()),
            )
        )
    return Examples(
        examples=facts,
        segments=len(segments),
        longest_s=float(segments.seconds.max()),
        fastest_m_s=segments.fastest,
        stretch_s=settings.stretch_s,
        continuity_s=settings.continuity_s,
    )


def _speeds(control: NDArray[np.float64], fps: float) -> NDArray[np.float64]:
    """Speeds of the control's middle over half a second, as `SegmentDatabase.fastest` takes them."""
    middle = control.mean(axis=1)[:, ::2]
    half = max(1, min(round(0.25 * fps), (len(middle) - 1) // 2))
    apart = middle[2 * half :] - middle[: -2 * half]
    return np.linalg.norm(apart, axis=1) / (2 * half / fps) if len(apart) else np.zeros(1)


def settings_of(base: SegmentDatabase, asked: PerformAsk) -> PerformSettings:
    """How a control is interpreted."""
    from dataclasses import replace

    given = {name: getattr(asked, name) for name in ("stretch_s", "continuity_s", "beam_m2_s")}
    return replace(usual_settings(base), **{name: value for name, value in given.items() if value is not None})


# ---------------------------------------------------------------- which clips


def choose(asked: PerformAsk, library: Library) -> list[Chosen]:
    """The examples that an ask means.

    Raises:
        RequestError: If there are none.
    """
    if asked.lead == "body":
        pairs = find_pairs(library, asked.cut) if asked.pairs is None else asked.pairs
        if not pairs:
            raise RequestError(
                "no two clips are recordings of a pair: name them like 60_01 and 61_01, or choose pairs by hand"
            )
        return [Chosen(library.find(leader), library.find(clip)) for leader, clip in pairs]
    if asked.examples is not None:
        if not asked.examples:
            raise RequestError("no example is chosen; choose one clip or more that show how to move")
        return [Chosen(None, library.find(clip)) for clip in asked.examples]
    walks = [entry for entry in library.clips if library.walks(entry)] or list(library.clips)
    if not walks:
        raise RequestError("there are no clips yet; drop recordings of somebody who walks into the window")
    most, _ = Counter(library.bodies[entry.source][:2] for entry in walks).most_common(1)[0]
    return [Chosen(None, entry) for entry in walks if library.bodies[entry.source][:2] == most]


def find_pairs(library: Library, cut: bool = False) -> list[tuple[str, str]]:
    """Clips of two who moved together, by their names: 60_01 with 61_01, or dance_leader with dance_follower.

    The two who share the most trials are the pair; of the same length each, unless they are to be cut.
    """
    trials: dict[str, dict[str, ClipEntry]] = {}
    for entry in library.clips:
        who, trial = _trial(entry.name)
        if who:
            trials.setdefault(trial, {}).setdefault(who, entry)
    together = Counter(
        pair for people in trials.values() for pair in _couples(sorted(people, key=lambda who: who.lower()))
    )
    if not together:
        return []
    (leader, follower), _ = together.most_common(1)[0]
    pairs = [(people[leader], people[follower]) for people in trials.values() if {leader, follower} <= people.keys()]
    return [(a.id, b.id) for a, b in pairs if cut or library.length(a) == library.length(b)]


def _couples(people: Sequence[str]) -> list[tuple[str, str]]:
    if {"leader", "follower"} <= set(people):
        return [("leader", "follower")]
    return [(a, b) for k, a in enumerate(people) for b in people[k + 1 :]]


def _trial(name: str) -> tuple[str, str]:
    """Who it is and which trial; nobody where a name does not say."""
    word = re.search(r"leader|follower", name.lower())
    if word:
        return word[0], name.lower().replace(word[0], "").strip("_- ")
    found = re.fullmatch(r"(.*?)[_-](\d+)", name)
    return (found[1], found[2]) if found else ("", "")


# ---------------------------------------------------------------- the database


def find_base(context: WorkerContext, asked: PerformAsk, library: Library, channel: TaskChannel) -> Base:
    """The segment database of the examples: at hand, in its file, or made now."""
    chosen = choose(asked, library)
    named = [[entry and [clip_key(entry), entry.name] for entry in both] for both in chosen]
    key = digest([asked.lead, asked.cut, named])
    file = context.places.examples(key)
    if key not in context.bases:
        try:
            segments = open_segments(file)
        except GraphFileError:  # not made yet, or damaged
            segments = _build(context, asked, chosen, file, channel)
        context.keep_base(key, segments)
    if file.is_file():
        file.touch()  # so that it is not the oldest
    return Base(context.bases[key], chosen, file)


def _build(
    context: WorkerContext, asked: PerformAsk, chosen: Sequence[Chosen], file: Path, channel: TaskChannel
) -> SegmentDatabase:
    recorded = []
    for done, (leader, entry) in enumerate(chosen):
        channel.progress("cutting examples", done, len(chosen))
        clip = context.clip(entry)
        recorded.append(root_example(clip) if leader is None else pair_up(context.clip(leader), clip, cut=asked.cut))
    file.parent.mkdir(exist_ok=True)
    for old in sorted(file.parent.glob("*.mog"), key=lambda path: path.stat().st_mtime)[: 1 - FILES_KEPT]:
        old.unlink()
    settings = WALKS if asked.lead == "path" else PAIRS
    return save_segments(file, recorded, settings, overwrite=True, command="choreograph studio")
