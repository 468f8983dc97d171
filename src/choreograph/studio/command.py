"""What the studio did, said as a command line and as a Python program that do the same."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

from choreograph.studio.document import FollowAsk, PerformAsk, SolveAsk


def follow_command(graph: str, paths: Sequence[str], asked: FollowAsk, number: int) -> str:
    """The command that follows this path; `paths` are the legs of the walk, `number` counts candidates from 1."""
    if len(paths) > 1:
        return "# walking on from an earlier walk has no command of its own; the Python program does it"
    words = ["choreograph", "follow", graph, "--path", paths[0], "--output", "walk.bvh"]
    if asked.smooth_m:
        words += ["--smooth", f"{asked.smooth_m:g}"]
    if asked.rounded_m:
        words += ["--round", f"{asked.rounded_m:g}"]
    if asked.final_facing is not None:
        words += ["--facing", f"{math.degrees(asked.final_facing):.6g}"]
    for name, margin in asked.margins.items():
        words += ["--prefer", f"{name}={margin:g}"] if margin else []
    if asked.start_clip is not None:
        words += ["--start-clip", asked.start_clip]
    if asked.start_frame is not None:
        words += ["--start-frame", str(asked.start_frame)]
    if asked.seed:
        words += ["--seed", str(asked.seed)]
    if number > 1:
        words += ["--count", str(number)]
    if asked.blend != "cubic":
        words += ["--blend", asked.blend]
    if asked.blend == "anticipation" and asked.preset != "even":
        words += ["--preset", asked.preset]
    if not asked.clean:
        words.append("--raw")
    return shlex.join(words)


def follow_python(graph: str, paths: Sequence[str], asked: FollowAsk, number: int) -> str:
    """The program that follows this path."""
    preset = asked.preset if asked.blend == "anticipation" else "even"
    settings = [f"margins={ {n: m for n, m in asked.margins.items() if m}!r}"] if any(asked.margins.values()) else []
    settings += [f"start_clip={asked.start_clip!r}"] if asked.start_clip is not None else []
    settings += [f"start_frame={asked.start_frame}"] if asked.start_frame is not None else []
    settings += [f"seed={asked.seed}"] if asked.seed else []
    changed = (f".rounded({asked.rounded_m:g})" if asked.rounded_m else "") + (
        f".smoothed({asked.smooth_m:g})" if asked.smooth_m else ""
    )
    lines = [
        "import choreograph as cg",
        *(["from choreograph.synthesis.follow.search import PathFollower"] if len(paths) > 1 else []),
        "",
        f"graph = cg.open_graph({graph!r})",
        f"settings = cg.FollowSettings({', '.join(settings)})",
    ]
    if len(paths) > 1:
        lines += [
            f"paths = [cg.load_path(name){changed} for name in {list(paths)!r}]",
            "follower = PathFollower(graph, paths[0], settings)",
            "for path in [*paths[1:], None]:",
            "    while follower.step():",
            "        pass",
            "    follower = follower.forked(path) if path else follower",
            "walk = follower.walk()",
        ]
    else:
        lines.append(f"path = cg.load_path({paths[0]!r}){changed}")
        if number > 1:
            lines.append(f"walk = list(cg.find_candidates(graph, path, {number}, settings))[-1].walk")
        else:
            lines.append("walk = cg.follow_path(graph, path, settings).walk")
    lines += [
        f"finishing = cg.FinishSettings({asked.blend!r}, {preset!r}, clean={asked.clean})",
        'cg.write_clip("walk.bvh", cg.finish(walk, finishing).clip, overwrite=True)',
        "",
    ]
    return "\n".join(lines)


def solve_command(graph: str, request: str, asked: SolveAsk, number: int, scored: int | None) -> str:
    """The command that solves the same.

    Args:
        graph: The graph's file.
        request: The request's.
        asked: What was asked.
        number: Which of the answers it is, counted from 1.
        scored: Paths that had been scored when it was found; None if the search went on from another request.
    """
    words = ["choreograph", "solve", graph, request, "--output", "solved", "--count", str(number)]
    words += ["--evaluations", str(scored)] if scored else ["--seconds", f"{asked.seconds:g}"]
    words += ["--seed", str(asked.seed)] if asked.seed else []
    return _origin(number, scored) + shlex.join(words)


def solve_python(graph: str, request: str, asked: SolveAsk, number: int, scored: int | None) -> str:
    """The program that solves the same; arguments as for the command."""
    how_long = f"seconds=None, evaluations={scored}" if scored else f"seconds={asked.seconds:g}"
    lines = [
        "import choreograph as cg",
        "",
        f"graph = cg.open_graph({graph!r})",
        f"request = cg.load_request({request!r})",
        f"settings = cg.SolveSettings(seed={asked.seed})",
        f"answers = cg.solve(graph, request, count={number}, {how_long}, settings=settings)",
        "motion = cg.finish(answers[-1].splice, body=request.body)",
        'cg.write_clip("solved.bvh", motion.clip, overwrite=True)',
        "",
    ]
    return _origin(number, scored) + "\n".join(lines)


def _origin(number: int, scored: int | None) -> str:
    """What is to be known before one runs it."""
    if scored is None:
        return "# found by a search that went on from an earlier request: a search of its own finds others\n"
    return f"# this motion is answer {number}\n" if number > 1 else ""


def perform_command(examples: str, led: str, asked: PerformAsk, *, held_back: bool) -> str:
    """The command that performs the same; `led` is the file of the way or of the leader."""
    if held_back:
        return "# leaving an example out has no command of its own; the Python program does it"
    words = ["choreograph", "perform", examples]
    if asked.lead == "path":
        words += ["--trajectory", led, "--smooth", f"{asked.smooth_s:g}", "--output", "performed.bvh"]
    else:
        words += [led, "--output", "follower.bvh"]
    for option, value in (
        ("--stretch", asked.stretch_s),
        ("--continuity", asked.continuity_s),
        ("--beam", asked.beam_m2_s),
    ):
        words += [option, f"{value:g}"] if value is not None else []
    if not asked.clean:
        words.append("--raw")
    return shlex.join([*words, "--transcription", "pieces.csv"])


def perform_python(examples: str, led: str, asked: PerformAsk, held_back: int | None) -> str:
    """The program that performs the same, without the example that is held back."""
    given = {name: getattr(asked, name) for name in ("stretch_s", "continuity_s", "beam_m2_s")}
    changed = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
    path = asked.lead == "path"
    lead = "control_from_trajectory" if path else "control_from_clip"
    settings = f"replace(usual_settings(base){changed})" if changed else "usual_settings(base)"
    lines = [
        *(["from dataclasses import replace", ""] if changed else []),
        "import choreograph as cg",
        f"from choreograph.synthesis.perform.request import {lead}, usual_settings",
        "from choreograph.synthesis.perform.search import find_segments",
        "from choreograph.synthesis.perform.store import open_segments",
        *(["from choreograph.synthesis.perform.trajectory import read_trajectory"] if path else []),
        "",
        f"base = open_segments({examples!r})" + ("" if held_back is None else f".without({held_back})"),
        f"control = control_from_trajectory(read_trajectory({led!r}).smoothed({asked.smooth_s:g}), base)"
        if path
        else f"control = control_from_clip(cg.read_clip({led!r}), base)",
        f"found = find_segments(base, control, {settings})",
        f"finishing = cg.FinishSettings(clean={asked.clean}, hands={asked.clean})",
        "made = cg.finish(found, finishing, partner=found.partner())",
        f'cg.write_clip("{"performed" if path else "follower"}.bvh", made.clip, overwrite=True)',
        "for row in found.transcription():",
        "    print(row)",
        "",
    ]
    return "\n".join(lines)
