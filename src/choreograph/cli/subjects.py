"""What verbs work on, as the command line names it: graphs, motions, recorded examples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from choreograph.cli.tool import parse_take
from choreograph.contract.request import Request
from choreograph.contract.verb import CLIP, EXAMPLES, GRAPH, Subject
from choreograph.progress import Progress


class Loaded(NamedTuple):
    """A subject that was read."""

    kind: str
    value: Any
    notes: Sequence[str] = ()
    """What is to be said about it."""


def load(subject: Subject, text: str, request: Request, progress: Progress, *, take: str | None = None) -> Loaded:
    """The subject that a word on the command line names; of a motion file with several takes, the one named."""
    if subject is CLIP:
        return _clip(text, 0 if take is None else parse_take(take))
    return _LOADERS[subject.name](text, request, progress)


def _graph(text: str, request: Request, progress: Progress) -> Loaded:
    from choreograph.graph.store import open_graph

    return Loaded(GRAPH.name, open_graph(Path(text)))


def _clip(text: str, take: int | str) -> Loaded:
    from choreograph.formats import read_clip

    clip = read_clip(Path(text), take=take)
    return Loaded(CLIP.name, clip, [] if clip.source is None else [str(note) for note in clip.source.notes])


def _examples(text: str, request: Request, progress: Progress) -> Loaded:
    from choreograph.graph.store import open_graph
    from choreograph.synthesis.complete.store import is_model_file, open_model
    from choreograph.synthesis.perform.sources import is_graph_file, read_recordings

    if is_model_file(text):
        return Loaded(EXAMPLES.name, open_model(text))
    return Loaded(EXAMPLES.name, open_graph(Path(text)) if is_graph_file(text) else read_recordings(text))


_LOADERS = {GRAPH.name: _graph, EXAMPLES.name: _examples}
