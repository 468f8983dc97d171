"""Retiming as a search of one step: warp, frames, measures. What is prepared is kept while key times change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import has_magic
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.fields import leads_to_field
from choreograph.contract.limits import is_file
from choreograph.contract.result import Answer, Metric, Motion, Result, Run
from choreograph.contract.search import OneStepSearch
from choreograph.contract.verb import CLIP, File
from choreograph.motion.clip import Clip
from choreograph.verbs.retime.references import suggest_references
from choreograph.verbs.retime.request import RetimeRequest
from choreograph.verbs.retime.retime import Retimed, retime_prepared
from choreograph.verbs.retime.warp import Retimer

_CURVE_POINTS = 400
"""Points of the warp curve that a result tells."""


@dataclass(frozen=True, eq=False)
class RetimeResult(Result):
    """A retimed motion, with its warp and what guided it."""

    retimed: Retimed | None = None
    recorded: Clip | None = None
    """The motion as it was."""
    references: tuple[Clip, ...] = ()
    """Whose timing it took; empty for its own."""


class RetimeSearch(OneStepSearch[Retimed]):
    """One motion with another timing."""

    def __init__(self, clip: Clip, request: RetimeRequest, *, references: Sequence[Clip] | None = None) -> None:
        """Prepare it.

        Args:
            clip: The motion.
            request: When frames shall be shown, and whose timing is liked.
            references: Motions whose timing is liked, instead of those that the request names.
        """
        super().__init__(request)
        self.request: RetimeRequest = request
        self._clip, self._given = clip, references
        self._retimer: Retimer | None = None
        self._references: list[Clip] = []
        self._suggested = False
        """Whether references were chosen for the length that was asked for."""

    def make(self, progress: Progress) -> Retimed:
        """The motion with its other timing."""
        keys = self.request.key_times(self._clip)
        if self._retimer is None:
            self._references = self._find_references(progress)
            self._retimer = Retimer(self._clip, self._references, self.request)
        return retime_prepared(self._retimer, keys, progress)

    def change(self, request: Any) -> None:
        """Ask for other key times; where only those change, nothing is prepared anew."""
        before = self.request
        super().change(request)
        same = request.with_(duration_s=before.duration_s, keys=before.keys) == before
        if not same or (self._suggested and request.duration_s != before.duration_s):
            self._retimer = None

    def _find_references(self, progress: Progress) -> list[Clip]:
        from choreograph.formats import read_clip

        if self._given is not None:
            return list(self._given)
        references = []
        for number, name in enumerate(self.request.like):
            if not _holds_several(name):
                references.append(read_clip(name))
                continue
            self._suggested = True
            clips = _clips_of(name)
            nearest = suggest_references(self._clip, self.request.length_s(self._clip), clips, progress=progress)
            if not nearest:
                raise RequestError(
                    f"{name} holds no motion of a body with these joints that could guide it", where=f"like[{number}]"
                )
            references += [clips[one.index] for one in nearest]
        return references

    def best(self) -> RetimeResult:
        """The retimed motion."""
        retimed, request = self.made, self.request
        numbers = retimed.metrics
        metrics = {
            "seconds": Metric(retimed.clip.seconds, "s", "lasts"),
            "recorded": Metric(self._clip.seconds, "s", "instead of"),
            "slowest_rate": Metric(numbers.slowest_rate, "×", "shown at"),
            "fastest_rate": Metric(numbers.fastest_rate, "×", "to"),
        }
        if retimed.clip.skeleton.feet:
            metrics["foot_slide"] = Metric(numbers.slide_m, "m", "standing feet wander")
        for n, (_, after) in enumerate(numbers.gravity):
            if not math.isnan(after):
                metrics[f"gravity_{n}"] = Metric(-after, "m/s²", f"jump {n + 1} falls with")
        problems = tuple(
            p if leads_to_field(request, p.where) else replace(p, where="duration_s") for p in retimed.problems
        )
        named = f"{self._clip.name}, {retimed.clip.seconds:.2f} s"
        details = {
            "keys": [{"frame": key.frame, "seconds": key.seconds} for key in retimed.keys],
            "references": [clip.name for clip in self._references] or ["as recorded"],
            "still": [list(stretch) for stretch in retimed.still],
            "warp": _curve(retimed),
        }
        motion = Motion(retimed.clip, (Run(0, len(retimed.clip), self._clip.name, float(retimed.source_frames[0])),))
        answer = Answer((motion,), named, metrics, problems, cost=numbers.cost, details=details)
        return RetimeResult(
            "retime", request, (answer,), seconds=self.seconds,
            retimed=retimed, recorded=self._clip, references=tuple(self._references),
        )  # fmt: skip


def _holds_several(name: str) -> bool:
    """Whether a name is that of a folder, a pattern or a motion graph, from which motions are chosen."""
    return Path(name).suffix.lower() == ".mog" or Path(name).is_dir() or (not is_file(name) and has_magic(name))


def _clips_of(text: str) -> list[Clip]:
    from choreograph.formats import read_clips
    from choreograph.formats.inputs import find_motion_files
    from choreograph.graph.store import open_graph

    if Path(text).suffix.lower() == ".mog":
        return list(open_graph(text).clips)
    return [clip for path in find_motion_files([text]) for clip in read_clips(path)]


def _curve(retimed: Retimed) -> dict[str, list[float]]:
    """The warp, as seconds of the result and frames of the motion."""
    at = np.linspace(0, retimed.warp.length_s, min(_CURVE_POINTS, len(retimed.clip)))
    return {
        "seconds": np.round(at, 4).tolist(),
        "frames": np.round(retimed.warp.frames_at(at), 3).tolist(),
        "rates": np.round(retimed.warp.rates_at(at), 4).tolist(),
    }


def retime(
    clip: Clip | File,
    request: RetimeRequest,
    *,
    references: Sequence[Clip | File] | None = None,
    progress: Progress | None = None,
) -> RetimeResult:
    """The same poses with another timing.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> result = cg.retime(demo_clip("jump_high", 60.0), cg.RetimeRequest(duration_s=1.5))
    >>> round(result.clip.seconds, 2)
    1.5

    Args:
        clip: The motion, or its file's name.
        request: When frames shall be shown, and whose timing is liked.
        references: Motions whose timing is liked, instead of those that the request names.
        progress: Hears how far the work has come.

    Raises:
        RequestError: If key times or references do not fit the motion; the message says what would.
    """
    given = None if references is None else [CLIP.read(one) for one in references]
    search = RetimeSearch(CLIP.read(clip), request, references=given)
    search.step(progress=progress or silent)
    return search.best()
