"""From a splice to a finished motion: cuts smoothed, flicks mended, body constraints met exactly, feet clean.

After Arikan & Forsyth (2002, section 4.2.3). A cut is a jump from the pose that would have come to the pose that does.
Half of it is added before the cut and half taken away behind it, fading over a window on either side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.finishing.assemble import Origins, Shown, lay_out, output_rate, sample_numpy
from choreograph.finishing.blend import BlendSettings
from choreograph.finishing.exact import keep_poses, room_around
from choreograph.finishing.footskate import CleanSettings, clean_feet
from choreograph.maths import quat
from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import seal
from choreograph.motion.clip import Clip
from choreograph.motion.display import ShowsItself
from choreograph.motion.repair import remove_spikes
from choreograph.progress import Progress
from choreograph.synthesis.solve.request import BodyTarget
from choreograph.synthesis.solve.splice import Splice
from choreograph.synthesis.solve.together import GroupAnswer

Array = NDArray[np.float64]

_GLIDE_RAD_M = math.radians(90)
"""How fast a torso may be turned to a body constraint for each metre a second that it may be moved."""
_STEP_M, _STEP_S = 0.08, 0.06
"""A foot that jumps farther than this at a cut does not stand there but steps, for so long before and behind it."""


@dataclass(frozen=True)
class SpliceSettings:
    """What is done to a splice until it is motion to be shown."""

    smooth_s: float = 0.2
    """Seconds before and behind a cut over which its jump is spread; the paper takes 1, which is farther from recorded
    poses and no smoother."""
    mend: bool = True
    """Whether single frames at which the capture slipped are put between their neighbours."""
    clean: bool = True
    """Whether feet are kept where they stand."""
    feet: CleanSettings = field(default_factory=lambda: CleanSettings(hold_m_s=0.42))
    """How they are, if they are; held a little longer than after blends, for out of a cut they are let go slowly."""
    glide_m_s: float = 1.0
    """The fastest that the torso is brought to body constraints, metres a second: far more than a good answer lacks,
    and less than a walk. What is missed by more stays missed."""
    rate_hz: float | None = None
    """Frames per second of the output; the highest rate among the clips shown if None."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.smooth_s) and 0 < self.smooth_s <= 10):
            raise RequestError(f"smooth_s is {self.smooth_s}; it must be above 0 and at most 10 seconds")
        if not self.glide_m_s >= 0:
            raise RequestError(f"glide_m_s is {self.glide_m_s}; it must not be negative")


@dataclass(frozen=True, eq=False)
class SplicedMotion(ShowsItself):
    """A motion ready to be written, and where each of its frames came from."""

    clip: Clip
    origins: Origins
    raw: Clip
    """The pieces as they were recorded, one after another on the floor, with the jumps at the cuts."""
    settings: SpliceSettings
    missed_m: tuple[float, ...] = ()
    """How far the torso stays from each body constraint: 0, or metres where it would have had to glide there."""
    missed_rad: tuple[float, ...] = ()
    """How far from facing as it asks, likewise."""


def finish_splice(
    splice: Splice,
    body: Sequence[BodyTarget] = (),
    settings: SpliceSettings | None = None,
    *,
    name: str = "motion",
    progress: Progress | None = None,
) -> SplicedMotion:
    """The motion that a splice shows, smooth, with clean feet, and at each body constraint exactly where it should be.

    Frames that are to be shown exactly have the recorded pose, wherever on the floor it is.

    Args:
        splice: Which pieces of which clips.
        body: Where the torso is to be at which times.
        settings: How cuts are smoothed, whether and how feet are cleaned.
        name: Of the motion.
        progress: Hears how far the work has come.

    Raises:
        RoleError: If feet are to be cleaned and the skeleton has none that are known.
    """
    settings = settings or SpliceSettings()
    graph = splice.graph
    rate = output_rate(graph, np.unique(splice.clip), settings.rate_hz)
    made, cuts = lay_out(graph, _shown(splice, rate), rate, BlendSettings(), name), _Cuts.of(splice)
    exact = np.unique(np.round(splice.exact * (rate / graph.rate_hz)).astype(np.int64))
    clip = _stepping(_smoothed(made.clip, cuts, exact / rate, settings.smooth_s), cuts)
    clip = remove_spikes(clip) if settings.mend else clip
    asked, body = body, limit_root_correction(clip, body, settings.glide_m_s)
    clip = meet_body(clip, body)
    if settings.clean:
        clip = clean_feet(clip, settings.feet, keep=exact, progress=progress)
    # Clean feet pull the root along, by millimetres: these are spread once more.
    clip = meet_body(keep_poses(clip, made.clip, exact, settings.smooth_s), body)
    missed_m = tuple(math.dist(wanted.position, met.position) for wanted, met in zip(asked, body, strict=True))
    missed_rad = tuple(
        abs((wanted.facing or 0.0) - (met.facing or 0.0)) for wanted, met in zip(asked, body, strict=True)
    )
    return SplicedMotion(clip, made.origins, made.clip, settings, missed_m, missed_rad)


def finish_together(
    found: GroupAnswer, settings: SpliceSettings | None = None, *, progress: Progress | None = None
) -> dict[str, SplicedMotion]:
    """The motions of several people, by name; throughout their meetings they are to each other as they should be.

    For that they are brought there however fast it takes.

    Args:
        found: Which pieces of which clips for whom, and where they meet.
        settings: How cuts are smoothed, whether and how feet are cleaned.
        progress: Hears how far the work has come.
    """
    settings = replace(settings or SpliceSettings(), glide_m_s=math.inf)
    return {
        name: finish_splice(answer.splice, found.body[name], settings, name=name, progress=progress)
        for name, answer in found.answers.items()
    }


def _shown(splice: Splice, rate: float) -> Shown:
    """What each output frame shows. The last one shows the splice's last frame."""
    graph = splice.graph
    first = np.concatenate([[0], np.cumsum(splice.piece_frames)])
    moment = np.arange(math.floor((len(splice) - 1) * rate / graph.rate_hz + 1e-6) + 1) * (graph.rate_hz / rate)
    piece = np.minimum(np.searchsorted(first, moment + 1e-9, side="right") - 1, len(splice.clip) - 1)
    clip = splice.clip[piece]
    own = np.array([info.fps / graph.rate_hz for info in graph.infos])[clip]
    last = np.array([info.own_frames - 1 for info in graph.infos])[clip]
    frame = np.minimum((splice.start[piece] + np.maximum(moment - first[piece], 0.0)) * own, last)
    place = np.stack([splice.placements.yaw, splice.placements.x, splice.placements.z], axis=1)[piece]
    none, nothing = np.zeros(0, np.int32), np.zeros(0)
    return Shown(clip, frame, place, none.astype(np.int64), nothing, none, nothing, np.zeros((0, 3)))


def smoothing(time: Array, before: NDArray[np.bool_], rises: float, fades: float) -> Array:
    """How much of a cut's jump is added: rising from 0 to ½ before the cut, and from -½ to 0 behind it.

    That is the paper's curve, for windows of one length. If they are not, each side takes its share of the jump, and
    there is no kink at the cut.

    Args:
        time: Time from the cut, (...).
        before: Whether a moment is before the cut.
        rises: How long before the cut it begins.
        fades: How long behind the cut it ends; not both 0.
    """
    share = rises / (rises + fades)
    rising = np.clip(1 + time / max(rises, 1e-9), 0.0, 1.0) ** 2
    fading = np.clip(1 - time / max(fades, 1e-9), 0.0, 1.0) ** 2
    return np.asarray(np.where(before, share * rising, (share - 1) * fading))


@dataclass(frozen=True, eq=False)
class _Cuts:
    """The K cuts of a splice: when they are, and the poses on either side of each."""

    at_s: Array
    """(K,), seconds."""
    root: Array
    """Root positions before and behind each cut, (2 K, 3)."""
    rot: Array
    """Rotations, (2 K, J, 4)."""

    @classmethod
    def of(cls, splice: Splice) -> _Cuts:
        sides = [(k, int(splice.stop[k])) for k in range(len(splice.clip))]
        sides = [side for k, left in enumerate(sides[:-1]) for side in (left, (k + 1, int(splice.start[k + 1])))]
        poses = [_pose(splice, *side) for side in sides]
        joints = len(splice.graph.skeleton)
        return cls(
            np.cumsum(splice.piece_frames)[:-1] / splice.graph.rate_hz,
            np.concatenate([np.zeros((0, 3)), *[root for root, _ in poses]]),
            np.concatenate([np.zeros((0, joints, 4)), *[rot for _, rot in poses]]),
        )


def _smoothed(clip: Clip, cuts: _Cuts, exact_s: Array, window_s: float) -> Clip:
    """The motion with the jump at each cut spread around it, but not beyond a moment that is to be shown exactly.

    Windows overlap, and rotations do not commute: so the poses on either side of each cut are carried along as rows of
    their own, and each cut closes the jump that the cuts before it have left.
    """
    frames = len(clip)
    root, rot = np.concatenate([clip.root_pos, cuts.root]), np.concatenate([clip.local_rot, cuts.rot])
    times = np.concatenate([np.arange(frames) / clip.fps, np.repeat(cuts.at_s, 2)])
    for k, moment in enumerate(cuts.at_s):
        ends, begins = frames + 2 * k, frames + 2 * k + 1
        rises, fades = room_around(moment, exact_s, window_s)
        if rises + fades < 1e-6:
            continue
        rows = np.flatnonzero((times > moment - rises - 1e-9) & (times < moment + fades + 1e-9))
        before = times[rows] < moment - 1e-9
        before |= rows == ends
        added = smoothing(times[rows] - moment, before, rises, fades)
        root[rows] += added[:, None] * (root[begins] - root[ends])
        jump = quat.as_rotvec(quat.multiply(quat.inverse(rot[ends]), rot[begins]))
        rot[rows] = quat.multiply(rot[rows], quat.from_rotvec(added[:, None, None] * jump))
    return clip.with_poses(root[:frames], quat.make_continuous(quat.normalise(rot[:frames])))


def _stepping(clip: Clip, cuts: _Cuts) -> Clip:
    """The motion without the plants of feet that jump too far at a cut: there they step from one place to the next."""
    if clip.contacts is None or not len(cuts.at_s):
        return clip
    feet = Clip(clip.skeleton, clip.fps, cuts.root, cuts.rot).global_positions()[:, clip.skeleton.feet]
    far = np.linalg.norm((feet[1::2] - feet[::2])[..., [0, 2]], axis=-1) > _STEP_M
    near = np.abs(np.arange(len(clip)) / clip.fps - cuts.at_s[:, None]) < _STEP_S
    return replace(clip, contacts=seal(clip.contacts & ~(near[..., None] & far[:, None]).any(axis=0)))


def _pose(splice: Splice, piece: int, frame: int) -> tuple[Array, Array]:
    """Root position (1, 3) and rotations (1, J, 4) of a piece's clip at a frame, as it lies on the floor."""
    clip, number = splice.graph.clips[splice.clip[piece]], int(splice.clip[piece])
    own = splice.graph.own_frame(number, frame)
    row = min(math.floor(own + 1e-6), len(clip) - 1)
    share = own - row if own - row > 1e-6 else 0.0
    lying = splice.placements
    place = np.array([[lying.yaw[piece], lying.x[piece], lying.z[piece]]])
    return sample_numpy(clip.root_pos, clip.local_rot, np.array([row]), np.array([share]), place)


def limit_root_correction(clip: Clip, body: Sequence[BodyTarget], most_m_s: float) -> tuple[BodyTarget, ...]:
    """The body constraints, those that a motion misses by far moved to where it can be brought no faster than this."""
    if len(body) < 2 or math.isinf(most_m_s):
        return tuple(body)
    at, gap, turn = _missing(clip, body)
    place = _held_back(gap, most_m_s * np.diff(at) / clip.fps)
    known = [n for n, target in enumerate(body) if target.facing is not None]
    yaw = turn.copy()
    yaw[known] = _held_back(turn[known].astype(complex), _GLIDE_RAD_M * most_m_s * np.diff(at[known]) / clip.fps).real
    return tuple(
        replace(
            target,
            position=(target.position[0] - (gap - place)[n].real, target.position[1] - (gap - place)[n].imag),
            facing=None if target.facing is None else target.facing - float(turn[n] - yaw[n]),
        )
        if abs(gap[n] - place[n]) > 1e-9 or abs(turn[n] - yaw[n]) > 1e-9
        else target
        for n, target in enumerate(body)
    )


def _held_back(values: NDArray[np.complex128], steps: Array) -> NDArray[np.complex128]:
    """Values that follow the given ones from the first on, no farther from one to the next than by these steps."""
    out = values.copy()
    for n, most in enumerate(steps, start=1):
        step = values[n] - out[n - 1]
        out[n] = out[n - 1] + step * min(1.0, most / max(abs(step), 1e-12))
    return out


def _missing(clip: Clip, body: Sequence[BodyTarget]) -> tuple[NDArray[np.int64], NDArray[np.complex128], Array]:
    """The frames nearest to body constraints, and what the torso lacks there in place, x + iz, and in facing.

    Where no facing is asked for, it lacks what lies between its neighbours' that have one.
    """
    at = np.array([min(round(target.at_s * clip.fps), len(clip) - 1) for target in body])
    hips, facing = clip.global_positions()[at, clip.skeleton.hips], clip.facing()[at]
    gap = np.array([complex(*target.position) for target in body]) - (hips[:, 0] + 1j * hips[:, 2])
    known = np.array([target.facing is not None for target in body])
    wanted = np.array([target.facing or 0.0 for target in body])
    turn = np.angle(np.exp(1j * (wanted - facing)))
    return at, gap, np.interp(at, at[known], turn[known]) if known.any() else np.zeros(len(body))


def meet_body(clip: Clip, body: Sequence[BodyTarget]) -> Clip:
    """The motion with the torso exactly where body constraints want it, at the frames nearest to their times.

    What is missing at a constraint is spread evenly over the frames since the one before it; behind the last it stays.
    """
    if not body:
        return clip
    at, gap, turn = _missing(clip, body)
    hips = clip.global_positions()[:, clip.skeleton.hips]
    every = np.arange(len(clip))
    dx, dz, yaw = (np.interp(every, at, column) for column in (gap.real, gap.imag, turn))
    # Turned about the torso, so that turning moves the torso nowhere.
    away = FloorTransform(yaw).apply(clip.root_pos - hips)
    root = hips + away + np.stack([dx, np.zeros(len(clip)), dz], axis=1)
    rot = np.array(clip.local_rot)
    rot[:, 0] = FloorTransform(yaw).turn(rot[:, 0])
    return clip.with_poses(root, quat.make_continuous(rot))
