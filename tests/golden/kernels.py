"""What kernels are given for one request each: shape, type, hash and sums of every array.

python -m tests.golden.kernels      # record it again, after a change that is meant to change it
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from tests.golden.cases import as_text
from tests.golden.shared import BEGIN, learned, planned, walks
from tests.unit.verbs.plan.requests import request_of

import choreograph as cg
from choreograph.goals.model import PlaceGoal
from choreograph.scene.model import Obstacle, Shape, Start, StepOver
from choreograph.verbs.plan.request import Corridor

KEPT = Path(__file__).parent / "kernels.json"
DECIMALS = 9
"""To which values are rounded before they are hashed."""


def arrays(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Arrays and numbers within named tuples, dataclasses, mappings and lists, by their places."""
    if isinstance(value, np.ndarray | int | float | complex | np.generic):
        yield name, np.asarray(value)
    elif hasattr(value, "_fields"):
        for field in value._fields:
            yield from arrays(getattr(value, field), f"{name}.{field}")
    elif dataclasses.is_dataclass(value):
        for entry in dataclasses.fields(value):
            yield from arrays(getattr(value, entry.name), f"{name}.{entry.name}")
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from arrays(one, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for n, one in enumerate(value):
            yield from arrays(one, f"{name}.{n}")


def digest(array: Any) -> list[Any]:
    """Shape, type, hash, sum of sizes, and a sum in which every place counts otherwise: by these two, arrays are the
    same but for rounding on any processor, whatever their hash says."""
    flat = np.abs(array).ravel() if array.dtype.kind == "c" else array.ravel()
    rounded = np.round(array, DECIMALS) + 0.0 if array.dtype.kind in "fc" else array
    code = hashlib.sha256(np.ascontiguousarray(rounded).tobytes()).hexdigest()[:16]
    values = np.nan_to_num(flat.astype(np.float64), nan=-77.7, posinf=777.7, neginf=-777.7)
    mixed = values @ np.cos(np.arange(len(values)))
    return [list(array.shape), array.dtype.name, code, *(float(f"{x:.12g}") for x in (np.abs(values).sum(), mixed))]


def follow_inputs() -> Any:
    """Tables, path and numbers of a bent walk with a label, a pause and a speed."""
    from choreograph.verbs.follow import follower

    path = cg.named_path("s").with_stretch(6.0, 12.0, label="jog").with_stretch(2.0, 2.0, pause=1.0)
    request = cg.FollowRequest.of_path(path.with_stretch(3.0, 5.0, speed=1.2).with_final_facing(0.5))
    kept: list[Any] = []
    pager = follower.Pager

    def spy(*given: Any, **named: Any) -> Any:
        kept.append(pager(*given, **named))
        return kept[-1]

    with patch.object(follower, "Pager", spy):
        cg.follow(walks(), request)
    return kept[0].inputs


def solve_inputs() -> Any:
    """Terms of every kind, and what is known of clips and cuts."""
    from choreograph.verbs.solve.terms import compile_request

    request = cg.SolveRequest(
        6.0,
        goals=(
            cg.LabelGoal(start_s=0.0, end_s=1.5, label="walk"),
            cg.PlaceGoal(6.0, (3.0, 4.0), 86.0, weight=2.0),
            cg.PlaceGoal(3.0, (0.5, 3.0)),
            BEGIN,
            cg.JointGoal(2.0, "head", (None, 1.6, None)),
            cg.JointGoal(2.5, "left_hand", velocity=(None, None, 2.0)),
            cg.PoseGoal(4.5, cg.PoseSource("stand", 10), weight=3.0),
            cg.PoseGoal(5.0, cg.PoseSource("walk", 60), exact=True, duration_s=0.3),
        ),
        scene=cg.Scene((
            Obstacle(centre=(0.0, 1.5), radius_m=0.3),
            Obstacle(low=(2.0, 0.0), high=(3.0, 1.0), weight=0.5, of="hips", clearance_m=0.3),
        )),
    )  # fmt: skip
    return compile_request(request, walks(), cg.find_hierarchy(walks()))[0]


def plan_inputs() -> Any:
    """Moves, scene and lower bounds of a plan through everything that a scene can hold."""
    from choreograph.verbs.plan.task import Margins, Task
    from choreograph.verbs.plan.world import make_world

    request = request_of(
        start=Start(place=(0.0, -1.0), facing_deg=10.0),
        goal=PlaceGoal(place=(0.5, 4.0), facing_deg=20.0),
        obstacles=(
            Obstacle(centre=(0.45, 1.5), radius_m=0.25, height_m=0.8),
            Obstacle(corners=((2, 1), (3, 1), (2, 2))),
        ),
        gaps=(Shape(low=(-1.0, 1.4), high=(0.0, 1.5)),),
        stones=(Shape(centre=(0.0, 2.1), radius_m=0.2),),
        keep_off=(Shape(centre=(0.9, 1.0), radius_m=0.1),),
        bars=(Obstacle(ends=((-1.0, 0.5), (1.0, 0.5)), base_m=2.0),),
        step_over=(StepOver(low=(0.6, 2.0), high=(0.9, 2.2), height_m=0.2),),
        through=(PlaceGoal(place=(0.2, 1.8), tolerance_m=0.4), PlaceGoal(ends=((-1.0, 3.0), (1.0, 3.0)))),
        path=Corridor(points=((0.0, -1.0), (0.0, 1.5), (0.5, 4.0)), tolerance_m=1.0),
    )
    plans = cg.find_plan_graph(planned())
    task = Task.of(make_world(planned(), plans, request), request, Margins(0.03, {}))
    return {"moves": task.moves, "scene": task.scene, "heuristic": task.heuristic, "costs": task.edge_costs}


def complete_inputs() -> Any:
    """Terms of every kind of goal."""
    from choreograph.verbs.complete.solver import MapSolver

    camera = cg.Camera((3.0, 1.2, 1.0), (0.0, 1.0, 1.0))
    goals = [
        cg.PoseGoal(0.0, cg.PoseSource("walk", 10), as_recorded=True),
        cg.PoseGoal(2.5, cg.PoseSource("walk", 80), exact=False, weight=0.5),
        cg.PlaceGoal(3.0, (0.4, 4.0), 15.0),
        cg.PlaceGoal(start_s=1.0, end_s=1.3, facing_deg=5.0, weight=2.0),
        cg.JointGoal(1.0, "right_hand", (-0.3, 1.25, None)),
        cg.JointGoal(start_s=2.0, end_s=2.4, joint="left_hand", points=[(0.4, 1.1, 3.0), (0.5, 1.2, 3.5)]),
        cg.JointGoal(1.7, "left_hand", velocity=(None, None, 1.5)),
        cg.TurnGoal(2.2, "head", (0.8, 0.0, 0.6, 0.0)),
        cg.AngleGoal(1.5, "left_forearm", 60.0),
        cg.DistanceGoal(0.7, ("left_hand", "head"), 0.45),
        cg.OffsetGoal(2.7, "right_hand", "hips", (None, 0.3, None)),
        cg.ViewGoal(0.4, "left_hand", camera, (0.5, 0.5)),
        cg.ContactGoal(start_s=0.5, end_s=0.8, foot="left"),
    ]
    request = cg.CompleteRequest(3.0, goals)
    kept: list[Any] = []
    begin = MapSolver.__init__

    def spy(self: Any, model: Any, frames: int, terms: Any, *given: Any, **named: Any) -> None:
        parts = {"points": terms.compiled, "poses": list(terms.poses), "places": list(terms.places)}
        kept.append((len(terms.points), len(terms.poses), {"frames": frames, **parts}))
        begin(self, model, frames, terms, *given, **named)

    with patch.object(MapSolver, "__init__", spy):
        cg.complete(learned(), request)
    return next(parts for points, poses, parts in kept if points and poses > 1)


GIVEN: dict[str, Callable[[], Any]] = {
    "follow": follow_inputs,
    "solve": solve_inputs,
    "plan": plan_inputs,
    "complete": complete_inputs,
}


def digests(verb: str) -> dict[str, list[Any]]:
    """Of all that a verb's kernels are given."""
    return {name: digest(array) for name, array in arrays(GIVEN[verb](), verb)}


def main() -> None:
    """Record what kernels are given today."""
    kept = {verb: digests(verb) for verb in GIVEN}
    KEPT.write_text(as_text(kept) + "\n", "utf-8")
    print({verb: len(found) for verb, found in kept.items()})


if __name__ == "__main__":
    main()
