"""How fast bodies go and turn: the fastest among recordings, and what is asked that is faster than anybody recorded.

Such goals are met all the same, and that is a problem of the result. What is too fast does not bend the body, which
would follow what the model knows of velocities far beyond where it knows anything: it is carried along instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.problem import Problem, ProblemKind, amount
from choreograph.motion.clip import Clip
from choreograph.verbs.complete.encode import EncodedMotion, velocities
from choreograph.verbs.complete.residual_terms import POSITION, Terms

if TYPE_CHECKING:
    from choreograph.goals.target import Target
    from choreograph.verbs.complete.model import MotionModel

WAYS = ("", ", backwards,", ", sideways,", ", turning,", ", up or down,")
"""How a body can move too fast, as messages say it."""
SPANS_S = (0.1, 0.5)
"""Seconds over which speeds are measured: a leap of one frame shows over the shorter, a long way over the longer."""
_TURNS = WAYS.index(", turning,")
FASTER = 1.25  # times the fastest in the recordings: what is above is too fast
_ROOM = np.where(np.arange(len(WAYS)) == _TURNS, 1.0, 0.3)
"""How much faster than the fastest recorded a motion may be: a factor, and then m/s or rad/s. A clip that is left out
is hardly ever faster than the others of its kind by more."""
_CARRIED_FROM, _CARRIED_WHOLE = 1.5, 2.0
"""From how many times the fastest on bodies are carried, and from where on all that is too fast is."""


def speeds(track: EncodedMotion, rate_hz: float, span_s: float) -> Floats:
    """How fast a body is in each of the ways over every span of a motion, (N, ways), m/s and rad/s.

    A motion that is shorter than the span has one, from its first to its last frame.
    """
    rows, place = track
    frames = min(max(1, round(span_s * rate_hz)), len(place) - 1)
    if frames < 1:
        return np.zeros((0, len(WAYS)))
    x, z, turned = (place[frames:] - place[:-frames]).T * rate_hz / frames
    yaw = place[frames // 2 : len(place) - frames + frames // 2, 2]
    side, ahead = x * np.cos(yaw) - z * np.sin(yaw), x * np.sin(yaw) + z * np.cos(yaw)
    rises = (rows[frames:, -4] - rows[:-frames, -4]) * rate_hz / frames
    return np.stack([np.hypot(x, z), np.maximum(-ahead, 0.0), np.abs(side), np.abs(turned), np.abs(rises)], axis=1)


def find_fastest(tracks: Sequence[EncodedMotion], rate_hz: float) -> Floats:
    """The fastest that anybody is in recordings, over each span, (spans, ways)."""
    return np.array(
        [np.max([speeds(track, rate_hz, span).max(axis=0, initial=0.0) for track in tracks], axis=0)
         for span in SPANS_S]
    )  # fmt: skip


def find_too_fast(clip: Clip, model: MotionModel, targets: Sequence[Target]) -> Problem | None:
    """What a motion does faster than anybody recorded, where it is too fast by most; None where it is not.

    Args:
        clip: The finished motion.
        model: Which knows the fastest; older files do not, then nothing is too fast.
        targets: What was asked: the next one that says where the body is, is to blame.
    """
    if model.fastest is None:
        return None
    track, worst, problem = replace(model.encoding, rate_hz=clip.fps).encode(clip), 1.0, None
    for span, recorded in zip(SPANS_S, model.fastest, strict=True):
        own = speeds(track, clip.fps, span)
        if not len(own):
            continue
        over = own / (FASTER * recorded + _ROOM)
        first, way = np.unravel_index(over.argmax(), over.shape)
        if over[first, way] > worst:
            worst = float(over[first, way])
            at = (int(first) + min(span * clip.fps, len(clip) - 1) / 2) / clip.fps
            problem = _problem(int(way), float(own[first, way]), float(recorded[way]), at, targets)
    return problem


def _problem(way: int, speed: float, recorded: float, at_s: float, targets: Sequence[Target]) -> Problem:
    unit, per = ("°/s", float(np.degrees(1.0))) if way == _TURNS else ("m/s", 1.0)
    placed = [target for target in targets if target.kind in ("pose", "place", "facing", "position")]
    after = sorted((target for target in placed if target.end_s >= at_s), key=lambda target: target.start_s)
    where = after[0].where if after else placed[-1].where if placed else "duration_s"
    got = per * speed
    return Problem.of(
        ProblemKind.TOO_FAST, where, what=f"The body{WAYS[way]}", speed=amount(got, unit), got=got,
        nearest=per * recorded, unit=unit, at_s=at_s,
    )  # fmt: skip


def find_carried(model: MotionModel, frames: int, terms: Terms) -> Floats | None:
    """Steps (F - 1, 3) of the root by which goals carry the body: what is too fast for anybody recorded; None where
    nothing is.

    Between places the straight way is the slowest, whatever way the body takes.
    """
    if model.fastest is None or model.limits is None or (place := _straight(model, frames, terms)) is None:
        return None
    rate = model.encoding.rate_hz
    speed, most = velocities(place, rate)[:-1], model.fastest[0]
    times = np.stack([np.hypot(speed[:, 0], speed[:, 1]) / most[0], np.abs(speed[:, 2]) / most[_TURNS]], axis=1)
    share = np.clip((times - _CARRIED_FROM) / (_CARRIED_WHOLE - _CARRIED_FROM), 0.0, 1.0)
    over = (speed - np.clip(speed, *model.limits[:, -3:])) * share[:, [0, 0, 1]]
    if not over.any():
        return None
    cos, sin = np.cos(place[:-1, 2]), np.sin(place[:-1, 2])
    x, z = over[:, 0] * cos + over[:, 1] * sin, -over[:, 0] * sin + over[:, 1] * cos
    return np.stack([x, z, over[:, 2]], axis=1) / rate


def _straight(model: MotionModel, frames: int, terms: Terms) -> Floats | None:
    """The way straight from place to place that is asked of the body, (F, 3); None where fewer than two are."""
    hips = model.encoding.skeleton.hips
    points = [term for term in terms.points if term.kind == POSITION and term.joints[0] == hips]
    known = {term.frame: (term.target[0], term.target[2]) for term in points if np.isfinite(term.target[::2]).all()}
    known |= {pose.frame: (pose.place[0], pose.place[1]) for pose in terms.poses if np.isfinite(pose.place[:2]).all()}
    if len(known) < 2:
        return None
    headings = [(place.frame, float(place.place[2])) for place in terms.places if place.source >= 0]
    headings += [(pose.frame, float(pose.place[2])) for pose in terms.poses]
    faces = {frame: yaw for frame, yaw in headings if np.isfinite(yaw)}
    at, every = sorted(known), np.arange(frames)
    x, z = (np.interp(every, at, [known[frame][column] for frame in at]) for column in range(2))
    if faces:
        yaw = np.interp(every, sorted(faces), np.unwrap([faces[frame] for frame in sorted(faces)]))
    else:
        yaw = np.unwrap(np.arctan2(np.gradient(x), np.gradient(z)))
    return np.stack([x, z, yaw], axis=1)
