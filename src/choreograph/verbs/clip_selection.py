"""The recordings that a request is answered from: those it asks for, and of an archive as many as the verb can take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.search import Search
from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.clips import clip_info
from choreograph.graph.model import MotionGraph
from choreograph.graph.subgraph import matching_clips, spread_clips
from choreograph.motion.clip import Clip
from choreograph.motion.labels import label_words, matches_label

METHOD = 1
"""One more whenever other clips would be chosen of the same graph."""


class ChoosingSearch(Search):
    """A search that is answered from some of what it is given."""

    whole: Any = None
    """All that it was given."""
    left_out: tuple[Problem, ...] = ()
    """What of that was left out without being asked to."""

    def choose(self, subject: Any, request: ChosenRequest) -> Any:
        """What of a subject the request is answered from; the same object where the same is chosen again.

        Raises:
            RequestError: If one of them is something else, such as the name of a file; the message says what to give.
        """
        if isinstance(subject, str | Path):
            raise RequestError(f"{str(subject)!r} is the name of a file; open it first: open_graph({str(subject)!r})")
        if not isinstance(request, ChosenRequest):
            kind = type(self).__name__.replace("Search", "Request")
            raise RequestError(
                f"what is asked for is a {kind}, not {type(request).__name__}; fill one in: cg.{kind}(…)"
            )
        choice = narrow(subject, request)
        self.whole, self.left_out = subject, choice.left_out
        return choice.subject


class Narrowed(NamedTuple):
    """What a request is answered from."""

    subject: Any
    left_out: tuple[Problem, ...] = ()
    """What was left out without being asked to."""


def narrow(subject: Any, request: ChosenRequest) -> Narrowed:
    """The part of a graph, or of recordings, that a request is answered from.

    Args:
        subject: A graph, or clips; anything else stays as it is.
        request: What is asked: its `only`, and clips and labels that it names.

    Raises:
        RequestError: If nothing is left; the message says what matched.
    """
    if isinstance(subject, MotionGraph):
        return _narrow_graph(subject, request)
    if request.only and isinstance(subject, Sequence) and subject and all(isinstance(one, Clip) for one in subject):
        infos = [clip_info(clip, clip.fps, None) for clip in subject]
        return Narrowed([subject[number] for number in matching_clips(infos, request.only)])
    if request.only:
        raise RequestError("only chooses among the clips of a graph or of recordings; there are none", where="only")
    return Narrowed(subject)


def _narrow_graph(graph: MotionGraph, request: ChosenRequest) -> Narrowed:
    part, most = graph if request.only is None else graph.only(request.only), request.frames_at_once
    if request.only is not None and request.walks_edges and not len(part.nodes):
        seconds = sum(info.seconds for info in part.infos)
        raise RequestError(
            f"only {request.only!r} matches {len(part.infos)} of {len(graph.infos)} clips ({seconds:.0f} s), but no "
            "transitions join them into anything that goes on; ask for more",
            where="only",
        )
    have = int(part.clip_frames.sum())
    if not most or have <= max(most, request.whole_frames):
        return Narrowed(part)
    first = tuple(_mentioned(part, list(_texts(request.as_document())), most))
    chosen = part.kept_part(("spread", most, first), lambda: _spread(part, most, first))
    used = int(chosen.clip_frames.sum())
    note = Problem.of(
        ProblemKind.LIBRARY_SAMPLED, "only", number=len(chosen.infos), total=len(part.infos), asked=have, got=used,
        used=used / part.rate_hz / 60, have=have / part.rate_hz / 60,
        more='Choose yourself (only), as with "walk or run".',
    )  # fmt: skip
    return Narrowed(chosen, (note,))


def _spread(graph: MotionGraph, most: int, first: Sequence[int]) -> list[int]:
    """The clips that are chosen; the cache has them too, since all edges are read to choose them."""
    key = find_key(graph, "chosen clips", METHOD, ("motion", "labels", "edges"), most=most, first=list(first))
    count = len(graph.infos)
    return find_or_build(
        key,
        lambda: spread_clips(graph, most, first),
        lambda chosen: Content({"clips": chosen}, {}),
        lambda content: [range(count)[int(number)] for number in content.facts["clips"]],
    )


def _mentioned(graph: MotionGraph, texts: Sequence[str], most: int) -> list[int]:
    """The clips that a request names, and of those with a label that it asks for some, as much of each label."""
    wanted = sorted(set(texts))
    chosen = [number for number, info in enumerate(graph.infos) if info.name in wanted]
    labels = {label.text for info in graph.infos for label in info.labels}
    fits = [{text for text in labels if matches_label(one, text)} for one in wanted if label_words(one)]
    fits = [texts_here for texts_here in fits if texts_here]
    for texts_here in fits:
        # Who runs for a stretch walks before: half of the room is left for what is not asked for.
        room = most // 2 // len(fits)
        for number, info in enumerate(graph.infos):
            if room > 0 and any(label.text in texts_here for label in info.labels):
                chosen.append(number)
                room -= info.frames
    return chosen


def _texts(value: Any) -> Iterator[str]:
    """Every text in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
