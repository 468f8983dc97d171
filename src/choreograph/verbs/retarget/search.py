"""Retargeting as a search of one step: the body is read, the motion put on it, and both are compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choreograph.base.errors import FormatError, RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind, amount
from choreograph.contract.result import Answer, Metric, Motion, Result, Run
from choreograph.contract.search import OneStepSearch
from choreograph.contract.verb import CLIP, File
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.finishing.retarget_clean import PutOn, put_on
from choreograph.formats import read_clip
from choreograph.formats.asfamc import read_skeleton
from choreograph.formats.character import SUFFIXES, read_character
from choreograph.formats.rigged import RiggedCharacter
from choreograph.motion.clip import Clip
from choreograph.motion.foot_geometry import FootGeometry, body_stance, recorded_stance
from choreograph.motion.role_map import LEG_ROLES, SIDES, map_roles
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.retarget.measure import ARMS, LEGS, ankle_offsets, bone_angles, hand_offsets
from choreograph.verbs.retarget.request import RetargetRequest

_TOUCH_M = 0.03
"""How far a hand may be from what it touches."""
_ARM_DEG, _LEG_DEG = 5.0, 10.0
"""Mean angles between bones from which on the pose counts as missed."""


class TargetBody(NamedTuple):
    """Whose body a motion is put on."""

    skeleton: Skeleton
    stance: FootGeometry | None
    """How it stands: by its skin, or by how it does in the recording."""
    name: str


def read_body(file: str) -> TargetBody:
    """The body in a file: a character's, or that of a recording."""
    name = Path(file).stem
    character = find_character(file)
    if character is not None:
        legs = all(character.skeleton.find(role) is not None for role in LEG_ROLES)
        return TargetBody(character.skeleton, body_stance(character.skeleton, character.sole_m) if legs else None, name)
    if Path(file).suffix.lower() == ".asf":  # a body alone
        return TargetBody(read_skeleton(file), None, name)
    clip = read_clip(file)
    legs = all(clip.skeleton.find(role) is not None for role in LEG_ROLES)
    return TargetBody(clip.skeleton, recorded_stance(clip) if legs else None, clip.name or name)


def find_character(file: str) -> RiggedCharacter | None:
    """The character of a file; None where it is a motion file, or an FBX file without a mesh."""
    suffix = Path(file).suffix.lower()
    if suffix not in SUFFIXES:
        return None
    try:
        return read_character(file)
    except FormatError:
        if suffix != ".fbx":
            raise
        return None


class RetargetSearch(OneStepSearch[PutOn]):
    """One motion on another body."""

    def __init__(self, clip: Clip, request: RetargetRequest) -> None:
        """Prepare it.

        Args:
            clip: The motion.
            request: The body.
        """
        super().__init__(request)
        self.request: RetargetRequest = request
        self._clip = clip
        self._on = ""

    def make(self, progress: Progress) -> PutOn:
        """Put it there."""
        request = self.request
        if not request.to:
            raise RequestError("whose body is it to be? Name a character or a motion file", where="to")
        skeleton, stance, self._on = read_body(request.to)
        if request.roles:
            skeleton = skeleton.with_roles(dict(request.roles))
        return put_on(
            self._clip, skeleton, stance=stance, given=dict(request.joint_map),
            clean=request.clean, hands=request.touch_hands, keep_way=request.keep_way,
        )  # fmt: skip

    def best(self) -> Result:
        """The motion on the body."""
        clip, source, touches = self.made.clip, self._clip, self.made.touches
        arms, legs = bone_angles(source, clip, ARMS), bone_angles(source, clip, LEGS)
        metrics = {
            "seconds": Metric(clip.seconds, "s", "lasts"),
            "arms": Metric(float(np.degrees(arms.mean())) if arms.size else 0.0, "°", "arms off by"),
            "legs": Metric(float(np.degrees(legs.mean())) if legs.size else 0.0, "°", "legs off by"),
            "ankles": Metric(float(ankle_offsets(source, clip).mean()), "", "ankles off, in body heights, by"),
        }
        hands = hand_offsets(source, clip)
        if hands.size:
            metrics["hands"] = Metric(float(hands.mean()), "", "hands off, in body heights, by")
        if touches is not None and touches.any():
            misses = touches.misses(clip)
            metrics["touches"] = Metric(float(misses.max()) if misses.size else 0.0, "m", "touching hands off by")
        if clip.skeleton.feet and len(clip) > 1:
            metrics["foot_slide"] = Metric(plant_speed(clip), "m/s", "standing feet slide at")
        mapped = map_roles(source.skeleton, clip.skeleton, dict(self.request.joint_map))
        unlike = [name for name, joint in zip(clip.skeleton.names, mapped.low, strict=True) if joint < 0]
        answer = Answer(
            (Motion(clip, (Run(0, len(clip), source.name, 0.0),), self.made.raw, body=self._body()),),
            f"{source.name} on {self._on}",
            metrics,
            (*_problems(metrics, clip), *_arms_missing(source.skeleton, clip.skeleton)),
            details={"map": mapped.as_names(), "move_with_parent": unlike},
        )
        return Result("retarget", self.request, (answer,), seconds=self.seconds)

    def _body(self) -> str | None:
        return self.request.to if find_character(self.request.to) is not None else None


def _problems(metrics: dict[str, Metric], clip: Clip) -> Iterator[Problem]:
    for name, limit in (("arms", _ARM_DEG), ("legs", _LEG_DEG)):
        got = metrics[name].value
        if got > limit:
            facts = {"asked": 0.0, "got": got, "tolerance": limit, "unit": "°", "metric": name}
            more = "Name the joints yourself (joint_map)."
            yield Problem.of(ProblemKind.LIMB_MISMATCH, "to", what=name[:-1], more=more, **facts)
    if "touches" in metrics and metrics["touches"].value > _TOUCH_M:
        got = metrics["touches"].value
        lost = f"hands are up to {amount(got, 'm')} from what they touch in the recording"
        facts = {"asked": 0.0, "got": got, "tolerance": _TOUCH_M, "unit": "m", "metric": "touches"}
        yield Problem.of(ProblemKind.HANDS_APART, "to", lost=lost, **facts)


def _arms_missing(source: Skeleton, target: Skeleton) -> Iterator[Problem]:
    """One of the bodies has arms where the other has none, or none that are known to be."""
    wanted = [f"{side}_{part}" for side in SIDES for part in ("upper_arm", "forearm")]
    for body, other, whose, field in (
        (source, target, "the motion", "with_roles"),
        (target, source, "the character", "roles"),
    ):
        missing = [role for role in wanted if body.find(role) is None and other.find(role) is not None]
        if missing:
            roles = ", ".join(role.replace("_", " ") for role in missing)
            yield Problem.of(
                ProblemKind.JOINT_UNMAPPED, "to", whose=whose, roles=roles, asked=0.0, got=len(missing), unit="joints",
                more=f"Name them ({field}), out of: {', '.join(body.names[:40])}.",
            )  # fmt: skip


def retarget(
    clip: Clip | File, request: RetargetRequest | File, *, progress: Progress | None = None, **changes: Any
) -> Result:
    """A motion on another body.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.formats import write_clip
    >>> write_clip("hero.glb", demo_clip("walk", 30.0))
    >>> retarget(demo_clip("jump_high", 30.0), "hero.glb").best.name
    'jump_high on hero'

    Args:
        clip: The motion, or its file's name.
        request: Whose body, or the name of its file.
        progress: Hears how far it has come.
        **changes: Fields of the request.

    Returns:
        The motion, how far limbs and ankles are off, and the map of joints in `best.details["map"]`.
    """
    request_now = RetargetRequest(to=str(request), **changes) if isinstance(request, File) else request.with_(**changes)
    search = RetargetSearch(CLIP.read(clip), request_now)
    search.run(progress or silent)
    return search.best()
