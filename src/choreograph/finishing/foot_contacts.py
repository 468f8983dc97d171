"""Where feet stand, and how a correction that is known while they stand goes on while they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.quantiles import quantile
from choreograph.motion import kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs

_STILL_M_S = 0.3
"""Speed at which a planted joint says half as much about where it stands as one at rest."""
_SPEED_S = 0.025
"""Seconds over which a speed is taken at a plant's end: three frames at 120 Hz, enough against jitter."""


def hold(contacts: Flags, paths: Floats, fps: float, limit_m_s: float) -> Flags:
    """The part of each plant in which its joint is held, (F, feet).

    Plants are generous: they begin while the joint still comes to rest, and end when it is already on its way. Held
    through all of that, it would have to catch up afterwards.

    Args:
        contacts: Plants, (F, feet).
        paths: Positions of the foot joints, (F, feet, 3), metres.
        fps: Frames per second.
        limit_m_s: The joint is held from the first to the last frame in which it is slower; a plant without any is held
            throughout. Plants cut off by the motion's ends are held up to there.
    """
    out = np.zeros(contacts.shape, bool)
    speed = kinematics.speeds(paths, fps)
    for k in range(contacts.shape[1]):
        for start, stop in runs(contacts[:, k]):
            slow = np.flatnonzero(speed[start:stop, k] < limit_m_s)
            low = start + int(slow[0]) if len(slow) and start > 0 else start
            high = start + int(slow[-1]) + 1 if len(slow) and stop < len(out) else stop
            out[low:high, k] = True
    return out


@dataclass(frozen=True, eq=False)
class PlantPlaces:
    """Where a joint is to stand, plant by plant."""

    ranges: Ints
    """Frames [start, stop) of each plant, (P, 2)."""
    spots: Floats
    """(P, 3), metres."""

    @classmethod
    def of(cls, path: Floats, held: Flags, fps: float, keep: Sequence[int] | Ints = ()) -> PlantPlaces:
        """A place for each plant: along the floor the mean, slow moments first; in height the middle value.

        A plant that holds frames to be kept is where the joint is then.
        """
        ranges = np.array(runs(held), np.int64).reshape(-1, 2)
        trust = 1 / (kinematics.speeds(path, fps) ** 2 + _STILL_M_S**2)
        spots = np.empty((len(ranges), 3))
        for n, (start, stop) in enumerate(ranges):
            spots[n] = trust[start:stop] @ path[start:stop] / trust[start:stop].sum()
            spots[n, 1] = quantile(path[start:stop, 1], 0.5)
            inside = [frame for frame in keep if start <= frame < stop]
            if inside:
                spots[n] = path[inside].mean(axis=0)
        return cls(ranges, spots)

    def at(self, frames: int) -> Floats:
        """The place of each frame, (F, 3); zero where the joint does not stand."""
        out = np.zeros((frames, 3))
        for (start, stop), spot in zip(self.ranges, self.spots, strict=True):
            out[start:stop] = spot
        return out


def agree(heels: PlantPlaces, toes: PlantPlaces, soles: Floats) -> None:
    """Move places of heel and toe that stand at the same time along the floor until they are as far apart as they were.

    Heights of the places do not count: on a foot whose ankle is high above the ball, a centimetre of height would be
    one and a half along the floor.

    Args:
        heels: Where the heel stands.
        toes: Where the toe stands.
        soles: From heel to toe in each frame, (F, 3), metres.
    """
    first = np.searchsorted(toes.ranges[:, 1], heels.ranges[:, 0], side="right")
    last = np.searchsorted(toes.ranges[:, 0], heels.ranges[:, 1], side="left")
    pairs = [(h, t) for h in range(len(first)) for t in range(first[h], last[h])]
    if not pairs:
        return
    wanted = np.array([_apart(soles, heels.ranges[one], toes.ranges[other]) for one, other in pairs])
    both = np.array(pairs)
    # A place in many pairs takes less of each, or together they would overshoot, more in every round.
    shares = np.stack([np.minimum(1.0, 2 / np.bincount(k)[k]) for k in both.T], axis=1)
    from choreograph.finishing import _compiled_feet

    _compiled_feet.agree(heels.spots, toes.spots, both, wanted, shares)


def agree_numpy(heels: Floats, toes: Floats, pairs: Ints, wanted: Floats, shares: Floats) -> None:
    """The plain twin of the kernel behind `agree`.

    A place may belong to several pairs, as when a toe stays while the heel comes down twice: 40 rounds at 0.4 of the
    way bring such chains to within a hair, and a lone pair much sooner.

    Args:
        heels: Places of the heel, (H, 3), metres; changed.
        toes: Places of the toe, (T, 3); changed.
        pairs: Which stand at the same time, (P, 2).
        wanted: How far apart along the floor, (P,), metres.
        shares: How much of each step heel and toe take, (P, 2).
    """
    h, t = pairs.T
    for _ in range(40):
        gap = toes[t] - heels[h]
        flat = np.maximum(np.hypot(gap[:, 0], gap[:, 2]), 1e-9)
        step = (0.4 * (1 - wanted / flat))[:, None] * gap * (1.0, 0.0, 1.0)
        if np.abs(step).max() < 1e-6:
            break
        np.add.at(heels, h, shares[:, :1] * step)
        np.subtract.at(toes, t, shares[:, 1:] * step)


def _apart(soles: Floats, one: Ints, other: Ints) -> float:
    """The usual length along the floor of a sole while heel and toe both stand, metres."""
    both = soles[max(one[0], other[0]) : min(one[1], other[1])]
    return quantile(np.hypot(both[:, 0], both[:, 2]), 0.5)


def fill_gaps(values: Floats, known: Flags, fps: float, ease_s: float | Floats) -> Floats:
    """A smooth curve through values (F, D) where they are known, which dies away between.

    At a gap's ends neither value nor speed jumps: the known part goes on as the cubic that has its value and speed at
    the end and is zero and at rest `ease_s` later, or at the gap's other end if that is nearer.

    Args:
        values: What is known of the curve, (F, D).
        known: Where it is known, (F,).
        fps: Frames per second.
        ease_s: Seconds; or those of each frame, (F,), of which the ones at a gap's ends count.
    """
    from choreograph.finishing import _compiled_feet

    return np.asarray(
        _compiled_feet.fill_gaps(
            np.ascontiguousarray(values, float),
            np.ascontiguousarray(known, bool),
            np.ascontiguousarray(np.broadcast_to(ease_s, len(values)) * fps, float),
            max(1, round(_SPEED_S * fps)),
        )
    )


def fill_gaps_numpy(values: Floats, known: Flags, ease: Floats, most: int) -> Floats:
    """The plain twin of the kernel behind `fill_gaps`; `ease` is in frames, speeds are taken over at most `most`."""
    out = np.where(known[:, None], values, 0.0)
    for start, stop in runs(~known):
        inside = np.arange(start, stop)
        for end, step in ((start - 1, -1), (stop, 1)):
            if 0 <= end < len(out):
                room = max(1.0, min(ease[end], stop - start + 1))
                s = np.minimum(np.abs(inside - end) / room, 1.0)[:, None]
                speed = _end_speed(values, known, end, step, most)
                out[start:stop] += (1 - s) ** 2 * ((1 + 2 * s) * values[end] + room * s * speed)
    return out


def _end_speed(values: Floats, known: Flags, end: int, step: int, most: int) -> Floats:
    """How fast, per frame, the known curve comes out of its end, where `step` leads back into it."""
    count = 0
    while count < most and 0 <= end + (count + 1) * step < len(known) and known[end + (count + 1) * step]:
        count += 1
    return np.asarray((values[end] - values[end + count * step]) / max(count, 1))


def plant_speed(clip: Clip) -> float:
    """Mean speed along the floor of foot joints while they are planted, m/s; 0 where nothing stands."""
    contacts = detect_contacts(clip) if clip.contacts is None else clip.contacts
    paths = clip.global_positions()[:, clip.skeleton.feet][..., [0, 2]]
    return float(kinematics.speeds(paths, clip.fps)[contacts].mean()) if contacts.any() else 0.0


def longest_slide(raw: Clip, clip: Clip) -> tuple[int, int]:
    """The frames [start, stop) of the longest time in which no foot is held, though one stood in the recordings.

    Args:
        raw: A motion before its feet were cleaned.
        clip: The same afterwards, with the plants that were held.
    """
    if raw.contacts is None or clip.contacts is None:
        return 0, 0
    lost = np.asarray(raw.contacts.any(axis=1) & ~clip.contacts.any(axis=1))
    return max(runs(lost), key=lambda run: run[1] - run[0], default=(0, 0))


def foot_slide(clip: Clip) -> float:
    """How far planted feet wander, metres: the mean, over all plants, of the greatest distance from a plant's middle.

    Measured along the floor while a planted joint is slower than 0.5 m/s, for 0.1 s or more: faster, it is on its way.
    0 where nothing stands.
    """
    contacts = detect_contacts(clip) if clip.contacts is None else clip.contacts
    paths = clip.global_positions()[:, clip.skeleton.feet][..., [0, 2]]
    still = contacts & (kinematics.speeds(paths, clip.fps) < 0.5)
    slides = [
        np.linalg.norm(paths[start:stop, k] - paths[start:stop, k].mean(axis=0), axis=1).max()
        for k in range(still.shape[1])
        for start, stop in runs(still[:, k])
        if stop - start >= 0.1 * clip.fps
    ]
    return float(np.mean(slides)) if slides else 0.0
