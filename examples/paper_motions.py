"""The motions of Safonova, Hodgins & Pollard (2004), as requests upon CMU recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import choreograph as cg
from choreograph.base import quat


@dataclass(frozen=True)
class Made:
    """One motion of the paper."""

    group: str
    name: str
    clip: str
    """The recording that is the sketch, such as "16_05"."""
    examples: tuple[str, ...]
    request: cg.PhysicsRequest
    poses: tuple[Callable[[cg.Clip], tuple[float, cg.Clip]], ...] = ()
    """Poses besides: when, and one frame; made of the part of the recording that is taken."""
    prints: Callable[[list[dict]], list[dict]] | None = None
    """Contacts of feet, made of those of the motion as recorded."""
    same: bool = False
    """Whether the recording itself is what is asked for, so that both can be compared."""


class Recordings:
    """CMU recordings below a folder, read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cache  # noqa: B019 - lives as long as the script
    def read(self, name: str) -> cg.Clip:
        subject = name.partition("_")[0]
        paths = sorted(path for deep in ("", "*/") for path in self.folder.glob(f"{deep}{subject}/{name}.amc"))
        if not paths:
            raise SystemExit(f"{name}.amc is not below {self.folder}: choreograph fetch cmu {subject}")
        clip = cg.read_clip(paths[0])
        return cg.repair(clip) if subject == "87" else clip


def turned(clip: cg.Clip, roles: dict[str, tuple[float, float, float]]) -> cg.Clip:
    """A one-frame clip with some joints turned on, degrees about the body's left, up and ahead."""
    pose = clip[:1]
    rot = np.array(pose.local_rot)
    for role, angles in roles.items():
        joint = pose.skeleton.need(role)
        parent = int(pose.skeleton.parents[joint])
        body = quat.from_rotvec(np.array([0.0, float(pose.facing()[0]), 0.0]))
        world = quat.rotate(body, np.radians(np.array(angles)))
        own = quat.rotate(quat.inverse(pose.global_rotations()[0, parent]), world)
        rot[0, joint] = quat.multiply(quat.from_rotvec(own), rot[0, joint])
        pose = pose.with_frames(pose.root_pos, rot)
    return pose


def pose_at(seconds: float, roles: dict[str, tuple[float, float, float]] | None = None) -> Callable:
    """The recording's own pose at a time, with some joints turned on."""

    def make(part: cg.Clip) -> tuple[float, cg.Clip]:
        frame = round(seconds * part.fps)
        return seconds, turned(part[frame : frame + 1], roles or {})

    return make


def straight_legs(seconds: float) -> Callable:
    """The recording's pose at a time with straight knees."""

    def make(part: cg.Clip) -> tuple[float, cg.Clip]:
        frame = round(seconds * part.fps)
        pose = part[frame : frame + 1]
        rest, rot = pose.skeleton, np.array(pose.local_rot)
        for side in ("left", "right"):
            rot[0, rest.need(f"{side}_lower_leg")] = quat.IDENTITY
        return seconds, pose.with_frames(pose.root_pos, rot)

    return make


def stones(widths: tuple[float, ...], heights: tuple[float, ...]) -> Callable[[list[dict]], list[dict]]:
    """The same steps on stones: each so far aside and so high."""

    def make(prints: list[dict]) -> list[dict]:
        places = list(dict.fromkeys((one["foot"], *one["position"]) for one in prints))[: len(widths)]
        moved = {
            place: [place[1] + aside, place[2] + height, place[3]]
            for place, aside, height in zip(places, widths, heights, strict=False)
        }
        own = [(one["foot"], *one["position"]) for one in prints]
        return [{**one, "position": moved[at]} for one, at in zip(prints, own, strict=True) if at in moved]

    return make


HOPS = (
    *(f"13_{k}" for k in (11, 13, 19, 32, 39, 40, 41, 42)),
    *(f"83_{k}" for k in (40, 41, 45, 46, 48, 49, 51, 52, 53, 54, 56, 57)),
)
RUNS = tuple(f"16_{k}" for k in (35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 48, 49, 50, 51, 52, 53, 55, 56))
JUMPS = ("16_06", "16_07", "16_09", "16_10")
WALKS = ("16_22", "16_15", "16_16", "16_31", "16_47")
SOME_RUNS = ("16_46", "16_35", "16_36", "16_56", "16_55")
P = cg.PhysicsRequest


def all_motions() -> Iterator[Made]:
    """Every motion, in the paper's order."""
    basis, part = ("83_49", "83_52", "83_54"), {"start_s": 1.4, "end_s": 3.4}
    for farther in (-0.5, -0.25, 0.25):
        yield Made("one basis", f"hop of {1.06 + farther:.2f} m", "83_49", basis, P(farther_m=farther, **part))
    for turn in (45, 90, 135, 180):
        yield Made(
            "one basis", f"hop of 0.6 m turned by {turn}°", "83_49", basis, P(farther_m=-0.4, turn_deg=turn, **part)
        )
    part = {"start_s": 1.15, "end_s": 3.25}
    for farther, name in ((-0.4, "short"), (0.0, "as recorded"), (0.4, "long")):
        others = tuple(one for one in HOPS if one != "13_11")
        yield Made("twenty hops", f"jump, {name}", "13_11", others, P(farther_m=farther, **part), same=farther == 0)
    below = ("83_51", "83_52", "83_53", "83_54", "83_56", "83_57")
    yield Made("360°", "from 90° and 180°", "83_54", below, P(turn_deg=180, higher_m=0.08, start_s=1.4, end_s=3.2))
    yield Made("360°", "75, from its 180°", "75_06", ("75_06",), P(turn_deg=180, start_s=1.9, end_s=3.65))
    part = {"start_s": 0.05, "end_s": 1.058}
    for farther, name in ((-0.5, "shorter steps"), (0.0, "as recorded"), (0.5, "longer steps")):
        yield Made("runs", name, "16_45", SOME_RUNS, P(farther_m=farther, **part), same=farther == 0)
    rows = (
        ((0.0, 0.1, 0.0), (0.0, 0.0, 0.0)),
        ((0.0, 0.0, 0.0), (0.05, 0.1, 0.15)),
        ((0.05, -0.05, 0.05), (0.0, 0.12, 0.0)),
    )
    for k, (aside, height) in enumerate(rows, 1):
        yield Made("stones", f"over stones, {k}", "16_45", SOME_RUNS, P(**part), prints=stones(aside, height))
    yield Made(
        "stones", "feet raised higher", "16_45", SOME_RUNS, P(**part),
        poses=(
            pose_at(0.36, {"left_upper_leg": (-30, 0, 0), "left_lower_leg": (45, 0, 0)}),
            pose_at(0.70, {"right_upper_leg": (-30, 0, 0), "right_lower_leg": (45, 0, 0)}),
        ),
    )  # fmt: skip
    yield Made("leap over water", "as far as recorded", "49_05", ("49_04",), P(), same=True)
    straddle = pose_at(0.66, {"left_upper_leg": (-12, 0, 0), "right_upper_leg": (12, 0, 0)})
    yield Made("leap over water", "farther, straddled", "49_05", ("49_04",), P(farther_m=0.25), poses=(straddle,))
    part = {"start_s": 0.3, "end_s": 1.35}
    yield Made("leap over water", "127, as recorded", "127_28", ("127_25", "127_26", "127_27"), P(**part), same=True)
    part = {"start_s": 0.3, "end_s": 1.66}
    for farther, name in ((-0.3, "shorter steps"), (0.0, "as recorded")):
        yield Made("walks", name, "16_21", WALKS, P(farther_m=farther, **part), same=farther == 0)
    yield Made(
        "walks",
        "exaggerated step",
        "08_07",
        ("08_05", "08_11", "08_01", "08_02"),
        P(start_s=0.62, end_s=1.8),
        same=True,
    )
    part = {"start_s": 0.75, "end_s": 2.0}
    # Least effort lifts no foot: a pose of each leg over the obstacle says how high it is.
    higher = {"left_upper_leg": (-12, 0, 0)}, {"right_upper_leg": (-6, 0, 0), "right_lower_leg": (15, 0, 0)}
    for name, (first, second) in (("low", ({}, {})), ("higher", higher)):
        poses = pose_at(0.45, first), pose_at(0.92, second)
        yield Made("stepping over", name, "143_15", ("143_14", "143_16"), P(**part), poses=poses, same=name == "low")
    flip = {"start_s": 1.6, "end_s": 2.74}
    flips = ("87_03", "87_04")
    yield Made("back flips", "as recorded", "87_04", ("87_03",), P(**flip), same=True)
    other = {"advanced": {"mean": "free"}, **flip}  # recordings that are damaged lead to what is recorded at best
    yield Made("back flips", "higher", "87_04", flips, P(higher_m=0.08, **other))
    yield Made("back flips", "with straight legs", "87_04", flips, P(**other), poses=(straight_legs(0.6),))
    yield from negative()


def negative() -> Iterator[Made]:
    """What the paper shows as failing, or as less natural."""
    part = {"start_s": 1.4, "end_s": 3.4}
    yield Made("negative", "long jump from one short jump", "83_49", ("83_48",), P(farther_m=0.3, **part))
    yield Made("negative", "the same from three jumps", "83_49", ("83_49", "83_46", "83_45"), P(farther_m=0.3, **part))
    yield Made("negative", "jump from twenty runs", "16_05", RUNS, P())
    for d, prior in ((6, None), (20, None), (20, 0.0)):  # around one mean pose, as in the paper
        space = {"dimensions": d, "mean": "fixed", **({} if prior is None else {"weights": {"prior": prior}})}
        name = f"{d} dimensions" + ("" if prior is None else ", w_P = 0")
        yield Made("negative", name, "16_05", JUMPS, P(advanced=space, work_limit=200), same=True)
