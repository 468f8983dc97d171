"""Recorded examples by the name of where they are: a folder, a pattern, a file, a motion graph, a learned model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choreograph.graph.store import open_graph
from choreograph.verbs.complete.store import is_model_file, open_model
from choreograph.verbs.perform.sources import is_graph_file, read_recordings

if TYPE_CHECKING:
    from choreograph.graph.model import MotionGraph
    from choreograph.motion.clip import Clip
    from choreograph.verbs.complete.model import MotionModel


def open_examples(where: str) -> MotionModel | MotionGraph | list[Clip]:
    """What a name stands for: a model, a motion graph, or the recordings of a folder, a pattern or a file.

    Raises:
        ChoreographError: If there is nothing, or it cannot be read.
    """
    if is_model_file(where):
        return open_model(where)
    return open_graph(where) if is_graph_file(where) else read_recordings(where)
