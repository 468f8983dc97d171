"""In-betweening: the gap between the end of one motion and the beginning of another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.floor import FloorTransform
from choreograph.motion.clip import Clip, concatenate
from choreograph.motion.retarget import retarget
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.complete.compile_goals import Target
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.request import CompleteRequest
from choreograph.verbs.complete.sources import Recordings


@dataclass(frozen=True, eq=False)
class Gap:
    """Two motions and the frames between them."""

    before: Clip
    behind: Clip
    between: int
    """Frames of the gap, at the model's rate."""
    past: int
    future: int
    in_place: bool

    def on(self, skeleton: Skeleton) -> Gap:
        """The gap with both motions on a body; where they are of another, they are retargeted."""
        before, behind = (retarget(clip, skeleton) for clip in (self.before, self.behind))
        return replace(self, before=before, behind=behind)

    def claims(self) -> list[Target]:
        """The last pose before the gap and the first one behind it, by which the nearest clips are known."""
        hips, made = self.before.skeleton.hips, []
        for number, pose in enumerate((self.before[len(self.before) - 1 :], self.behind[:1])):
            place = np.full((1, 3), np.nan)
            made.append(Target(f"between[{number}]", "pose", float(number), float(number), (hips,), place, pose=pose))
        return made

    def ends(self, model: MotionModel) -> tuple[Clip, Clip]:
        """What is known before and behind the gap, at the model's rate; the first ends with its motion's last frame."""
        rate = model.encoding.rate_hz
        # Read backwards from the end, so that the last frame is one of them.
        back = np.arange(self.past)[::-1] * self.before.fps / rate
        at = len(self.before) - 1 - back[back <= len(self.before) - 1 + 1e-9]
        before = _sampled(self.before, np.asarray(at, float), rate)
        return before, self.behind.resampled(rate)[: self.future]

    def frames(self, model: MotionModel) -> int:
        """Frames of the whole stretch, at the model's rate."""
        before, behind = self.ends(model)
        return len(before) + self.between + len(behind)

    def targets(self, model: MotionModel) -> list[Target]:
        """The poses before and behind the gap, in place."""
        before, behind = self.ends(model)
        skeleton, rate = model.encoding.skeleton, model.encoding.rate_hz
        made = []
        for number, (clip, first, placed) in enumerate(
            ((before, 0, True), (behind, len(before) + self.between, self.in_place))
        ):
            hips, facing = clip.global_positions()[:, skeleton.hips], clip.facing()
            for n in range(len(clip)):
                place = np.array([[hips[n, 0], hips[n, 2], facing[n]]]) if placed else np.full((1, 3), np.nan)
                at = (first + n) / rate
                pose = clip[n : n + 1]
                made.append(Target(f"between[{number}]", "pose", at, at, (skeleton.hips,), place, True, pose=pose))
        return made

    def shown(self, clip: Clip, request: CompleteRequest) -> Clip:
        """What is written of the completed stretch: the gap with a frame on either side, or with both motions."""
        rate = request.model.rate_hz
        past = min(self.past, 1 + int((len(self.before) - 1) * rate / self.before.fps + 1e-9))
        first = round((past - 1) / rate * clip.fps)
        last = round((past + self.between) / rate * clip.fps)
        gap = clip[first : last + 1]
        if not request.joined:
            return gap
        before, behind = self.before.resampled(clip.fps), self.behind.resampled(clip.fps)
        if not self.in_place:
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


def find_gap(request: CompleteRequest, recordings: Recordings) -> Gap:
    """The gap that a request asks to fill."""
    before, behind = (recordings.named(name, f"between[{n}]") for n, name in enumerate(request.between))
    assert request.frames is not None
    return Gap(before, behind, request.frames, request.past, request.future, request.in_place)
