"""Carrying a clip onto another body: the same joints with other lengths, or another rig altogether.

The root's path is scaled by the ratio of leg lengths, and so are the ankles' paths: a foot that stood still in the
recording stands still here too, at a spot scaled with the rest, as much wider as the hips are. Every bone points where
the source's does (`role_map`), whatever the rest poses are; the middle of the hip joints leads. Legs are then solved
analytically so that standing feet are where they should be, with knees bent in the plane they were bent in. A body
that is the recorded one in another size moves exactly as recorded.
"""

from __future__ import annotations

from collections.abc import Mapping

from choreograph.base.arrays import Flags, Floats, seal
from choreograph.motion import kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.detached_feet import rehang
from choreograph.motion.foot_geometry import FootGeometry, body_stance, leg_length, likely_stance
from choreograph.motion.remap import remap
from choreograph.motion.role_map import map_roles
from choreograph.motion.skeleton import Skeleton

WAY_SCALES = (0.85, 1.5)
"""Lengths of legs, in those of the recorded ones, with which a body can take the recorded steps as they are."""


def retarget(
    clip: Clip,
    skeleton: Skeleton,
    *,
    sole_m: float | None = None,
    given: Mapping[str, str] | None = None,
    stance: FootGeometry | None = None,
    keep_way: bool = False,
) -> Clip:
    """The clip's motion on another body; the clip itself if the skeletons match already.

    Args:
        clip: The motion, on its own body.
        skeleton: The body that is to move.
        sole_m: Height of its soles in the rest pose with the root at the origin, metres; else of its lowest point. A
            skin's lowest vertex is lower than any joint.
        given: Joints of the body, by name, with the source's joint that each takes its rotation from.
        stance: How the body stands in a recording of it, where there is one (`recorded_stance`).
        keep_way: Whether it goes where the clip goes, rather than as much farther as its legs are longer. Bodies whose
            legs are too short or long for such steps (`WAY_SCALES`) are scaled nevertheless.

    Raises:
        RoleError: If no legs are known, whose lengths give the scale.
    """
    if clip.skeleton.matches(skeleton) and not given:
        return clip
    rehung = rehang(skeleton)
    body = skeleton if rehung is None else rehung.body
    roles = map_roles(clip.skeleton, body, given)
    stance = stance or (likely_stance(clip, body) if sole_m is None else None) or body_stance(body, sole_m)
    root, rotations, contacts = remap(clip, roles, stance, way_scale(clip.skeleton, body) if keep_way else None)
    clip_out = _new_clip(clip, body, root, rotations, contacts)
    return clip_out if rehung is None else rehung.on_rig(clip_out)


def way_scale(source: Skeleton, target: Skeleton) -> float:
    """Scale of the way along the floor where it is to be kept: 1, or that of the legs where these differ too much."""
    scale = leg_length(target) / leg_length(source)
    return 1.0 if WAY_SCALES[0] <= scale <= WAY_SCALES[1] else scale


def _new_clip(
    clip: Clip,
    skeleton: Skeleton,
    root: Floats,
    rotations: Floats,
    contacts: Flags | None,
) -> Clip:
    return Clip(
        skeleton,
        clip.fps,
        seal(root),
        seal(kinematics.unit_and_continuous(rotations)),
        clip.name,
        labels=clip.labels,
        contacts=contacts,
        source=clip.source,
    )


__all__ = ["WAY_SCALES", "leg_length", "retarget", "way_scale"]
