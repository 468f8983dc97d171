"""Bending as a search of one step: the motion's way is carried onto the path, and what is missed is measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.fields import bounds_of
from choreograph.contract.problem import Advice, Problem, ProblemKind, amount, moment
from choreograph.contract.result import Answer, Metric, Motion, Result, Run
from choreograph.contract.search import OneStepSearch
from choreograph.contract.verb import CLIP, File
from choreograph.finishing.finish import Finished, finish
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.goals.tolerance import TOLERANCE
from choreograph.motion.bend import Way, lateral_acceleration, low_pass, way_of
from choreograph.motion.bend_fit import lateral_limit
from choreograph.motion.clip import Clip
from choreograph.motion.montage import Montage
from choreograph.scene.path import Path
from choreograph.verbs.bend.request import BendRequest
from choreograph.verbs.follow.measure import PathErrors, PathProgress, find_progress, measure_path
from choreograph.verbs.path_problems import feet_unplanted, path_incomplete, path_missed

_CORNER_S = 0.12
"""Width of the low-pass that takes a path's corners out of a motion."""
_SHORTEST_M = 0.2
"""Way of a motion below which it goes nowhere."""


@dataclass(frozen=True, eq=False)
class BendResult(Result):
    """A bent motion, with what it was."""

    recorded: Clip | None = None
    """The motion as it was."""


class BendSearch(OneStepSearch[Finished]):
    """One motion along another path."""

    def __init__(self, clip: Clip, request: BendRequest) -> None:
        """Prepare it.

        Args:
            clip: The motion.
            request: The path, and how it is bent there.
        """
        super().__init__(request)
        self.request: BendRequest = request
        self._clip = clip

    def make(self, progress: Progress) -> Finished:
        """Bend it."""
        path, way = self.request.floor_path(), way_of(self._clip)
        stretch = find_stretch(way, path, self.request.max_stretch)
        curve = lay_along(path, way.length * stretch, self._clip.fps)
        montage, settings = Montage.of_clip(self._clip), self.request.finish
        settings = settings.with_(clean=settings.clean and bool(self._clip.skeleton.feet))
        return finish(montage, settings, name=self._clip.name, course=lambda *_: curve, progress=progress)

    def best(self) -> BendResult:
        """The bent motion."""
        clip, path, own = self.made.clip, self.request.floor_path(), way_of(self._clip)
        stretch = find_stretch(own, path, self.request.max_stretch)
        walked = float(own.length[-1] * stretch)
        way = way_of(clip)
        progress = find_progress(clip, path)
        errors = measure_path(clip, path, progress)
        lateral = float(np.abs(lateral_acceleration(way, clip.fps)).max())
        metrics = {
            "seconds": Metric(clip.seconds, "s", "lasts"),
            "path_mean": Metric(errors.mean, "m", "off the path on average"),
            "path_worst": Metric(errors.worst, "m", "at most"),
            "path_reached": Metric(min(walked / path.length, 1.0), "", "of the path walked"),
            "stretch": Metric(stretch, "×", "steps as long as recorded"),
            "lateral": Metric(lateral, "m/s²", "turns at up to"),
        }
        if clip.skeleton.feet:
            metrics["foot_slide"] = Metric(plant_speed(clip), "m/s", "standing feet slide at")
        answer = Answer(
            (Motion(clip, (Run(0, len(clip), self._clip.name, 0.0),), self.made.raw),),
            f"{self._clip.name} along {path.length:.1f} m",
            metrics,
            (
                *_problems(path, float(own.length[-1]), walked, way, clip, errors, progress),
                *feet_unplanted(clip, self.made.raw, progress.along),
            ),
            path=[(round(float(x), 3), round(float(z), 3)) for x, z in path.sampled(max(0.05, path.length / 2000))],
        )
        return BendResult("bend", self.request, (answer,), seconds=self.seconds, recorded=self._clip)


def find_stretch(way: Way, path: Path, most: float) -> float:
    """By how much steps are made longer, so that a motion ends where a path does, within limits.

    Raises:
        RequestError: If the motion goes nowhere.
    """
    if way.length[-1] < _SHORTEST_M:
        raise RequestError(
            f"the motion goes nowhere ({100 * way.length[-1]:.0f} cm), so it cannot be bent along a path; "
            "choose one that walks"
        )
    return float(np.clip(path.length / way.length[-1], 1 - most, 1 + most))


def lay_along(path: Path, length: Floats, fps: float) -> Floats:
    """Where a motion is that has walked so far along a path, without its corners, (F, 2); straight on behind its end.

    Args:
        path: The path.
        length: Way made up to each frame, (F,), metres.
        fps: Frames per second.
    """
    beyond = np.maximum(length - path.length, 0.0)
    places = path.at(length) + beyond[:, None] * path.tangent(path.length)
    return low_pass(places, _CORNER_S * fps)


def _problems(
    path: Path, own_m: float, walked: float, way: Way, clip: Clip, errors: PathErrors, progress: PathProgress
) -> Iterator[Problem]:
    left = path.length - walked
    if abs(left) > max(TOLERANCE["place"].most, 0.01 * path.length):
        kind = ProblemKind.PATH_INCOMPLETE if left > 0 else ProblemKind.PATH_OVERRUN
        needed = math.ceil(100 * abs(path.length / own_m - 1) - 1e-9) / 100
        most = bounds_of(BendRequest.model_fields["max_stretch"])[1]
        enough = most is not None and needed <= most[1]
        yield Problem.of(
            kind, "path", left=left, beyond=-left, length=path.length, asked=path.length, got=walked, unit="m",
            more=f"Steps {100 * needed:.0f} % {'longer' if left > 0 else 'shorter'} would end with it (max_stretch)."
            if enough else "",
            advice=(Advice("max_stretch", needed),) if enough else (), **moment(clip, len(clip) - 1),
        )  # fmt: skip
    else:
        yield from path_incomplete(path.length, errors.reached, clip)
    at = int(progress.off.argmax())
    metrics = ("path_mean", "path_worst")
    yield from path_missed("path", errors.mean, errors.worst, metrics, progress.along[at], **moment(clip, at))
    lateral = np.abs(lateral_acceleration(way, clip.fps))
    limit = lateral_limit(way.speed)
    over = int((lateral - 1.1 * limit).argmax())
    if lateral[over] > 1.1 * limit[over]:
        radius = amount(float(way.speed[over] ** 2 / limit[over]), "m")
        yield Problem.of(
            ProblemKind.TURN_TOO_TIGHT, "path", asked=limit[over], got=lateral[over], tolerance=0.1 * limit[over],
            unit="m/s²", more=f"Smallest radius at {way.speed[over]:.1f} m/s: {radius}.", **moment(clip, over),
        )  # fmt: skip


def bend(clip: Clip | File, request: BendRequest | Path | File, *, progress: Progress | None = None) -> BendResult:
    """A motion along another path.

    >>> from choreograph.demo import demo_clip
    >>> result = bend(demo_clip("walk", 30.0), "circle:radius=3")
    >>> result.metrics["path_mean"].value < 0.03
    True

    Args:
        clip: The motion, or its file's name.
        request: The path and how the motion is bent to it; a Path, or the name of a file or shape, alone does too.
        progress: Hears how far the work has come.

    Raises:
        RequestError: If the path cannot be read, or the motion goes nowhere.
    """
    if isinstance(request, Path):
        request = BendRequest(points=tuple((float(x), float(z)) for x, z in request.points))
    elif isinstance(request, File):
        request = BendRequest(path=str(request))
    search = BendSearch(CLIP.read(clip), request)
    search.step(progress=progress or silent)
    return search.best()
