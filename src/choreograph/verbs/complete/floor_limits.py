"""The floor under a body: nobody leaves it for what is asked of hands or the head.

In recordings a high hand may go with bent legs or with a jump, so a model lifts the body towards a hand's goal, feet
and all. How high feet are is told by the motion without such goals; where they are higher with them, the lowest foot is
asked back down, and what is missing then is for the arm to reach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.complete.encode import EncodedMotion
from choreograph.verbs.complete.feet import NEARLY, leg_side
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.residual_terms import POSITION, Term, Terms

FLIGHT_M = NEARLY.leave_height_m
"""From where on a body is off the floor: its lowest foot, above where that stands."""
RISE_M = 0.02
"""How much higher goals of the upper body may lift the lowest foot of a body that is on the floor."""
FLOOR_M = 0.003
"""What is tolerated of the lowest foot's height."""
_NEAR_S = 0.25
"""How much earlier or later a body may leave the floor than it does without goals of the upper body."""
_HIGHER_M = 0.05
"""How much higher than anybody recorded a body may be."""
_LONGER_S = 0.25
"""How much longer off the floor than anybody recorded a body may be: a flight of this length rises by 8 cm."""


def stand_levels(model: MotionModel) -> Floats:
    """Height of each joint where it stands, (J,); NaN where that is not known."""
    return np.full(len(model.encoding.skeleton), np.nan) if model.standing is None else model.standing


def knows_floor(model: MotionModel) -> bool:
    """Whether a model knows where feet stand."""
    feet = list(model.encoding.skeleton.feet)
    return bool(feet) and bool(np.isfinite(stand_levels(model)[feet]).all())


def clearance(clip: Clip, levels: Floats) -> Floats:
    """Height of the lowest foot above where it stands, (F,), metres."""
    feet = list(clip.skeleton.feet)
    return np.asarray((clip.global_positions()[:, feet, 1] - levels[feet]).min(axis=1))


def lowest_foot(pos: Floats, skeleton: Skeleton, levels: Floats) -> int:
    """The foot joint that is lowest in a pose (J, 3), beside where each stands."""
    feet = list(skeleton.feet)
    return feet[int((pos[feet, 1] - np.nan_to_num(levels[feet])).argmin())]


def is_upper(skeleton: Skeleton, joint: int) -> bool:
    """Whether a joint is above the hips: a goal for it says nothing of feet."""
    return joint not in (0, skeleton.hips) and leg_side(skeleton.roles[joint]) is None


def without_upper(terms: Terms, skeleton: Skeleton) -> Terms:
    """Terms without those of joints above the hips."""
    points = [term for term in terms.points if not is_upper(skeleton, term.joints[0])]
    return Terms(points, terms.poses, terms.places)


class Floor:
    """How high the lowest foot may be at each frame, and the terms that hold it down where it would be higher."""

    def __init__(self, clip: Clip, levels: Floats, terms: Terms) -> None:
        """How high it may be.

        Args:
            clip: The motion without goals of the upper body, at the model's rate.
            levels: Height of each joint where it stands, (J,).
            terms: What is asked; where that leads legs, hips or whole poses, nothing else holds them.
        """
        self.levels = levels
        """Height of each joint where it stands, (J,)."""
        self._held: dict[int, Term] = {}
        self.allow(clip, terms)

    def allow(self, clip: Clip, terms: Terms) -> None:
        """Let feet be as high as in another motion without goals of the upper body; arguments are as above."""
        from scipy.ndimage import maximum_filter1d

        self._own = np.clip(clearance(clip, self.levels), 0.0, None)
        near = maximum_filter1d(self._own, 2 * round(_NEAR_S * clip.fps) + 1)
        self._allowed = np.where(near > FLIGHT_M, np.inf, near + RISE_M)
        led = [term.frame for term in terms.points if not is_upper(clip.skeleton, term.joints[0])]
        self._allowed[[*led, *(pose.frame for pose in terms.poses)]] = np.inf
        self._held = {frame: term for frame, term in self._held.items() if math.isfinite(self._allowed[frame])}

    @property
    def terms(self) -> list[Term]:
        """What holds feet down so far."""
        return list(self._held.values())

    def hold(self, clip: Clip) -> bool:
        """Hold the lowest foot down wherever a motion lifts it too high; whether it does anywhere.

        A flight is held from where it begins to where it ends, not where it is highest alone.
        """
        now, below = clearance(clip, self.levels), False
        high = now > np.minimum(self._allowed, self._own + RISE_M / 2)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], high, [False]])))
        pos = clip.global_positions()
        for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if not (now[first:stop] > self._allowed[first:stop]).any():
                continue
            below = True
            for frame in range(first, stop):
                if math.isfinite(self._allowed[frame]):
                    joint = lowest_foot(pos[frame], clip.skeleton, self.levels)
                    wanted = (math.nan, float(self.levels[joint] + self._own[frame]), math.nan)
                    self._held[frame] = Term(POSITION, frame, (joint,), wanted, 1 / FLOOR_M)
        return below


def highest_recorded(model: MotionModel) -> float:
    """How high the lowest foot of anybody recorded is above where it stands, metres; infinite where nobody knows."""
    return max((float(high.max()) for high in _recorded(model)), default=math.inf)


def longest_recorded(model: MotionModel) -> float:
    """How long anybody recorded is off the floor at a time, seconds; infinite where nobody knows."""
    rate = model.encoding.rate_hz
    return max((_longest_flight(high)[1] / rate for high in _recorded(model)), default=math.inf)


def _recorded(model: MotionModel) -> list[Floats]:
    """Height of the lowest foot above where it stands, (F,), in each recording; none where nobody knows."""
    if model.examples is None or not knows_floor(model):
        return []
    rows = model.lifted(model.examples.states)
    clip = model.encoding.decode(EncodedMotion(rows, np.zeros((len(rows), 3))))
    return np.split(clearance(clip, stand_levels(model)), np.cumsum(model.examples.lengths)[:-1])


def _longest_flight(high: Floats) -> tuple[int, int]:
    """Where the longest time off the floor begins, and how many frames it lasts; 0 where there is none."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], high > FLIGHT_M, [False]])))
    begins, lengths = edges[::2], edges[1::2] - edges[::2]
    if not len(begins):
        return 0, 0
    longest = int(lengths.argmax())
    return int(begins[longest]), int(lengths[longest])


def find_flight(clip: Clip, model: MotionModel, targets: Sequence[Target]) -> Problem | None:
    """Where a motion is higher or longer off the floor than anybody recorded; None where it is not.

    Args:
        clip: The finished motion.
        model: Which knows the recordings.
        targets: What was asked: the nearest goal is to blame. Key poses may be as high as they are.
    """
    if not knows_floor(model):
        return None
    levels = stand_levels(model)
    high = clearance(clip, levels)
    top = int(high.argmax())
    keys = [float(clearance(target.pose, levels)[0]) for target in targets if target.pose is not None]
    most = max([highest_recorded(model), FLIGHT_M, *keys]) if high[top] > FLIGHT_M + _HIGHER_M else math.inf
    if high[top] > most + _HIGHER_M:
        return _flight_problem(top / clip.fps, "The lowest foot is above the floor by", (high[top], most, "m"), targets)
    first, count = _longest_flight(high)
    lasts = count / clip.fps
    if lasts > _LONGER_S and lasts > (longest := longest_recorded(model)) + _LONGER_S:
        return _flight_problem(first / clip.fps, "No foot stands for", (lasts, longest, "s"), targets)
    return None


def _flight_problem(at_s: float, what: str, amounts: tuple[float, float, str], targets: Sequence[Target]) -> Problem:
    """A problem, blamed on the goal that is nearest in time; amounts are what it is, what it may be, and the unit."""
    placed = [target for target in targets if target.kind in ("position", "pose", "offset", "view")] or list(targets)
    blamed = min(placed, key=lambda target: max(target.start_s - at_s, at_s - target.end_s, 0.0))
    got, nearest, unit = amounts
    return Problem.of(ProblemKind.AIRBORNE, blamed.where, what=what, got=got, nearest=nearest, unit=unit, at_s=at_s)
