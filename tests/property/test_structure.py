"""Hierarchies of every shape, written by a few plain lines here, read by the readers, compared with matrices."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from choreograph.formats.asfamc import read_amc
from choreograph.formats.bvh import read_bvh
from choreograph.formats.world import FileUnit
from choreograph.motion.clip import Clip

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
METRE = FileUnit(1.0, "given")

lengths = st.floats(-5, 5).map(lambda v: round(v, 4))
angles = st.floats(-400, 400).map(lambda v: round(v, 4))
triples = st.tuples(lengths, lengths, lengths)
printable = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs"), exclude_characters="{}")
names = st.text(printable, min_size=1, max_size=8)


@st.composite
def trees(draw: st.DrawFn, most: int = 7) -> list[int]:
    count = draw(st.integers(1, most))
    return [-1, *(draw(st.integers(0, j - 1)) for j in range(1, count))]


def world(parents: list[int], turns: list[Rotation], places: np.ndarray) -> np.ndarray:
    """Positions of joints from their rotations and places in the parent's frame, by matrices."""
    rot, pos = list(turns), list(places)
    for j, parent in enumerate(parents):
        if parent >= 0:
            rot[j] = rot[parent] * turns[j]
            pos[j] = pos[parent] + rot[parent].apply(places[j])
    return np.array(pos)


def in_order(clip: Clip, wanted: list[str]) -> np.ndarray:
    return clip.global_positions()[:, [clip.skeleton.index(name) for name in wanted]]


@st.composite
def bvh_bodies(draw: st.DrawFn) -> dict[str, object]:
    parents = draw(trees())
    channel = st.sampled_from([f"{a}{w}" for a in "XYZ" for w in ("position", "rotation")])
    return {
        "parents": parents,
        "names": draw(st.lists(names, min_size=len(parents), max_size=len(parents), unique=True)),
        "offsets": [draw(triples) for _ in parents],
        "channels": [draw(st.lists(channel, max_size=6, unique=True)) for _ in parents],
        "frames": draw(st.integers(1, 3)),
        "seed": draw(st.integers(0, 1 << 30)),
    }


@QUICK
@given(bvh_bodies())
def test_bvh(body: dict) -> None:
    parents, channels, frames = body["parents"], body["channels"], body["frames"]
    # A still root above the hips would be folded away, so the root is called hips.
    names = ["Hips", *(f"j{j}{name}" for j, name in enumerate(body["names"][1:], 1))]
    channels[0] = channels[0] or ["Xposition"]
    lines, sequence = ["HIERARCHY"], []

    def write(j: int) -> None:
        sequence.append(j)
        offset = " ".join(map(repr, body["offsets"][j]))
        lines.extend([f"{'JOINT' if j else 'ROOT'} {names[j]}", "{", f"OFFSET {offset}"])
        lines.append(f"CHANNELS {len(channels[j])} {' '.join(channels[j])}")
        for child in [k for k, parent in enumerate(parents) if parent == j]:
            write(child)
        lines.append("}")

    write(0)
    width = sum(map(len, channels))
    values = np.random.default_rng(body["seed"]).uniform(-50, 50, (frames, width)).round(4)
    lines += ["MOTION", f"Frames: {frames}", "Frame Time: 0.01", *(" ".join(map(repr, row)) for row in values.tolist())]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.bvh"
        path.write_text("\n".join(lines), encoding="utf-8")
        clip = read_bvh(path, unit=METRE, up_axis="y")
    wanted = []
    for row in values:
        turns, places, at = [Rotation.identity()] * len(parents), np.array(body["offsets"], float), 0
        for j in sequence:
            for channel in channels[j]:
                axis = "xyz".index(channel[0].lower())
                if channel.endswith("position"):
                    places[j, axis] = row[at]
                else:
                    turns[j] = turns[j] * Rotation.from_rotvec(np.radians(row[at]) * np.eye(3)[axis])
                at += 1
        wanted.append(world(parents, turns, places))
    assert np.allclose(in_order(clip, names), wanted, atol=1e-9)


@st.composite
def asf_bodies(draw: st.DrawFn) -> dict[str, object]:
    parents = draw(trees())
    order = st.permutations("xyz").map("".join)
    turns = st.lists(st.sampled_from("xyz"), max_size=3, unique=True)
    return {
        "parents": parents,
        "root": draw(st.permutations(["TX", "TY", "TZ", "RX", "RY", "RZ"])),
        "ends": [draw(triples) for _ in parents],
        "axes": [draw(st.tuples(angles, angles, angles)) for _ in parents],
        "orders": [draw(order) for _ in parents],
        "dofs": [draw(turns) for _ in parents],
        "degrees": draw(st.booleans()),
        "frames": draw(st.integers(1, 3)),
        "seed": draw(st.integers(0, 1 << 30)),
    }


def axis_matrix(angles_xyz: tuple[float, ...], order: str) -> Rotation:
    """The rotation that "x y z ORDER" stands for: the first letter's turn is applied first."""
    turn = Rotation.identity()
    for letter in order:
        turn = Rotation.from_rotvec(np.radians(angles_xyz["xyz".index(letter)]) * np.eye(3)["xyz".index(letter)]) * turn
    return turn


@QUICK
@given(asf_bodies())
def test_asf_and_amc(body: dict) -> None:
    parents, orders, dofs = body["parents"], body["orders"], body["dofs"]
    unit = np.radians(1) if body["degrees"] else 1.0
    in_unit = 1.0 if body["degrees"] else float(np.radians(1))
    names = ["root", *(f"b{j}" for j in range(1, len(parents)))]
    lines = [":units", f" angle {'deg' if body['degrees'] else 'rad'}", ":root", f" order {' '.join(body['root'])}",
             f" axis {orders[0]}", " position 0 0 0", " orientation 0 0 0", ":bonedata"]  # fmt: skip
    for j in range(1, len(parents)):
        axis = " ".join(repr(a * in_unit) for a in body["axes"][j])
        lines += ["begin", f"name {names[j]}", f"direction {' '.join(map(repr, body['ends'][j]))}", "length 1",
                  f"axis {axis} {orders[j].upper()}"]  # fmt: skip
        if dofs[j]:
            lines.append("dof " + " ".join(f"r{a}" for a in dofs[j]))
        lines.append("end")
    lines += [":hierarchy", "begin"]
    for j in range(len(parents)):
        children = [names[k] for k, parent in enumerate(parents) if parent == j]
        lines += [f"{names[j]} {' '.join(children)}"] if children or j == 0 else []
    rng = np.random.default_rng(body["seed"])
    motion, wanted = [":FULLY-SPECIFIED"], []
    for frame in range(body["frames"]):
        motion.append(str(frame + 1))
        turns, places = [], np.zeros((len(parents), 3))
        for j, name in enumerate(names):
            free = [c[1].lower() for c in body["root"] if c[0] == "R"] if j == 0 else dofs[j]
            angle = dict(zip(free, rng.uniform(-180, 180, 3) * in_unit, strict=False))
            shift = dict(zip("xyz", rng.uniform(-5, 5, 3), strict=True))
            row = [shift[c[1].lower()] if c[0] == "T" else angle[c[1].lower()] for c in body["root"]] if j == 0 else [
                angle[a] for a in free
            ]  # fmt: skip
            if row:
                motion.append(f"{name} {' '.join(repr(float(v)) for v in row)}")
            own = Rotation.identity()
            for letter in orders[j]:
                turn = Rotation.from_rotvec(angle.get(letter, 0.0) * unit * np.eye(3)["xyz".index(letter)])
                own = turn * own
            axis = axis_matrix(body["axes"][j], orders[j]) if j else Rotation.identity()
            turns.append(axis * own * axis.inv())
            places[j] = [shift[a] for a in "xyz"] if j == 0 else body["ends"][parents[j]] if parents[j] else (0, 0, 0)
        wanted.append(world(parents, turns, places))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.amc"
        path.write_text("\n".join(motion))
        path.with_suffix(".asf").write_text("\n".join([*lines, "end"]))
        clip = read_amc(path, unit=METRE, up_axis="y")
    # In a single frame the root never moves, and may be folded into the bone that carries the body.
    kept = [name for name in names if name in clip.skeleton.names]
    assert len(kept) == len(clip.skeleton) and (kept == names or body["frames"] == 1)
    assert np.allclose(in_order(clip, kept), np.array(wanted)[:, [names.index(name) for name in kept]], atol=1e-9)
