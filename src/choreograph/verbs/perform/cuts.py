"""Where recordings are cut into segments: at steps, at beats, at labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs, with_detected_contacts

SHORTEST_S = 0.2
"""Seconds that lie at least between two cuts."""
STAND_S = 0.6
"""Least seconds on both feet that count as standing, and about the length of its segments."""
STAND_M_S = 0.12
"""Speed of the root below which that counts as standing."""
BAR_S = (1.1, 1.6)
"""Seconds between which a bar of dance music is looked for."""
_BINS = 16
_RATE_HZ = 60.0
_DRIFT = 0.08
"""Share of a bar by which its length may change before that counts as much as a bar without any step."""


def cut_at_plants(clip: Clip) -> Ints:
    """Frames in which a foot comes down, heel or toe, whichever is first; and some while the body stands."""
    clip = with_detected_contacts(clip)
    assert clip.contacts is not None
    roles = [clip.skeleton.roles[joint] for joint in clip.skeleton.feet]
    sides = []
    for side in ("left", "right"):
        columns = [k for k, role in enumerate(roles) if role.startswith(side)]
        sides += [np.asarray(clip.contacts[:, columns].any(axis=1))] if columns else []
    landings = [start for side in sides for start, _ in runs(side) if start > 0]
    stands = _stand_cuts(clip, sides[0] & sides[1]) if len(sides) == 2 and len(clip) > 2 else []
    return thin([*landings, *stands], len(clip), clip.fps)


def _stand_cuts(clip: Clip, both_down: Flags) -> list[int]:
    """Frames that divide the times at which a clip stands on both feet, their ends with them."""
    half = max(1, round(0.1 * clip.fps))
    padded = np.pad(clip.root_pos[:, ::2], ((half, half), (0, 0)), mode="edge")
    speed = np.linalg.norm(padded[2 * half :] - padded[: -2 * half], axis=1) * clip.fps / (2 * half)
    frames: list[int] = []
    for start, stop in runs(both_down & (speed < STAND_M_S)):
        seconds = (stop - 1 - start) / clip.fps
        if seconds >= STAND_S:
            pieces = max(1, round(seconds / STAND_S))
            frames += np.rint(np.linspace(start, stop - 1, pieces + 1)).astype(int).tolist()
    return frames


def cut_at_labels(clip: Clip) -> Ints:
    """Frames in which a label begins or ends."""
    ends = [frame for label in clip.labels for frame in (label.start, label.stop)]
    return thin(ends, len(clip), clip.fps)


def cut_at_times(clip: Clip, times: Sequence[float]) -> Ints:
    """Frames nearest to the given times, seconds.

    Raises:
        RequestError: If a time is not within the clip.
    """
    for t in times:
        if not 0 <= t <= clip.seconds:
            raise RequestError(f"a cut at {t:g} s is not within {clip.name!r}, which has {clip.seconds:.2f} s")
    return thin([min(round(t * clip.fps), len(clip) - 1) for t in times], len(clip), clip.fps)


def cut_at_beats(clips: Sequence[Clip], *, parts: int = 2) -> Ints:
    """Frames that divide the bars of a dance, found from the feet of all dancers.

    Steps follow the music in a pattern that repeats every bar. The bar's length is the one at which the feet's
    decelerations, laid over each other bar by bar, differ most between moments of the bar; then the bars are placed
    one after another where that pattern fits best, each about as long as the last.

    Args:
        clips: The dancers, of one rate and length.
        parts: Into how many each bar is cut.
    """
    clip = clips[0]
    period, profile, strength = _find_bar(np.sum([_decelerations(c) for c in clips], axis=0))
    # How well a bar that begins here fits the pattern.
    length = round(period)
    shape = np.interp(
        (np.arange(length) + 0.5) * _BINS / length - 0.5, np.arange(-1, _BINS + 1), profile[[-1, *range(_BINS), 0]]
    )
    fit = np.correlate(np.pad(strength, (0, length)), shape - shape.mean(), mode="valid")[: len(strength)]
    bars = _place_bars(fit / max(float(fit.std()), 1e-12), period)
    edges = np.concatenate([bars, [bars[-1] + period]]) if len(bars) else np.zeros(0)
    inner = np.interp(np.arange(0, len(edges) - 1 + 1e-9, 1 / parts), np.arange(len(edges)), edges)
    return thin(np.rint(inner * clip.fps / _RATE_HZ).astype(int).tolist(), len(clip), clip.fps)


def _decelerations(clip: Clip) -> Floats:
    """How hard the feet are braked, at `_RATE_HZ`, (N,)."""
    from scipy.ndimage import gaussian_filter1d

    feet = [clip.skeleton.need("left_foot"), clip.skeleton.need("right_foot")]
    speed = np.linalg.norm(np.gradient(clip.global_positions()[:, feet], 1 / clip.fps, axis=0), axis=-1)
    braked = np.maximum(-np.gradient(gaussian_filter1d(speed, 0.04 * clip.fps, axis=0), axis=0), 0.0).sum(axis=1)
    at = np.arange(0, len(clip) - 1 + 1e-9, clip.fps / _RATE_HZ)
    return np.interp(at, np.arange(len(clip)), braked)


def _find_bar(braked: Floats) -> tuple[float, Floats, Floats]:
    """Length of a bar in samples, its pattern over `_BINS` moments, and the signal without its slow changes."""
    from scipy.ndimage import gaussian_filter1d

    strength = braked / (gaussian_filter1d(braked, 2 * _RATE_HZ) + 1e-9)
    best: tuple[float, float, Floats] = (-1.0, BAR_S[0] * _RATE_HZ, np.zeros(_BINS))
    for period in np.arange(BAR_S[0] * _RATE_HZ, BAR_S[1] * _RATE_HZ, 0.1):
        moment = (np.arange(len(strength)) / period % 1 * _BINS).astype(int)
        count = np.maximum(np.bincount(moment, minlength=_BINS), 1)
        profile = np.bincount(moment, strength, minlength=_BINS) / count
        if profile.var() > best[0]:
            best = float(profile.var()), float(period), profile
    return best[1], np.roll(best[2], -int(best[2].argmax())), strength


def _place_bars(fit: Floats, period: float) -> Ints:
    """Starts of bars: the sequence whose fits, less the squared changes of length, sum to the most."""
    low, high = round(0.85 * period), round(1.15 * period)
    gaps = np.arange(low, high + 1)
    loss = ((gaps - period) / (_DRIFT * period)) ** 2
    score, back = fit.copy(), np.full(len(fit), -1)
    for t in range(low, len(fit)):
        before = t - gaps
        usable = before >= 0
        values = score[before[usable]] - loss[usable]
        k = int(values.argmax())
        if values[k] > 0:
            score[t] += values[k]
            back[t] = before[usable][k]
    if len(fit) == 0:
        return np.zeros(0, np.int64)
    tail = max(0, len(fit) - high)
    at, starts = tail + int(score[tail:].argmax()), []
    while at >= 0:
        starts.append(at)
        at = int(back[at])
    return np.array(starts[::-1], np.int64)


def thin(frames: Sequence[int], count: int, fps: float) -> Ints:
    """Cuts in order, those within `SHORTEST_S` of the one before left out."""
    cuts: list[int] = []
    for frame in sorted(set(frames)):
        if 0 <= frame < count and (not cuts or frame - cuts[-1] >= SHORTEST_S * fps):
            cuts.append(frame)
    return np.array(cuts, np.int64)
