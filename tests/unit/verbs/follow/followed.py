"""Paths followed on a small graph of demo motion, for tests of the follower and of the search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.finishing.assemble import assemble
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.scene.path import Path
from choreograph.verbs.follow.follower import PathFollower, PlanningStep
from choreograph.verbs.follow.request import FollowAdvanced, FollowRequest
from choreograph.verbs.follow.tables import EdgeTables
from choreograph.verbs.walk import Walk

QUICK = FollowRequest(bend=False, advanced=FollowAdvanced(beam_width=60, horizon_s=3.0))
"""Quick, and recordings as they are; `test_bends.py` bends them."""


@dataclass(frozen=True)
class Found:
    """A walk that was followed to its end."""

    walk: Walk
    path: Path
    status: str
    cost: float
    steps: list[PlanningStep]

    @property
    def proved(self) -> bool:
        return all(step.proved for step in self.steps)

    @property
    def transitions_per_second(self) -> float:
        graph = self.walk.graph
        return float((graph.edges.kind[self.walk.edges] == TRANSITION).sum() / (len(self.walk) / graph.rate_hz))


def quick(**how: object) -> FollowRequest:
    """A request that is answered quickly, with changes to it or to its search."""
    advanced = {name: how.pop(name) for name in list(how) if name in FollowAdvanced.model_fields}
    return QUICK.with_(advanced=QUICK.advanced.with_(**advanced), **how)


def follow_path(
    graph: MotionGraph, path: Path, request: FollowRequest | None = None, *, tables: EdgeTables | None = None
) -> Found:
    follower = PathFollower(graph, path, request, tables=tables)
    while follower.step():
        pass
    return found_by(follower)


def found_by(follower: PathFollower) -> Found:
    return Found(follower.walk(), follower.path, follower.status, follower.cost(), follower.steps)


def root_of(result: Found) -> np.ndarray:
    return assemble(result.walk.as_montage()).root_pos[:, [0, 2]]


def walked(root: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.hypot(*np.diff(root, axis=0).T))])


def errors(result: Found) -> np.ndarray:
    root = root_of(result)
    return np.linalg.norm(root - result.path.at(walked(root)), axis=1)


def follow(graph: MotionGraph, path: Path, tables: EdgeTables, **how: object) -> Found:
    return follow_path(graph, path, quick(**how), tables=tables)


def shown_clips(result: Found) -> list[str]:
    """The clip shown in each second's frames, by name."""
    table = result.walk.graph.edges
    return [result.walk.graph.infos[c].name for c in table.clip[result.walk.edges]]


# ------------------------------------------------------------------ where it goes
