"""Where recordings can be cut into steps: while one foot stands and the other swings, or while both rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags
from choreograph.finishing.footskate import find_legs
from choreograph.motion.bend import way_of
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs, with_detected_contacts

LEFT, RIGHT, BOTH = 0, 1, 2
FEET = ("left foot", "right foot", "both feet")
"""How messages name the feet that a cut stands on."""

_SHORTEST_S = 0.05
"""A foot that stands alone for less is noise."""
_REST_M_S = 0.3
"""Speed of the root below which someone on both feet stands; who walks slowly does 0.7."""
_REST_S = 0.3
"""Time for which both feet must stand for a cut there."""
_REST_EVERY_S = 0.5
"""Time between two cuts of someone who stands."""
_REST_EDGE_S = 0.12
"""Time from the ends of a stand within which it is not cut."""
_TWICE_S = 0.45
"""Two cuts on one foot nearer than this are one stand whose other foot was lost for a moment."""


@dataclass(frozen=True)
class Cut:
    """A moment of a recording at which it can be cut."""

    frame: int
    """At the recording's own rate."""
    foot: int
    """LEFT, RIGHT or BOTH: what stands."""
    before_s: float
    """How long it has been standing, seconds."""
    after_s: float
    """How long it will go on standing, seconds."""


def find_cuts(clip: Clip) -> list[Cut]:
    """The moments at which a recording can be cut into steps, in order.

    >>> from choreograph.demo import demo_clip
    >>> {cut.foot for cut in find_cuts(demo_clip("walk", 60.0))} == {LEFT, RIGHT}
    True

    Args:
        clip: Any motion with feet.

    Raises:
        RoleError: If the skeleton has no joints known to be feet, shins and thighs.
    """
    clip = with_detected_contacts(clip)
    assert clip.contacts is not None
    down = np.zeros((len(clip), 2), bool)
    for side, leg in enumerate(find_legs(clip.skeleton)[:2]):
        columns = [column for column in (leg.heel_column, leg.toe_column) if column >= 0]
        down[:, side] = clip.contacts[:, columns].any(axis=1)
    cuts = [cut for side in (LEFT, RIGHT) for cut in _single(down, side, clip.fps)]
    rest = down.all(axis=1) & (way_of(clip).speed < _REST_M_S)
    for start, stop in runs(rest):
        if (stop - start) / clip.fps >= _REST_S:
            cuts += _rest(start, stop, clip.fps)
    return _without_flicker(sorted(cuts, key=lambda cut: cut.frame), clip.fps)


def _rest(start: int, stop: int, fps: float) -> list[Cut]:
    """Cuts of someone who stands on both feet, two or more where there is room, so that standing can go on for ever."""
    edge = min(round(_REST_EDGE_S * fps), (stop - start) // 3)
    low, high = start + edge, stop - 1 - edge
    count = 1 + max(round((high - low) / fps / _REST_EVERY_S), 1 if high - low >= 0.15 * fps else 0)
    frames = np.unique(np.linspace(low, high, count).round().astype(int))
    return [Cut(int(at), BOTH, (at - start) / fps, (stop - at) / fps) for at in frames]


def _without_flicker(cuts: list[Cut], fps: float) -> list[Cut]:
    steady: list[Cut] = []
    for cut in cuts:
        if steady and cut.foot == steady[-1].foot != BOTH and cut.frame - steady[-1].frame < _TWICE_S * fps:
            if min(cut.before_s, cut.after_s) > min(steady[-1].before_s, steady[-1].after_s):
                steady[-1] = cut
            continue
        steady.append(cut)
    return steady


def _single(down: Flags, side: int, fps: float) -> list[Cut]:
    """Cuts in the middle of the times at which only this foot stands."""
    cuts = []
    stands = runs(down[:, side])
    for start, stop in runs(down[:, side] & ~down[:, 1 - side]):
        # Cut off by the recording's ends, the foot may have swung for long already.
        if (stop - start) / fps < _SHORTEST_S or start == 0 or stop == len(down):
            continue
        frame = (start + stop) // 2
        low, high = next((a, b) for a, b in stands if a <= frame < b)
        cuts.append(Cut(frame, side, (frame - low) / fps, (high - frame) / fps))
    return cuts
