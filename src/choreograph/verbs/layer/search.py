"""Layering as a search of one step: a montage of the motion and of what is laid over it, by joint weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.result import Answer, Metric, Motion, Result, Run
from choreograph.contract.search import OneStepSearch
from choreograph.contract.verb import CLIP, File
from choreograph.finishing.assemble import assemble
from choreograph.formats import read_clip
from choreograph.motion.bend import SMOOTH_S, low_pass
from choreograph.motion.clip import Clip
from choreograph.motion.montage import Layer, Montage
from choreograph.motion.resample import sample_rotations
from choreograph.motion.retarget import retarget
from choreograph.verbs.layer.mask import joint_weights
from choreograph.verbs.layer.request import LayerRequest


class LayerSearch(OneStepSearch[tuple[Clip, Floats]]):
    """One motion's joints over another's."""

    def __init__(self, clip: Clip, request: LayerRequest, upper: Clip | None = None) -> None:
        """Prepare it.

        Args:
            clip: The motion whose legs, hips and way stay.
            request: What is laid over, and how.
            upper: The motion that is laid over, instead of the one that the request names.
        """
        super().__init__(request)
        self.request: LayerRequest = request
        self._clip, self._upper = clip, upper

    def make(self, progress: Progress) -> tuple[Clip, Floats]:
        """Lay it over; how much it shows in each frame."""
        request, clip = self.request, self._clip
        if self._upper is None and not request.upper:
            raise RequestError("which motion is laid over? Name one (upper)", where="upper")
        upper = self._upper if self._upper is not None else read_clip(request.upper)
        return lay_over(clip, retarget(upper, clip.skeleton), request)

    def best(self) -> Result:
        """The motion with the other laid over it."""
        request, (clip, share) = self.request, self.made
        over = float((share > 0).sum()) / clip.fps
        metrics = {
            "seconds": Metric(clip.seconds, "s", "lasts"),
            "over": Metric(over, "s", "the other shows for"),
            "full": Metric(float((share > 0.99).sum()) / clip.fps, "s", "at full share for"),
        }
        name = self._upper.name if self._upper is not None else request.upper
        answer = Answer(
            (Motion(clip, (Run(0, len(clip), self._clip.name, 0.0),), None),),
            f"{self._clip.name} with {name}",
            metrics,
            tuple(self._problems()),
        )
        return Result("layer", request, (answer,), seconds=self.seconds)

    def _problems(self) -> Iterator[Problem]:
        peak = float(self.made[1].max())
        if peak < 0.99:
            more = "The other motion is short: shorten the fade (fade_s), or let it repeat (repeat)."
            yield Problem.of(ProblemKind.FADE_SHORT, "fade_s", asked=1.0, got=peak, tolerance=0.01, more=more)


def lay_over(clip: Clip, upper: Clip, request: LayerRequest) -> tuple[Clip, Floats]:
    """The motion with the other's joints, and how much of those each frame shows, (F,), from 0 to 1.

    Raises:
        RequestError: If nothing of the other motion falls into it.
    """
    weights = joint_weights(clip.skeleton, request.mask, request.joint_shares, request.feather)
    runs = _runs(len(clip), clip.fps, upper, request)
    if not runs:
        raise RequestError(
            f"nothing of the other motion falls into this one: it begins at {request.at_s:g} s of {clip.seconds:.2f} "
            f"s, from {request.start_s:g} s of {upper.seconds:.2f} s on",
            where="at_s" if request.at_s >= clip.seconds else "start_s",
        )
    at, posed = _joined(clip, upper, runs, weights > 0, request.keep_to)
    share = np.zeros(len(clip))
    share[at] = 1.0
    share[runs[0].at] = runs[0].share
    # The root's position and joints of weight 0 are the motion's own; other weights have a column each.
    levels, column = np.unique(np.concatenate([[0.0], weights]), return_inverse=True)
    every = np.arange(len(clip))
    part = request.share * np.outer(share, levels)
    layers = (
        Layer(at=every, clip=np.zeros(len(clip), np.int32), frame=every.astype(float), weight=1 - part),
        Layer(at=at, clip=np.ones(len(at), np.int32), frame=np.arange(len(at), dtype=float), weight=part[at]),
    )
    montage = Montage((clip, posed), (clip.name, upper.name), clip.skeleton, clip.fps, layers, groups=column,
                      contacts=clip.contacts, repair=False)  # fmt: skip
    clip_out = assemble(montage, clip.name)
    return replace(clip, local_rot=clip_out.local_rot), share


@dataclass(frozen=True, eq=False)
class _Run:
    """Frames that show the other motion once."""

    at: Ints
    frame: Floats
    """Where in it."""
    share: Floats
    """How far it has come in, from 0 to 1."""


def _runs(frames: int, fps: float, upper: Clip, request: LayerRequest) -> list[_Run]:
    """The times that the motion shows the other one, each fading in over the end of the one before."""
    step = request.rate * upper.fps / fps
    first, last = request.start_s * upper.fps, len(upper) - 1
    length = int((last - first) / step) + 1 if first <= last else 0
    fade = min(max(round(request.fade_s * fps), 1), max(length - 1, 1))
    begin, out = round(request.at_s * fps), []
    while length > 0 and begin < frames:
        count = min(length, frames - begin)
        into = np.arange(count, dtype=float)
        share = np.minimum((into + 1) / (fade + 1), 1.0)
        if not request.repeat and begin + length < frames:  # what lasts to the end of the motion need not go
            share = np.minimum(share, (length - into) / (fade + 1))
        out.append(_Run(np.arange(begin, begin + count), first + into * step, _smooth(share)))
        if not request.repeat:
            break
        begin += max(length - fade, 1)
    return out


def _joined(clip: Clip, upper: Clip, runs: list[_Run], inside: Flags, keep_to: str) -> tuple[Ints, Clip]:
    """The frames that show the other motion, and its poses there, one run faded into the next."""
    at = np.arange(runs[0].at[0], runs[-1].at[-1] + 1)
    rot = np.empty((len(at), len(clip.skeleton), 4))
    stop = 0
    for run in runs:
        own = _on_body(clip, upper, run, inside, keep_to)
        rows = run.at - at[0]
        both = rows < stop
        rot[rows[both]] = quat.slerp(rot[rows[both]], own[both], run.share[both][:, None])
        rot[rows[~both]] = own[~both]
        stop = max(stop, int(rows[-1]) + 1)
    return at, Clip(clip.skeleton, clip.fps, clip.root_pos[at], quat.make_continuous(rot), upper.name)


def _smooth(share: Floats) -> Floats:
    return share * share * (3 - 2 * share)


def _on_body(clip: Clip, upper: Clip, run: _Run, inside: Flags, keep_to: str) -> Floats:
    """Rotations (N, J, 4): the other motion's on the body as it then is; joints outside of the mask are the body's."""
    own = np.array(clip.local_rot[run.at])
    other = sample_rotations(upper.local_rot, run.frame)
    parents = clip.skeleton.parents
    edge = [joint for joint in np.flatnonzero(inside) if parents[joint] >= 0 and not inside[parents[joint]]]
    own[:, inside] = other[:, inside]
    if keep_to == "body":
        back = quat.from_yaw(-np.interp(run.frame, np.arange(len(upper)), _heading(upper)))
        turn = quat.multiply(quat.from_yaw(_heading(clip)[run.at]), back)
        world = sample_rotations(upper.global_rotations()[:, edge], run.frame)
        carried = quat.inverse(clip.global_rotations()[run.at][:, parents[edge]])
        own[:, edge] = quat.multiply(carried, quat.multiply(turn[:, None], world))
    return own


def _heading(clip: Clip) -> Floats:
    """Where the body faces, without the swing of its hips, (F,), radians."""
    return low_pass(np.unwrap(clip.facing()), SMOOTH_S * clip.fps)


def layer(
    clip: Clip | File,
    request: LayerRequest | None = None,
    *,
    upper: Clip | File | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> Result:
    """A motion with another's upper body laid over it.

    >>> from choreograph.demo import demo_clip
    >>> walk, run = demo_clip("walk", 30.0), demo_clip("run", 30.0)
    >>> made = layer(walk, upper=run, mask="arms").best.clips[0]
    >>> bool((made.root_pos == walk.root_pos).all())
    True

    Args:
        clip: The motion whose legs, hips and way stay, or its file's name.
        request: What is laid over, and how.
        upper: The motion that is laid over, or its file, instead of one that the request names.
        progress: Hears how far it has come.
        **fields: Of the request.
    """
    if isinstance(upper, File):
        fields, upper = {**fields, "upper": str(upper)}, None
    search = LayerSearch(CLIP.read(clip), (request or LayerRequest()).with_(**fields), upper)
    search.step(progress=progress or silent)
    return search.best()
