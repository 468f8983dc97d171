"""A face that talks, smiles, blinks and wonders: something to try faces with, for want of a recording."""

from __future__ import annotations

import numpy as np

from choreograph.motion.face import Face
from choreograph.motion.head import simple_head


def demo_face(seconds: float = 40.0, fps: float = 30.0) -> Face:
    """Weights of the usual shapes, made by rule.

    >>> face = demo_face(2.0)
    >>> len(face), bool(face.weights.min() >= 0 and face.weights.max() <= 1)
    (60, True)

    Args:
        seconds: How long.
        fps: Frames per second.
    """
    names = simple_head().names
    t = np.arange(round(seconds * fps)) / fps
    weights = np.zeros((len(t), len(names)))
    speaks = np.clip(np.sin(0.55 * t) * 3, 0, 1)
    talk = speaks * np.clip(0.28 + 0.2 * np.sin(8.3 * t) + 0.16 * np.sin(13.1 * t + 1), 0, 1)
    smile = np.clip(0.45 * np.sin(0.8 * t + 2) + 0.25, 0, 1)
    wonder = np.clip(np.sin(0.43 * t + 0.5) * 1.6 - 0.6, 0, 1)
    frown = np.clip(np.sin(0.37 * t + 3.6) * 1.6 - 0.7, 0, 1)
    blink = np.exp(-(((t % 3.1) - 1.2) ** 2) / 0.006)
    ways = {
        "JawOpen": talk,
        "MouthFunnel": speaks * np.clip(0.4 * np.sin(5.1 * t + 1), 0, 1),
        "MouthPucker": speaks * np.clip(0.4 * np.sin(3.7 * t), 0, 1),
        "MouthLowerDownLeft": 0.4 * talk,
        "MouthLowerDownRight": 0.4 * talk,
        "MouthSmileLeft": smile,
        "MouthSmileRight": 0.9 * smile,
        "CheekSquintLeft": 0.5 * smile,
        "CheekSquintRight": 0.5 * smile,
        "EyeBlinkLeft": blink,
        "EyeBlinkRight": blink,
        "BrowInnerUp": 0.8 * wonder,
        "BrowOuterUpLeft": 0.7 * wonder,
        "BrowOuterUpRight": 0.7 * wonder,
        "EyeWideLeft": 0.5 * wonder,
        "EyeWideRight": 0.5 * wonder,
        "BrowDownLeft": 0.8 * frown,
        "BrowDownRight": 0.8 * frown,
        "MouthFrownLeft": 0.6 * frown,
        "MouthFrownRight": 0.6 * frown,
        "JawLeft": 0.2 * np.clip(np.sin(0.31 * t), 0, 1),
    }
    for name, way in ways.items():
        weights[:, names.index(name)] = way
    return Face(names, np.clip(weights, 0.0, 1.0), fps, "demo_face")
