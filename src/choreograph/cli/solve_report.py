"""What `choreograph solve` says about answers: a line for people, and everything for programs."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from choreograph.finishing.finish import Finished
    from choreograph.graph.model import MotionGraph
    from choreograph.synthesis.solve.hierarchy import Hierarchy
    from choreograph.synthesis.solve.search import Answer, ConstraintError, SolveSettings


def line(answer: Answer, motion: Finished | None = None) -> str:
    """An answer in a few words: what is off before finishing, and which body constraints stay missed after it."""
    pieces = len(answer.splice.clip)
    off = [f"{error.constraint} {_said(error)}" for error in _errors(answer) if error.cost > 1e-9]
    words = f"{pieces} piece{'' if pieces == 1 else 's'}, score {answer.cost:.4f}"
    missed = zip(motion.missed_m, motion.missed_rad, strict=True) if motion else ()
    stays = [f"body[{n}] {_off(*by)}" for n, by in enumerate(missed) if max(by) > 1e-6]
    words += f"; before finishing {', '.join(off)}" if off else ""
    return words + (f"; in the file {', '.join(stays)}: nobody is that fast" if stays else "")


def facts(answer: Answer, motion: Finished | None = None) -> dict[str, Any]:
    """What is needed to understand an answer, with how far from body constraints it is when finished, if known."""
    splice = answer.splice
    infos = splice.graph.infos
    return {
        "score": answer.cost,
        "local_minimum": answer.minimum,
        "errors": [asdict(error) for error in _errors(answer)],
        **({"missed_m": list(motion.missed_m), "missed_rad": list(motion.missed_rad)} if motion else {}),
        "pieces": [
            {"clip": infos[int(clip)].name, "start": int(start), "stop": int(stop)}
            for clip, start, stop in zip(splice.clip, splice.start, splice.stop, strict=True)
        ],
    }


def origin(file: Path, graph: MotionGraph, document: Any, settings: SolveSettings, cuts: Hierarchy) -> dict[str, Any]:
    """What is needed to get the answers again."""
    from choreograph._version import __version__

    return {
        "choreograph": __version__,
        "graph": str(file),
        "request": document,
        "settings": asdict(settings),
        "max_cut_cost": cuts.max_cut_cost,
        "lost_clips": [graph.infos[clip].name for clip in cuts.lost_clips()],
        "rate_hz": cuts.frames.rate_hz,
    }


def _errors(answer: Answer) -> list[ConstraintError]:
    """How far from each constraint an answer is: from a meeting where it is worst, at its beginning or its end."""
    found: dict[str, ConstraintError] = {}
    for error in answer.errors:
        other = found.setdefault(error.constraint, error)
        if other is not error:
            metres, radians = (
                max((v for v in pair if v is not None), default=None)
                for pair in ((other.metres, error.metres), (other.radians, error.radians))
            )
            found[error.constraint] = replace(error, cost=other.cost + error.cost, metres=metres, radians=radians)
    return list(found.values())


def _said(error: ConstraintError) -> str:
    return _off(error.metres, error.radians) or f"costs {error.cost:.3g}"


def _off(metres: float | None, radians: float | None) -> str:
    """So far off, in words; nothing if neither is known."""
    parts = []
    if metres is not None:
        parts.append(f"{100 * metres:.1f} cm")
    if radians is not None:
        parts.append(f"{math.degrees(radians):.1f}°")
    return " ".join(parts) + " off" if parts else ""
