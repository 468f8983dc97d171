"""Making a loop as a search of one step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind, amount
from choreograph.contract.result import Answer, Metric, Motion, Result, Run
from choreograph.contract.search import OneStepSearch
from choreograph.contract.verb import CLIP, File
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.finishing.footskate import clean_feet
from choreograph.motion.clip import Clip
from choreograph.verbs.loop.cycle import GAP_M, STILL_M, Cycle, find_cycle, join_ends, repeat
from choreograph.verbs.loop.request import LoopRequest

LONGEST_S = 3600.0  # of all cycles together
_TURN_RAD = np.radians(15)  # of a cycle that still counts as straight


class LoopSearch(OneStepSearch[tuple[Clip, Cycle]]):
    """One cycle of a motion."""

    def __init__(self, clip: Clip, request: LoopRequest) -> None:
        """Prepare it.

        Args:
            clip: The motion.
            request: How long the cycle is, and whether it travels.
        """
        super().__init__(request)
        self.request: LoopRequest = request
        self._clip = clip

    def make(self, progress: Progress) -> tuple[Clip, Cycle]:
        """Find the cycle and join its ends."""
        ask, clip = self.request, self._clip
        limits, at = (ask.min_s, ask.max_s), (ask.start_s, ask.end_s)
        cycle = find_cycle(clip, limits, at, straight=ask.straight)
        progress("joining the ends", 1, 3)
        one = join_ends(clip[cycle.start : cycle.stop + 1], straight=ask.straight, in_place=False)
        if ask.clean and clip.skeleton.feet and clip.local_pos is None:
            one = _cleaned(one)
        if ask.in_place:
            one = join_ends(one, straight=ask.straight, in_place=True)
        if one.seconds * ask.cycles > LONGEST_S:
            raise RequestError(
                f"cycles is {ask.cycles}, of {one.seconds:.1f} s each; a loop lasts {LONGEST_S:g} s at most",
                where="cycles",
            )
        return repeat(one, ask.cycles), cycle

    def best(self) -> Result:
        """The loop."""
        clip, cycle = self.made
        length = (cycle.stop - cycle.start) / clip.fps
        part = self._clip[cycle.start : cycle.stop + 1]
        facing = np.unwrap(part.facing())
        turn = float(facing[-1] - facing[0])
        way = float(np.linalg.norm(np.diff(clip.root_pos[[0, -1]][:, [0, 2]], axis=0))) / self.request.cycles
        metrics = {
            "seconds": Metric(length, "s", "a cycle of"),
            "start": Metric(cycle.start / clip.fps, "s", "recorded from"),
            "moves": Metric(cycle.moves_m, "m", "joints move about their middle by"),
            "gap": Metric(cycle.gap_m, "m", "ends apart before they were joined"),
            "turn": Metric(float(np.degrees(abs(turn))), "°", "turned as recorded"),
            "way": Metric(way, "m", "goes on by"),
        }
        if clip.skeleton.feet and not self.request.in_place:
            metrics["foot_slide"] = Metric(plant_speed(clip), "m/s", "standing feet slide at")
        answer = Answer(
            (Motion(clip, (Run(0, len(clip), self._clip.name, cycle.start / clip.fps),), None),),
            f"{self._clip.name}, {length:.2f} s",
            metrics,
            tuple(self._problems(cycle, turn)),
            details={"start_frame": cycle.start, "stop_frame": cycle.stop},
        )
        return Result("loop", self.request, (answer,), seconds=self.seconds)

    def _problems(self, cycle: Cycle, turn: float) -> Iterator[Problem]:
        ask = self.request
        if cycle.gap_m > GAP_M:
            given = ask.start_s is not None and ask.end_s is not None
            cycles = (
                "The given cycle does not repeat" if given else f"No cycle of {ask.min_s:g}–{ask.max_s:g} s repeats"
            )
            what = f"{cycles}; ends differ by {amount(cycle.gap_m, 'm')}"
            facts = {"asked": GAP_M, "got": cycle.gap_m, "tolerance": GAP_M, "unit": "m", "metric": "gap"}
            yield Problem.of(ProblemKind.NO_LOOP, "max_s", what=what, **facts)
        elif cycle.moves_m < STILL_M and (ask.start_s is None or ask.end_s is None):
            what = f"The cycle stands still: joints move {amount(cycle.moves_m, 'm')} on average"
            facts = {"asked": STILL_M, "got": cycle.moves_m, "unit": "m", "metric": "moves"}
            more = "Say where the motion repeats (start_s, end_s)."
            yield Problem.of(ProblemKind.NO_LOOP, "min_s", what=what, more=more, **facts)
        if ask.straight and abs(turn) > _TURN_RAD:
            off = float(np.degrees(turn))
            more = "Switch this off to keep it (straight)."
            yield Problem.of(
                ProblemKind.TURN_REMOVED, "straight", off=abs(off), asked=0.0, got=off, unit="°", more=more
            )


def _cleaned(one: Clip) -> Clip:
    """A cycle whose feet were cleaned in the middle of three, so that plants across the seam are whole."""
    count = len(one) - 1
    long = clean_feet(repeat(one, 3))
    facing = one.facing()
    turns = abs(float(facing[-1] - facing[0])) > 1e-9
    return join_ends(long[count : 2 * count + 1], straight=not turns, in_place=False)


def loop(
    clip: Clip | File, request: LoopRequest | None = None, *, progress: Progress | None = None, **fields: Any
) -> Result:
    """A motion that repeats: the best cycle of a clip, its ends joined.

    >>> from choreograph.demo import demo_clip
    >>> result = loop(demo_clip("walk", 30.0), min_s=0.8)
    >>> made = result.best.clips[0]
    >>> bool(abs(made.local_rot[0, 1:] - made.local_rot[-1, 1:]).max() < 1e-6)
    True

    Args:
        clip: The motion, or its file's name.
        request: How long the cycle is, and whether it travels.
        progress: Hears how far it has come.
        **fields: Of the request.

    Returns:
        The loop; its last frame is its first one again, as far on as the cycle goes.
    """
    search = LoopSearch(CLIP.read(clip), (request or LoopRequest()).with_(**fields))
    search.step(progress=progress or silent)
    return search.best()
