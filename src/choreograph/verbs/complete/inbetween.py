"""In-betweening: the gap between the end of one motion and the beginning of another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip, concatenate
from choreograph.motion.retarget import retarget
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.request import Between
from choreograph.verbs.complete.sources import Recordings


@dataclass(frozen=True, eq=False)
class Gap:
    """Two motions and the frames between them."""

    before: Clip
    behind: Clip
    wanted: Between

    def on(self, skeleton: Skeleton) -> Gap:
        """The gap with both motions on a body; where they are of another, they are retargeted."""
        before, behind = (retarget(clip, skeleton) for clip in (self.before, self.behind))
        return replace(self, before=before, behind=behind)

    def claims(self) -> list[Target]:
        """The last pose before the gap and the first one behind it, by which the nearest clips are known."""
        hips, claims = self.before.skeleton.hips, []
        for number, pose in enumerate((self.before[len(self.before) - 1 :], self.behind[:1])):
            place = np.full((1, 3), np.nan)
            where, at = f"between.motions[{number}]", float(number)
            claims.append(Target(where, "pose", at, at, (hips,), place, pose=pose))
        return claims

    def ends(self, rate_hz: float) -> tuple[Clip, Clip]:
        """What is known before and after the gap, at the model's rate; the first ends with its motion's last frame."""
        # Read backwards from the end, so that the last frame is one of them.
        back = np.arange(round(self.wanted.before_s * rate_hz) + 1)[::-1] * self.before.fps / rate_hz
        at = len(self.before) - 1 - back[back <= len(self.before) - 1 + 1e-9]
        before = _sampled(self.before, np.asarray(at, float), rate_hz)
        return before, self.behind.resampled(rate_hz)[: round(self.wanted.after_s * rate_hz) + 1]

    def between(self, rate_hz: float) -> int:
        """Frames of the gap itself, at the model's rate."""
        frames = round(self.wanted.duration_s * rate_hz) - 1
        if frames < 1:
            where, least = "between.duration_s", 2 / rate_hz
            raise RequestError(
                f"{where} is {self.wanted.duration_s:g}; at {rate_hz:g} frames a second it must be {least:.3g} "
                "s or more",
                where=where,
            )
        return frames

    def frames(self, rate_hz: float) -> int:
        """Frames of the whole stretch, at the model's rate."""
        before, behind = self.ends(rate_hz)
        return len(before) + self.between(rate_hz) + len(behind)

    def targets(self, model: MotionModel) -> list[Target]:
        """The poses before and behind the gap, in place."""
        skeleton, rate = model.encoding.skeleton, model.encoding.rate_hz
        before, behind = self.ends(rate)
        targets = []
        for number, (clip, first, placed) in enumerate(
            ((before, 0, True), (behind, len(before) + self.between(rate), self.wanted.as_recorded))
        ):
            hips, facing = clip.global_positions()[:, skeleton.hips], clip.facing()
            for n in range(len(clip)):
                place = np.array([[hips[n, 0], hips[n, 2], facing[n]]]) if placed else np.full((1, 3), np.nan)
                at = (first + n) / rate
                pose, where = clip[n : n + 1], f"between.motions[{number}]"
                targets.append(Target(where, "pose", at, at, (skeleton.hips,), place, True, pose=pose))
        return targets

    def shown(self, clip: Clip, rate_hz: float) -> Clip:
        """What is written of the completed stretch: the gap with a frame on either side, or with both motions."""
        past = len(self.ends(rate_hz)[0])
        first = round((past - 1) / rate_hz * clip.fps)
        last = round((past + self.between(rate_hz)) / rate_hz * clip.fps)
        gap = clip[first : last + 1]
        if not self.wanted.joined:
            return gap
        before, behind = self.before.resampled(clip.fps), self.behind.resampled(clip.fps)
        if not self.wanted.as_recorded:
            hips = clip.skeleton.hips
            turn = FloorTransform(float(gap.facing()[-1] - behind.facing()[0]))
            behind = behind.moved(turn)
            away = gap.global_positions()[-1, hips] - behind.global_positions()[0, hips]
            behind = behind.moved(FloorTransform(0.0, float(away[0]), float(away[2])))
        parts = [before[: len(before) - 1]] if len(before) > 1 else []
        parts += [gap, *([behind[1:]] if len(behind) > 1 else [])]
        return concatenate(parts, name=gap.name)


def _sampled(clip: Clip, at: Floats, rate: float) -> Clip:
    """A clip at fractional frames, as one of another rate."""
    from choreograph.base import quat
    from choreograph.motion.resample import sample_positions, sample_rotations

    rot = quat.make_continuous(sample_rotations(clip.local_rot, at))
    return Clip(clip.skeleton, rate, sample_positions(clip.root_pos, at), rot, clip.name)


def find_gap(wanted: Between, recordings: Recordings) -> Gap:
    """The gap that a request asks to fill."""
    before, behind = (recordings.named(name, f"between.motions[{n}]") for n, name in enumerate(wanted.motions))
    return Gap(before, behind, wanted)
