"""Motion matching, plain: the peer that steering is held against, on the same recordings with the usual 27 features.

Where the root will be and head in 1/3, 2/3 and 1 s (12 numbers), where both feet are and how fast (12), how fast the
hips are (3); each group scaled by its spread. Every tenth of a second the nearest frame is looked for, and gone over to
in 0.2 s. The wanted way bends towards the wanted direction as a critically damped spring does.
"""

from __future__ import annotations

import math

import numpy as np

import choreograph as cg
from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.floor import FloorTransform
from choreograph.finishing.foot_contacts import foot_slide, plant_speed
from choreograph.motion.bend import find_way

RATE = 60.0
AHEAD = (20, 40, 60)
EVERY, FADE = 6, 12
HALFLIFE_S = 0.27


class Matcher:
    """Frames of recordings, their features, and a character that plays them."""

    def __init__(self, clips: list[cg.Clip]) -> None:
        both = [one for clip in clips for one in (clip.resampled(RATE), clip.mirrored().resampled(RATE))]
        self.clips = [clip for clip in both if len(clip) > AHEAD[-1] + 10]
        self.rows = np.array([(c, f) for c, clip in enumerate(self.clips) for f in range(1, len(clip) - AHEAD[-1])])
        features = np.concatenate([self._features(clip) for clip in self.clips])
        groups = np.repeat(np.arange(5), (6, 6, 6, 6, 3))
        self.scale = np.array([features[:, groups == g].std() for g in range(5)])[groups]
        self.mean = features.mean(axis=0)
        self.features = (features - self.mean) / self.scale

    def _features(self, clip: cg.Clip) -> Floats:
        places = find_way(clip.root_pos[:, [0, 2]], RATE, 0.1)
        facing = np.unwrap(clip.facing())
        at = np.arange(1, len(clip) - AHEAD[-1])
        turn = np.exp(1j * facing[at])  # x + iz of the world times this is the body's

        def body(vectors: Floats) -> Floats:
            flat = (vectors[:, 0] + 1j * vectors[:, -1]) * turn
            return np.stack([flat.real, flat.imag], axis=1)

        ways = [body(places.places[at + k] - clip.root_pos[at][:, [0, 2]]) for k in AHEAD]
        heads = [np.stack([np.sin(facing[at + k] - facing[at]), np.cos(facing[at + k] - facing[at])], 1) for k in AHEAD]
        feet, speeds = [], []
        positions = clip.global_positions()
        for role in ("left_foot", "right_foot"):
            foot = positions[:, clip.skeleton.need(role)]
            here, speed = foot - clip.root_pos, np.gradient(foot, 1 / RATE, axis=0)
            for vectors, out in ((here, feet), (speed, speeds)):
                flat = body(vectors[at])
                out.append(np.insert(flat, 1, vectors[at, 1], axis=1))
        hips = np.gradient(clip.root_pos, 1 / RATE, axis=0)[at]
        flat = body(hips)
        return np.concatenate([*ways, *heads, *feet, *speeds, np.insert(flat, 1, hips[:, 1], axis=1)], axis=1)

    def walk(self, seconds: float, turn_at: float, row: int) -> tuple[Floats, cg.Clip]:
        """A walk along +z that is to go back from a moment on: the root's way, and the motion."""
        clip, frame = self.rows[row]
        place = FloorTransform()
        start = FloorTransform(float(self.clips[clip].facing()[frame]), *self.clips[clip].root_pos[frame, [0, 2]])
        place = start.inverse()
        velocity, target, roots, rots, fade = 1.1j, 0.0, [], [], None
        for k in range(round(seconds * RATE)):
            target = math.pi if k / RATE >= turn_at else 0.0
            wanted = 1.1 * (math.sin(target) + 1j * math.cos(target))
            if k % EVERY == 0 or frame >= len(self.clips[clip]) - AHEAD[-1] - 1:
                better = self._search(int(clip), int(frame), place, velocity, wanted, target)
                if better is not None:
                    old = self._pose(clip, frame, place)
                    facing = float(self.clips[clip].facing()[frame])
                    here = place @ FloorTransform(facing, *self.clips[clip].root_pos[frame, [0, 2]])
                    clip, frame = better
                    own = FloorTransform(
                        float(self.clips[clip].facing()[frame]), *self.clips[clip].root_pos[frame, [0, 2]]
                    )
                    place = here @ own.inverse()
                    new = self._pose(clip, frame, place)
                    fade = (k, old[0] - new[0], quat.multiply(quat.inverse(new[1]), old[1]))
            root, rot = self._pose(clip, frame, place)
            if fade is not None and k - fade[0] < FADE:
                left = (1 - (k - fade[0]) / FADE) ** 2 * (1 + 2 * (k - fade[0]) / FADE)
                root = root + left * fade[1]
                rot = quat.multiply(rot, quat.from_rotvec(left * quat.as_rotvec(fade[2])))
            roots.append(root)
            rots.append(rot)
            velocity += (wanted - velocity) * (1 - 0.5 ** (1 / RATE / HALFLIFE_S))
            frame += 1
        motion = cg.Clip(self.clips[0].skeleton, RATE, np.array(roots), quat.make_continuous(np.array(rots)), "matched")
        return np.array(roots)[:, [0, 2]], motion

    def _pose(self, clip: int, frame: int, place: FloorTransform) -> tuple[Floats, Floats]:
        rot = np.array(self.clips[clip].local_rot[frame])
        rot[0] = place.turn(rot[0])
        return place.apply(self.clips[clip].root_pos[frame]), rot

    def _search(
        self, clip: int, frame: int, place: FloorTransform, velocity: complex, wanted: complex, target: float
    ) -> tuple[int, int] | None:
        now = np.flatnonzero((self.rows[:, 0] == clip) & (self.rows[:, 1] == frame))
        query = self.features[now[0]].copy() if len(now) else np.zeros(27)
        facing = float(self.clips[clip].facing()[frame]) + place.yaw
        turn, rate = np.exp(1j * facing), math.log(2) / HALFLIFE_S
        raw = query * self.scale + self.mean
        for k, frames in enumerate(AHEAD):
            t = frames / RATE
            decay = math.exp(-rate * t)
            way = (wanted * t + (velocity - wanted) * (1 - decay) / rate) * turn
            raw[2 * k : 2 * k + 2] = way.real, way.imag
            off = math.remainder(target - facing, 2 * math.pi) * (1 - decay)
            raw[6 + 2 * k : 8 + 2 * k] = math.sin(off), math.cos(off)
        query = (raw - self.mean) / self.scale
        gaps = ((self.features - query) ** 2).sum(axis=1)
        best = int(gaps.argmin())
        if len(now) and gaps[best] >= gaps[now[0]] - 1e-9:
            return None
        found = self.rows[best]
        if found[0] == clip and abs(found[1] - frame) < 12 and len(now):
            return None
        return int(found[0]), int(found[1])


def report(clips: list[cg.Clip], reversal_starts: int) -> None:
    """How long reversals take it, and how its feet fare before any clean-up."""
    matcher, rng, taken, slides = Matcher(clips), np.random.default_rng(0), [], []
    usual, speed = np.mean([foot_slide(clip) for clip in clips]), np.mean([plant_speed(clip) for clip in clips])
    for _ in range(reversal_starts):
        way, motion = matcher.walk(14.0, 4.0, int(rng.integers(len(matcher.rows))))
        heading = find_way(way[240:], RATE, 0.1).heading
        there = np.abs(np.angle(np.exp(1j * (heading - math.pi)))) < math.radians(30)
        taken.append(float(there.argmax() / RATE) if there.any() else 10.0)
        slides.append((foot_slide(motion) / usual, plant_speed(motion) / speed))
    wander, slide = np.mean(slides, axis=0)
    print(f"reversal, motion matching: median {np.median(taken):.2f} s, 90 % {np.percentile(taken, 90):.2f} s; "
          f"before clean-up plants wander {wander:.2f} ×, slide {slide:.2f} ×")  # fmt: skip
