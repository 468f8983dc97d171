"""Requests whose answers are held to those of earlier versions: same graph, same request, same seed, same motion.

python -m tests.golden.cases             # record all answers, after a change that is meant to change them
python -m tests.golden.cases solve plan  # only those of cases whose names hold one of these words

`answers.npz` has the joints in every 25th frame, `results.json` all else that results say but for times: look at its
diff before you commit it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tests.golden import edits, misses, paths, times

import choreograph as cg
from choreograph.base.arrays import Floats

HERE = Path(__file__).parent
ANSWERS, RESULTS = HERE / "answers.npz", HERE / "results.json"
EVERY = 25
"""Frames between those that are kept of each motion."""
WIDTH = 116
"""Characters of a line of `results.json`, where that can be."""
_LONG = 8
"""Entries from which on lists of numbers are kept as their number and sum."""

MADE: Mapping[str, Callable[[], list[Any]]] = {**paths.MADE, **times.MADE, **edits.MADE, **misses.MADE}
RECORDED: Mapping[str, Callable[[Path], list[Any]]] = {**paths.RECORDED, **times.RECORDED, **misses.RECORDED}


def motions(made: list[Any]) -> Iterator[Floats]:
    """Where joints are in every so many frames of all motions, (N, J, 3), metres; of faces, their weights (N, S)."""
    for one in made:
        if isinstance(one, cg.Result):
            shown = [motion for answer in one.answers for motion in answer.motions if not motion.leads]
            yield from (np.asarray(motion.face.weights[::EVERY]) for motion in shown if motion.face is not None)
            clips = [motion.clip for motion in shown if motion.face is None]
        else:
            clips = [one] if isinstance(one, cg.Clip) else [one.clip] if hasattr(one, "clip") else []
        for clip in clips:
            yield np.asarray(clip.global_positions()[::EVERY])


def said(made: list[Any]) -> list[Any]:
    """All that results say but for times and versions, as plain values."""
    return [_result(one) for one in made if not isinstance(one, cg.Clip)]


def _result(one: Any) -> dict[str, Any]:
    if not isinstance(one, cg.Result):
        return {"problems": [_short(problem.as_json()) for problem in one.problems]}
    plain = json.loads(json.dumps(one.as_json()))
    known = ("choreograph", "verb", "request", "seed", "status", "search_seconds", "problems", "answers")
    return {
        "verb": plain["verb"],
        "request": _short(plain["request"]),
        "status": plain["status"],
        "provenance": sorted(set(plain) - set(known)),
        "problems": _short(plain["problems"]),
        "answers": [_answer(answer) for answer in plain["answers"]],
    }


def _answer(plain: dict[str, Any]) -> dict[str, Any]:
    known = ("name", "status", "cost", "bound", "proved", "metrics", "problems", "motions")
    details = {name: value for name, value in plain.items() if name not in known and "seconds" not in name}
    sources = [{**motion, "sources": [list(run.values()) for run in motion["sources"]]} for motion in plain["motions"]]
    return {
        **{name: _short(plain[name]) for name in known[:5]},
        "metrics": {name: _short([one["value"], one["unit"], one["text"]]) for name, one in plain["metrics"].items()},
        "problems": _short(plain["problems"]),
        "motions": _rounded(sources),
        "details": _short(details),
    }


def _short(value: Any) -> Any:
    """Rounded, and long lists as how many they are and what they sum up to."""
    if isinstance(value, list) and len(value) > _LONG:
        flat = list(_numbers(value))
        return {"count": len(value), "sum": _rounded(float(np.sum(flat)))}
    if isinstance(value, list):
        return [_short(one) for one in value]
    if isinstance(value, dict):
        return {name: _short(one) for name, one in value.items() if not name.endswith("cpu_s")}
    return _rounded(value)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, list):
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, dict):
        yield from _numbers(list(value.values()))
    elif isinstance(value, int | float):
        yield float(value)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return {name: _rounded(one) for name, one in value.items()} if isinstance(value, dict) else value


def as_text(value: Any, indent: int = 0) -> str:
    """JSON that reads well: what fits in a line stands in one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    space = "\n" + " " * (indent + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {as_text(one, indent + 1)}" for name, one in value.items()]
        return "{" + space + ("," + space).join(parts) + "\n" + " " * indent + "}"
    return "[" + space + ("," + space).join(as_text(one, indent + 1) for one in value) + "\n" + " " * indent + "]"


def main() -> None:
    """Write the answers of today."""
    folder = Path(os.environ["CHOREOGRAPH_DATA"])
    arrays: dict[str, Floats] = {}
    plain: dict[str, Any] = {}
    if len(sys.argv) > 1:
        plain = json.loads(RESULTS.read_text("utf-8"))
        with np.load(ANSWERS) as kept:
            arrays = {key: kept[key] for key in kept.files}
    for name, work in (*MADE.items(), *RECORDED.items()):
        if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
            continue
        made = work() if name in MADE else work(folder)  # type: ignore[call-arg]
        arrays = {key: array for key, array in arrays.items() if key.rpartition(".")[0] != name}
        arrays |= {f"{name}.{k}": joints for k, joints in enumerate(motions(made))}
        plain[name] = said(made)
        print(name, len(made), flush=True)
    order = {name: n for n, name in enumerate((*MADE, *RECORDED))}
    keys = sorted(arrays, key=lambda key: (order[key.rpartition(".")[0]], int(key.rpartition(".")[2])))
    np.savez_compressed(ANSWERS, **{key: arrays[key] for key in keys})
    RESULTS.write_text(as_text({name: plain[name] for name in order if name in plain}) + "\n", "utf-8")


if __name__ == "__main__":
    main()
