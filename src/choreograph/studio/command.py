"""What the studio did, said as a command line and as a Python program that do the same."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

from choreograph.studio.messages import FollowAsk


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
            "for path in paths:",
            "    follower.change_path(path)",
            "    while follower.step():",
            "        pass",
            "walk = follower.walk()",
        ]
    else:
        lines.append(f"path = cg.load_path({paths[0]!r}){changed}")
        if number > 1:
            lines.append(f"walk = list(cg.find_candidates(graph, path, {number}, settings))[-1].walk")
        else:
            lines.append("walk = cg.follow_path(graph, path, settings).walk")
    lines += [
        f"finishing = cg.FinishSettings(cg.BlendSettings({asked.blend!r}, {preset!r}), clean={asked.clean})",
        'cg.write_clip("walk.bvh", cg.finish(walk, finishing).clip, overwrite=True)',
        "",
    ]
    return "\n".join(lines)
