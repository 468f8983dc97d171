"""A simple head of our own: 68 landmarks of a face, and how the usual 51 shapes move them, for want of a scanned one.

Landmarks are numbered as is usual: 0–16 along the jaw, 17–26 brows, 27–35 nose, 36–47 eyes, 48–67 mouth; the head's
right side comes first. Shapes are named as ARKit names them. Moves are plausible, not measured.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.motion.face import FaceShapes

JAW, BROWS, NOSE, EYES, MOUTH = range(17), range(17, 27), range(27, 36), range(36, 48), range(48, 68)
"""Of the 68 landmarks."""
_UPPER_LIP = (49, 50, 51, 52, 53, 61, 62, 63)
_LOWER_LIP = (55, 56, 57, 58, 59, 65, 66, 67)
_CORNERS = {"Right": (48, 60), "Left": (54, 64)}
_EYE = {"Right": (36, 37, 38, 39, 40, 41), "Left": (42, 43, 44, 45, 46, 47)}
_LIDS = {"Right": ((37, 38), (41, 40)), "Left": ((43, 44), (47, 46))}
_BROW = {"Right": (17, 18, 19, 20, 21), "Left": (26, 25, 24, 23, 22)}


@cache
def simple_head() -> FaceShapes:
    """Landmarks and shapes of a plain head, millimetres.

    >>> len(simple_head()), len(simple_head().names)
    (68, 51)
    """
    neutral = _neutral()
    moves = _moves(neutral)
    return FaceShapes(tuple(moves), neutral, np.array(list(moves.values())))


def _neutral() -> Floats:
    points = np.zeros((68, 3))
    turn = np.linspace(-np.pi / 2, np.pi / 2, 17)
    points[:17] = np.stack([68 * np.sin(turn), 25 - 95 * np.cos(turn) ** 1.3, -55 + 58 * np.cos(turn)], axis=1)
    for side, first in ((-1, 17), (1, 22)):
        across = np.linspace(52, 15, 5) if side < 0 else np.linspace(15, 52, 5)
        arch = 55 + 5 * np.sin(np.pi * (across - 15) / 45)
        points[first : first + 5] = np.stack([side * across, arch, 16 - 0.012 * across**2], axis=1)
    points[27:31] = [(0, 38, 18), (0, 28, 24), (0, 18, 31), (0, 8, 37)]
    points[31:36] = [(-13, -2, 20), (-7, -4, 25), (0, -5, 27), (7, -4, 25), (13, -2, 20)]
    for centre, first in ((-31, 36), (31, 42)):
        angles = np.radians([180, 120, 60, 0, -60, -120])
        ring = np.stack([centre + 13 * np.cos(angles), 35 + 5 * np.sin(angles), 9 - 3 * np.abs(np.cos(angles))], axis=1)
        points[first : first + 6] = ring
    outer = np.radians(np.linspace(180, -150, 12))
    points[48:60] = np.stack([25 * np.cos(outer), -29 + 9 * np.sin(outer), 24 - 10 * np.cos(outer) ** 2], axis=1)
    inner = np.radians([180, 135, 90, 45, 0, -45, -90, -135])
    points[60:68] = np.stack([20 * np.cos(inner), -29 + 1.5 * np.sin(inner), 24 - 8 * np.cos(inner) ** 2], axis=1)
    return points


def _put(points: object, move: tuple[float, float, float] | Floats, weight: float | Floats = 1.0) -> Floats:
    out = np.zeros((68, 3))
    at = np.array(list(points))  # type: ignore[call-overload]
    out[at] = np.asarray(weight)[..., None] * np.asarray(move) if np.ndim(weight) else weight * np.asarray(move)
    return out


def _moves(neutral: Floats) -> dict[str, Floats]:
    low = np.clip(-neutral[:, 1] / 70, 0, 1)
    jaw = np.where(np.isin(np.arange(68), [*JAW, *_LOWER_LIP]), np.maximum(low, 0.0), 0.0)
    jaw[list(_LOWER_LIP)], jaw[[48, 54, 60, 64]] = 0.85, 0.4
    moves: dict[str, Floats] = {}
    for side in ("Left", "Right"):
        sign = 1.0 if side == "Left" else -1.0
        upper, lower = _LIDS[side]
        inner = -sign
        blink = _put(upper, (0, -7.5, 0)) + _put(lower, (0, 1.0, 0))
        moves[f"EyeBlink{side}"] = blink
        moves[f"EyeLookDown{side}"] = _put(upper, (0, -2.5, 0)) + _put(lower, (0, -0.6, 0))
        moves[f"EyeLookIn{side}"] = _put(upper + lower, (inner * 0.6, 0, 0))
        moves[f"EyeLookOut{side}"] = _put(upper + lower, (-inner * 0.6, 0, 0))
        moves[f"EyeLookUp{side}"] = _put(upper, (0, 1.5, 0)) + _put(lower, (0, 0.4, 0))
        moves[f"EyeSquint{side}"] = _put(lower, (0, 2.2, 0.4)) + _put(upper, (0, -0.8, 0))
        moves[f"EyeWide{side}"] = _put(upper, (0, 2.6, 0))
        corner = _CORNERS[side]
        half = [n for n in MOUTH if sign * neutral[n, 0] > 2]
        share = np.abs(neutral[half, 0]) / 25
        moves[f"MouthSmile{side}"] = _put(half, (sign * 6, 8, -4), share**1.5)
        moves[f"MouthFrown{side}"] = _put(half, (sign * 2, -7, -1), share**1.5)
        moves[f"MouthDimple{side}"] = _put(corner, (sign * 4, 0.5, -3))
        moves[f"MouthStretch{side}"] = _put(half, (sign * 6, -3, -2), share)
        moves[f"MouthPress{side}"] = _put([n for n in half if n in _UPPER_LIP], (0, -1.2, 0)) + _put(
            [n for n in half if n in _LOWER_LIP], (0, 1.6, 0)
        )
        moves[f"MouthLowerDown{side}"] = _put([n for n in half if n in _LOWER_LIP], (sign * 0.5, -6, 0))
        moves[f"MouthUpperUp{side}"] = _put([n for n in half if n in _UPPER_LIP], (sign * 0.5, 5, 0))
        brow = _BROW[side]
        moves[f"BrowDown{side}"] = _put(brow, (-sign * 1.2, -6, 0.5), np.array([0.4, 0.6, 0.8, 1.0, 1.0]))
        moves[f"BrowOuterUp{side}"] = _put(brow, (0, 8, -1), np.array([0.9, 1.0, 0.7, 0.3, 0.0]))
        moves[f"CheekSquint{side}"] = _put(lower, (0, 1.2, 0.8)) + _put(corner, (0, 0.8, 0.3))
        wing = (31, 32) if side == "Right" else (35, 34)
        moves[f"NoseSneer{side}"] = _put(wing, (0, 3, -0.5)) + _put([n for n in half if n in _UPPER_LIP], (0, 1.5, 0))
    moves["JawForward"] = _put(range(68), (0, 0, 6), jaw)
    moves["JawRight"], moves["JawLeft"] = (_put(range(68), (x, 0, 0), jaw) for x in (-8, 8))
    moves["JawOpen"] = _put(range(68), (0, -26, -12), jaw)
    closed = -moves["JawOpen"].copy()
    closed[list(JAW)] = 0
    moves["MouthClose"] = 0.9 * closed
    mouth = list(MOUTH)
    ahead = neutral[mouth] - np.array([0, -29, 0])
    moves["MouthFunnel"] = _put(mouth, np.stack([-0.35 * ahead[:, 0], 0.5 * ahead[:, 1], 0 * ahead[:, 0] + 5], axis=1))
    moves["MouthPucker"] = _put(mouth, np.stack([-0.5 * ahead[:, 0], -0.1 * ahead[:, 1], 0 * ahead[:, 0] + 7], axis=1))
    moves["MouthRight"], moves["MouthLeft"] = (_put(mouth, (x, 0, 0)) for x in (-7, 7))
    moves["MouthRollLower"] = _put(_LOWER_LIP, (0, 2.5, -4))
    moves["MouthRollUpper"] = _put(_UPPER_LIP, (0, -2.5, -4))
    moves["MouthShrugLower"] = _put(_LOWER_LIP, (0, 4, 2)) + _put((7, 8, 9), (0, 2, 1))
    moves["MouthShrugUpper"] = _put(_UPPER_LIP, (0, 4, 1.5))
    moves["BrowInnerUp"] = _put([*_BROW["Left"], *_BROW["Right"]], (0, 8, 0), np.array([0, 0.1, 0.4, 0.8, 1.0] * 2))
    moves["CheekPuff"] = _put((3, 4, 12, 13), (0, 0, 1)) + _put(_CORNERS["Left"] + _CORNERS["Right"], (0, 0, 2))
    return moves
