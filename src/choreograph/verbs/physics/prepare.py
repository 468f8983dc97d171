"""From a clip and a request to a problem: body, examples, space, sketch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

import numpy as np

from choreograph.base.arrays import Flags
from choreograph.base.errors import RequestError
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.dynamics.contacts import (
    ContactPoints,
    find_hand_contacts,
    floor_height,
    measure_points,
    with_hands,
)
from choreograph.dynamics.dofs import Dofs, make_dofs
from choreograph.dynamics.gravity_check import doubt_rate, falls_at
from choreograph.goals.model import ContactGoal
from choreograph.motion.clip import Clip
from choreograph.verbs.physics.build_program import make_problem
from choreograph.verbs.physics.example_alignment import ExampleMean, ExampleTrack, find_lead, make_track
from choreograph.verbs.physics.examples import choose_examples
from choreograph.verbs.physics.goals import LIMB_KINDS, with_contacts, with_poses
from choreograph.verbs.physics.pose_basis import KEEP, PoseBasis, feet_level, make_basis
from choreograph.verbs.physics.program import TrajectoryProgram
from choreograph.verbs.physics.request import PhysicsRequest, names_graph
from choreograph.verbs.physics.sketch import Sketch, SketchChange, contacts_of, most_borne, sketch_clip

LONGEST_S = 20.0
"""Seconds that one problem may last."""
_AROUND_S = 0.5
_SAME_FLOOR_M = 0.015
_MUCH, _LITTLE = 0.3, 0.12
"""Shares of the time on both feet that are of different behaviours: jumps and runs."""
_LONGEST_FLIGHT_S = 1.5
"""Nobody is in the air for longer."""
_STRANGE_DEG = 9.0
"""Distance of key poses from the examples' space, beyond what the examples have, at which they lack the behaviour."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What stays the same while only the change is dragged."""

    clip: Clip
    """The part of the motion that is taken."""
    dofs: Dofs
    basis: PoseBasis
    points: ContactPoints
    floor: float
    examples: tuple[Clip, ...]
    flags: Flags
    """Which groups of contact points stand in each frame of it, (F, 6), or with hands (F, 8)."""
    feet: ContactPoints
    """The contact points of the feet alone."""

    @cached_property
    def tracks(self) -> list[ExampleTrack]:
        """The examples frame by frame: what they do at which moment of their contacts."""
        level = feet_level(self.clip) - self.floor
        return [make_track(one, self.basis, self.feet, self.floor, level) for one in self.examples]

    @cached_property
    def bears(self) -> float:
        """The largest force from the ground that the motion itself shows, BW."""
        return most_borne(self.clip, self.dofs)

    @cached_property
    def gravity(self) -> float | None:
        """How fast the body falls in the motion, m/s²; None where it does not fly."""
        return falls_at(self.clip, self.dofs.body, self.points, self.floor)


def take_part(clip: Clip, request: PhysicsRequest) -> Clip:
    """The part of a motion that a request takes.

    Raises:
        RequestError: If that is nothing, or longer than a problem may be.
    """
    first = round((request.start_s or 0.0) * clip.fps)
    last = len(clip) if request.end_s is None else min(len(clip), round(request.end_s * clip.fps) + 1)
    if last - first < 8:
        raise RequestError(
            f"{clip.name!r} lasts {clip.seconds:.2f} s; from {first / clip.fps:.2f} s on {max(0, last - first)} frames "
            "are left, and a motion needs 8 or more",
            where="start_s" if request.start_s else "",
        )
    part = clip[first:last]
    if part.seconds > LONGEST_S and not request.smallest_change:
        raise RequestError(
            f"the motion lasts {part.seconds:.0f} s; physics makes motions of up to {LONGEST_S:g} s: take a part "
            "of it (start_s, end_s)",
            where="end_s",
        )
    return part


def read_examples(names: Sequence[str], clip: Clip, only: str | None = None) -> Iterator[Clip]:
    """The examples that a request names, one after the other, on the motion's skeleton.

    Args:
        names: Motion files, folders, patterns, and graphs.
        clip: The motion.
        only: A query for the clips of graphs; None for all.

    Raises:
        RequestError: If there is none with the motion's joints, or a graph has none that the query finds.
    """
    from choreograph.formats import read_clips
    from choreograph.formats.inputs import find_motion_files
    from choreograph.graph.store import open_graph
    from choreograph.graph.subgraph import matching_clips

    def clips_of(name: str) -> Iterable[Clip]:
        if not names_graph(name):
            return (one for path in find_motion_files([name]) for one in read_clips(path))
        graph = open_graph(name)
        return graph.clips if only is None else (graph.clips[n] for n in matching_clips(graph.infos, only))

    seen = fitting = 0
    for name in names:
        for one in clips_of(name):
            seen += 1
            if one.skeleton.same_joints(clip.skeleton):
                fitting += 1
                yield one.with_skeleton(clip.skeleton) if one.skeleton is not clip.skeleton else one
    if names and not fitting:
        raise RequestError(
            f"none of the {seen} examples has the joints of {clip.name!r}; retarget them onto its skeleton first",
            where="like",
        )


def _nearest(part: Clip, candidates: Iterator[Clip], most: int, height: float, floor: float) -> list[Clip]:
    """All candidates, or where there are more than so many (0: any number), those most like the motion."""
    first = list(islice(candidates, most + 1) if most else candidates)
    if not most or len(first) <= most:
        return first
    return choose_examples(part, chain(first, candidates), measure_points([part], height, floor), floor, most)


def make_setting(clip: Clip, request: PhysicsRequest, examples: Sequence[Clip] | None = None) -> Setting:
    """Body, space and contact points for a request.

    Args:
        clip: The motion.
        request: What is asked.
        examples: Motions of the behaviour, instead of those that the request names.
    """
    part = take_part(clip, request)
    body = request.body.of(clip.skeleton)
    floor = floor_height([clip]) if request.floor_m is None else request.floor_m
    offered = iter(examples) if examples is not None else read_examples(request.like, clip, request.only)
    given = _nearest(part, offered, request.nearest, body.height, floor)
    points = measure_points([part, *_on_its_floor(clip, given)], body.height, floor)
    used = given or [part]
    hands = request.hands_carry or bool(request.contacts("hand"))
    feet = points
    if hands:
        points = with_hands(points, clip.skeleton, body.height)
    dofs = make_dofs(body, [part, *used])
    keep = KEEP if request.advanced.dimensions is None else request.advanced.dimensions
    flags = _contacts(clip, part, request, dofs, feet, floor)
    if hands:
        down = find_hand_contacts(part, points, floor) if request.hands_carry else np.zeros((len(part), 2), bool)
        flags = np.concatenate([flags, down], axis=1)
    sketched = any(isinstance(goal, ContactGoal) for goal in request.goals)
    if part.seconds > _LONGEST_FLIGHT_S and not flags.any() and not sketched:
        raise RequestError(
            f"no foot stands on the floor in {part.seconds:.2f} s of {clip.name!r}, so nothing carries the body; take "
            "a part with take-off and landing, give the floor's height (floor_m), or say where feet stand",
            where="floor_m",
        )
    basis = make_basis(dofs, used, keep, arms=hands, level=feet_level(clip) - floor)
    return Setting(part, dofs, basis, points, floor, tuple(used), flags, feet)


def _on_its_floor(clip: Clip, examples: Sequence[Clip]) -> list[Clip]:
    """The examples whose feet stand as high as the motion's: another person's, put onto its skeleton, may float."""
    own = feet_level(clip)
    return [one for one in examples if abs(feet_level(one) - own) < _SAME_FLOOR_M]


def _contacts(
    clip: Clip, part: Clip, request: PhysicsRequest, dofs: Dofs, points: ContactPoints, floor: float
) -> Flags:
    """Contacts of the part, found with what lies before and behind it, which its accelerations need."""
    first, more = round((request.start_s or 0.0) * clip.fps), round(_AROUND_S * clip.fps)
    start = max(0, first - more)
    around = clip[start : min(len(clip), first + len(part) + more)]
    return contacts_of(around, dofs, points, floor)[first - start :][: len(part)]


def sketch_of(setting: Setting, request: PhysicsRequest, coarser: float = 1.0) -> Sketch:
    """The sketch that a request makes of its motion.

    Args:
        setting: What it is about.
        request: What is asked.
        coarser: Times as far between nodes as usual.
    """
    change = SketchChange(
        request.farther_m,
        request.higher_m,
        float(np.radians(request.turn_deg)),
        request.duration_share,
        request.speed_m_s,
    )
    sketch = sketch_clip(setting.clip, setting.basis, setting.points, setting.floor, change, coarser, setting.flags)
    for limb in LIMB_KINDS:
        goals = request.contacts(limb)
        if goals:
            sketch = with_contacts(sketch, limb, goals, setting.dofs, setting.points)
    return with_poses(sketch, request.goals, setting.clip, setting.dofs)


def lead_of(setting: Setting, sketch: Sketch, request: PhysicsRequest) -> ExampleMean | None:
    """What the examples do at a sketch's moments, where a request wants to know."""
    return find_lead(sketch, setting.basis, setting.tracks) if request.advanced.mean == "moving" else None


def problem_of(
    setting: Setting, sketch: Sketch, request: PhysicsRequest, lead: ExampleMean | None = None
) -> TrajectoryProgram:
    """The problem of a sketch.

    Args:
        setting: What it is about.
        sketch: What the motion shall be.
        request: What is asked.
        lead: What the examples do at its moments, where that is known already.
    """
    _check_floor(setting, sketch)
    lead = lead_of(setting, sketch, request) if lead is None else lead
    return make_problem(
        sketch, setting.basis, setting.points, floor=setting.floor, weights=request.advanced.weights,
        limits=request.advanced.limits.bearing(setting.bears), lead=lead, free=request.advanced.mean != "fixed",
    )  # fmt: skip


def _check_floor(setting: Setting, sketch: Sketch) -> None:
    for pose in sketch.poses:
        if not pose.whole:
            continue
        body = setting.dofs.clip(pose.q[None], 1.0, "pose")
        heights = body.global_positions()[0, :, 1] - setting.floor
        lowest = int(heights.argmin())
        if heights[lowest] < -0.05:
            raise RequestError(
                f"the pose at {sketch.times[pose.node]:.2f} s has its {setting.dofs.skeleton.names[lowest]} "
                f"{-100 * heights[lowest]:.0f} cm inside the floor; raise the pose, or give the floor's height",
                where="floor_m",
            )


def check_examples(setting: Setting, sketch: Sketch) -> list[Problem]:
    """What can be said before solving: whether the examples have the behaviour."""
    own, contacts = setting.basis.off_deg, [track.flags for track in setting.tracks]
    poses = np.array([pose.q for pose in sketch.poses])
    off = setting.basis.error_deg(poses)
    flies = bool((~setting.flags.any(axis=1)).any())
    fly = [bool((~flags.any(axis=1)).any()) for flags in contacts]
    both, known = _on_both(setting.flags), max(_on_both(flags) for flags in contacts)
    problems = doubt_rate(setting.gravity, setting.clip.fps) if flies else []
    weak: list[tuple[str, float | None, float | None, str]] = []
    if off - own > _STRANGE_DEG:
        weak.append((f"Key poses are {off:.0f}° from what the examples can do, the examples {own:.0f}°", own, off, "°"))
    if flies and not any(fly):
        weak.append(("The motion leaves the floor and none of the examples does", None, None, ""))
    if both > _MUCH and known < _LITTLE:
        what = f"Both feet are planted for {both:.0%} of the motion, and for at most {known:.0%} of any example"
        weak.append((what, both, known, ""))
    for what, least, got, unit in weak:
        facts = {"asked": least, "got": got, "unit": unit}
        problems.append(Problem.of(ProblemKind.EXAMPLES_WEAK, "like", what=what, **facts))
    return problems


def _on_both(flags: Flags) -> float:
    """Share of the time that both feet stand."""
    return float((flags[:, :3].any(axis=1) & flags[:, 3:6].any(axis=1)).mean())
