"""Finishing as an answer: what the request says, and what is worth knowing about what was done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.result import Answer, Metric, Motion, Result, Run
from choreograph.dynamics.body import make_body
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.motion.clip import Clip
from choreograph.verbs.physics.finish import Mechanical, finish_mechanics
from choreograph.verbs.physics.prepare import read_examples, take_part
from choreograph.verbs.physics.quality import QUALITY_TEXT, WORSE
from choreograph.verbs.physics.request import PhysicsRequest

_ZERO_TOLERANCE = {"m": 5e-3, "m/s": 5e-3}
"""Differences of a verb's metrics that do not count."""
_LEFT_BW = 0.25
"""Force that nothing gives, above which a stretch that was left as it is counts as a problem."""


def finish_request(
    clip: Clip, request: PhysicsRequest, sources: Sequence[Clip] | None, progress: Progress
) -> Mechanical:
    """The motion that a request wants finished.

    Args:
        clip: The motion.
        request: Its part, floor and body count, and the examples as the recordings that it is made of.
        sources: Those recordings, instead of the ones that the request names.
        progress: Hears how far the work has come.
    """
    part = take_part(clip, request)
    known = list(sources if sources is not None else read_examples(request.like, clip, request.only))
    body = request.body.of(clip.skeleton)
    return finish_mechanics(part, body, sources=known, floor_m=request.floor_m, progress=progress)


def finished_answer(correction: Mechanical) -> Answer:
    """A finished motion with its metrics, and where mechanics and naturalness fight."""
    clip = correction.clip
    return Answer(
        (Motion(clip, (Run(0, len(clip), clip.name, 0.0),)),),
        f"{clip.name}, {clip.seconds:.2f} s",
        finish_metrics(correction),
        tuple(refused_windows(correction)),
        details={"windows": [asdict(window) for window in correction.windows], "novelty_measured": correction.recorded},
    )


def finish_metrics(correction: Mechanical) -> dict[str, Metric]:
    """What finishing did."""
    done = sum(window.stop_s - window.start_s for window in correction.windows if window.share > 0)
    return {
        "mechanics_change": Metric(correction.change_m, "m", "mechanics moved joints by"),
        "mechanics_finished": Metric(done, "s", "finished by mechanics for"),
        "residual_before": Metric(correction.residual_before, "BW", "unexplained force, mean, before"),
        "residual_after": Metric(correction.residual_after, "BW", "and after"),
    }


def refused_windows(correction: Mechanical) -> list[Problem]:
    """Stretches that are not as mechanics has them, since the motion would be less natural."""
    out = []
    for window in correction.refused:
        if window.after <= _LEFT_BW:
            continue
        made_share = "unchanged" if window.share == 0 else f"with {100 * window.share:.0f} % of its change"
        why = " and ".join(QUALITY_TEXT[name] for name in window.worse)
        out.append(
            Problem.of(
                ProblemKind.PHYSICS_SKIPPED, what=f"{window.start_s:.1f}–{window.stop_s:.1f} s {made_share}",
                why=f"{why}; up to {window.after:.2g} BW are unexplained", asked=_LEFT_BW, got=window.after, unit="BW",
                at_s=window.start_s,
            )
        )  # fmt: skip
    return out


def finish_result(
    result: Result,
    sources: Sequence[Clip] = (),
    remeasure: Callable[[Any, Answer], Mapping[str, Metric]] | None = None,
    *,
    progress: Progress = silent,
) -> Result:
    """A verb's result with every motion finished by mechanics, where what the verb measures does not suffer.

    Args:
        result: Of any verb that makes motion.
        sources: Recordings that its motions are made of.
        remeasure: The verb's own metrics of an answer whose motion was changed.
        progress: Hears how far the work has come.
    """
    answers = []
    for answer in result.answers:
        motions, metrics, problems, moved = [], dict(answer.metrics), list(answer.problems), 0.0
        for motion in answer.motions:
            if motion.leads:
                motions.append(motion)
                continue
            correction = finish_mechanics(
                motion.clip, make_body(motion.clip.skeleton), sources=sources, progress=progress
            )
            moved = max(moved, float(np.linalg.norm(correction.clip.root_pos - motion.clip.root_pos, axis=1).max()))
            motions.append(replace(motion, clip=correction.clip, raw=motion.raw or motion.clip))
            metrics.update(finish_metrics(correction))
            problems += refused_windows(correction)
        metrics["mechanics_root"] = Metric(moved, "m", "and the root by at most")
        after = replace(answer, motions=tuple(motions), metrics=metrics, problems=tuple(problems))
        answers.append(_accepted(result, answer, after, remeasure))
    return replace(result, answers=tuple(answers))


def _accepted(
    result: Result, before: Answer, after: Answer, remeasure: Callable[[Any, Answer], Mapping[str, Metric]] | None
) -> Answer:
    """The finished answer with its metrics measured anew; the one before, where one of them got worse by a tenth."""
    fresh = dict(remeasure(result.request, after)) if remeasure is not None else {}
    if "foot_slide" in before.metrics:
        slide = max(plant_speed(motion.clip) for motion in after.motions if not motion.leads)
        fresh["foot_slide"] = replace(before.metrics["foot_slide"], value=slide)
    worse = [
        name
        for name, metric in fresh.items()
        if metric.value > WORSE * before.metrics[name].value + _ZERO_TOLERANCE.get(metric.unit, 0.0)
    ]
    if not worse:
        return replace(after, metrics={**after.metrics, **fresh})
    why = ", ".join(f"{fresh[name].text} {fresh[name].said} instead of {before.metrics[name].said}" for name in worse)
    problem = Problem.of(ProblemKind.PHYSICS_SKIPPED, what="the motion unchanged", why=why, metric=worse[0])
    return replace(before, problems=(*before.problems, problem))
