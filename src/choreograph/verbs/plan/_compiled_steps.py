"""What steps do in a scene, compiled: what they break, which stones and gates they pass, whether they end it."""

from __future__ import annotations

import math
from typing import NamedTuple

from choreograph.base.arrays import Bytes, Flags, Floats, Floats32, Ints, Ints32
from choreograph.base.compiling import hot, inlined
from choreograph.scene._compiled_scene import (
    Shapes,
    capsule_gap,
    cell_of,
    concerns,
    point_gap,
    region_gap,
    touches,
)

TAU = 2 * math.pi


class Moves(NamedTuple):
    """The network as the search reads it."""

    outcome: Floats
    target: Ints
    first: Ints
    edge: Ints32
    edge_cost: Floats
    kind: Ints
    sample_first: Ints
    points: Floats32
    facing: Floats32
    planted: Bytes
    reach: Floats32
    """How far from its hips each sample reaches along the floor, (S,), metres."""
    top: Floats32
    """How high it reaches."""
    disc: Floats
    """A circle on the floor that each primitive's body never leaves: x, z, radius, (P, 3)."""
    group: Ints
    """Nodes of one group share cells of the lattice, (N,)."""
    stone_group: Ints
    """Likewise on stones, where cells are smaller, (N,): numbers behind those of the groups."""
    terminal: Flags
    """Which primitives may be the last."""
    ends: Floats
    """Where each primitive's hips end, x and z, and face, (P, 3)."""
    feet: Ints
    """Points of left ankle, left ball, right ankle, right ball."""
    capsules: Ints
    radii: Floats


class StepScene(NamedTuple):
    """What must be kept to."""

    solids: Shapes
    off: Shapes
    """Regions where no foot may stand."""
    stones: Shapes
    """Places to step on, in order."""
    gates: Floats
    """Places to pass in order: circles x, z, radius, 0, 0 or lines x, z, -1, x, z, (T, 5)."""
    corridor_grid: Floats
    """Least x and z, size of a cell, cells along x and z, (5,)."""
    corridor: Floats32
    """Distance from the path to keep near, (cells,); empty for no path."""
    corridor_m: float
    goal: Floats
    """x, z, radius, facing, tolerance (radians; above pi for any), (5,)."""
    open_grid: Floats
    open: Floats32
    """How far each cell is from all things at least, (cells,), as far as that matters."""
    open_m: float
    """And beyond the grid."""
    penalty_grid: Floats
    penalty: Floats32
    """What a step that ends in a cell costs more, (cells,): so that another answer differs."""


@inlined
def crosses(ax: float, az: float, bx: float, bz: float, gate: Floats) -> bool:
    """Whether the way from one place to the next passes a gate."""
    if gate[2] >= 0:
        return math.hypot(bx - gate[0], bz - gate[1]) <= gate[2] or math.hypot(ax - gate[0], az - gate[1]) <= gate[2]
    cx, cz, dx, dz = gate[0], gate[1], gate[3], gate[4]
    one = (bx - ax) * (cz - az) - (bz - az) * (cx - ax)
    two = (bx - ax) * (dz - az) - (bz - az) * (dx - ax)
    three = (dx - cx) * (az - cz) - (dz - cz) * (ax - cx)
    four = (dx - cx) * (bz - cz) - (dz - cz) * (bx - cx)
    return one * two <= 0 and three * four < 0


@inlined
def _foot_allowed(scene: StepScene, ax: float, az: float, bx: float, bz: float) -> int:
    """-1 where a foot, from ankle to ball, may stand; else the region that it must not stand in."""
    away, which = region_gap(scene.off, ax, az)
    other, second = region_gap(scene.off, bx, bz)
    if away >= 0 and other >= 0:
        return -1
    mx, mz = (ax + bx) / 2, (az + bz) / 2
    for m in range(len(scene.stones.low)):
        if point_gap(scene.stones, m, mx, mz) <= scene.stones.margin[m]:
            return -1
    return which if away < 0 else second


@inlined
def stage_after(
    moves: Moves, scene: StepScene, primitive: int, cos: float, sin: float, x: float, z: float, stage: int, stones: int
) -> int:
    """The stage after a primitive laid at a frame: stones stepped on, and gates passed times `stones`.

    Args:
        moves: The network.
        scene: What must be kept to.
        primitive: Which.
        cos: Of the frame's yaw.
        sin: Likewise.
        x: Metres.
        z: Metres.
        stage: Before it.
        stones: Number of stones and one.
    """
    s, t = stage % stones, stage // stones
    gates = len(scene.gates)
    if t < gates:
        px = pz = 0.0
        low = moves.sample_first[primitive]
        for n in range(low, moves.sample_first[primitive + 1]):
            rx, rz = moves.points[n, 0, 0], moves.points[n, 0, 2]
            hx, hz = x + rx * cos + rz * sin, z - rx * sin + rz * cos
            if n > low:
                while t < gates and crosses(px, pz, hx, hz, scene.gates[t]):
                    t += 1
            px, pz = hx, hz
    if s < stones - 1 and moves.kind[moves.target[primitive]] < 2:
        ox, oz = moves.outcome[primitive, 1], moves.outcome[primitive, 2]
        fx, fz = x + ox * cos + oz * sin, z - ox * sin + oz * cos
        if point_gap(scene.stones, s, fx, fz) <= scene.stones.margin[s]:
            s += 1
    return int(t * stones + s)


@hot
def broken_by(moves: Moves, scene: StepScene, primitive: int, yaw: float, x: float, z: float, body: Floats) -> int:
    """What a primitive laid at a frame breaks, at any of its samples: solids, then regions, then the path; or -1.

    Args:
        moves: The network.
        scene: What must be kept to.
        primitive: Which.
        yaw: Of the frame, radians.
        x: Metres.
        z: Metres.
        body: Room for a body's points, (POINTS, 3).
    """
    cos, sin = math.cos(yaw), math.sin(yaw)
    solids, regions = len(scene.solids.low), len(scene.off.low)
    first, last = moves.sample_first[primitive], moves.sample_first[primitive + 1] - 1
    # From the end: where it begins, another primitive ended that broke nothing.
    if solids:  # the hips first: they are what most often touches, and soon looked at
        for n in range(last, first - 1, -1):
            rx, ry, rz = moves.points[n, 0, 0], moves.points[n, 0, 1], moves.points[n, 0, 2]
            hx, hz = x + rx * cos + rz * sin, z - rx * sin + rz * cos
            cell = cell_of(scene.solids.grid, hx, hz)
            for q in range(scene.solids.list_first[cell], scene.solids.list_first[cell + 1]) if cell >= 0 else range(0):
                m = scene.solids.near[q]
                if concerns(scene.solids, m, hx, hz, moves.radii[0], ry) and (
                    capsule_gap(scene.solids, m, hx, ry, hz, hx, ry, hz, moves.radii[0]) < scene.solids.margin[m]
                ):
                    return int(m)
    for n in range(last, first - 1, -1):
        rx, rz = moves.points[n, 0, 0], moves.points[n, 0, 2]
        hx, hz = x + rx * cos + rz * sin, z - rx * sin + rz * cos
        if len(scene.corridor):
            cell = cell_of(scene.corridor_grid, hx, hz)
            if cell < 0 or scene.corridor[cell] > scene.corridor_m:
                return solids + regions
        cell = cell_of(scene.solids.grid, hx, hz) if solids else -1
        laid = False
        for q in range(scene.solids.list_first[cell], scene.solids.list_first[cell + 1]) if cell >= 0 else range(0):
            m = scene.solids.near[q]
            if not concerns(scene.solids, m, hx, hz, moves.reach[n], moves.top[n]):
                continue
            if not laid:
                laid = True
                for j in range(len(body)):
                    bx, bz = moves.points[n, j, 0], moves.points[n, j, 2]
                    body[j, 0] = x + bx * cos + bz * sin
                    body[j, 1] = moves.points[n, j, 1]
                    body[j, 2] = z - bx * sin + bz * cos
            if touches(scene.solids, m, body, moves.capsules, moves.radii):
                return int(m)
        for side in range(2 if regions else 0):
            if moves.planted[n] & (1 << side):
                a, b = moves.feet[2 * side], moves.feet[2 * side + 1]
                ax, az = moves.points[n, a, 0], moves.points[n, a, 2]
                bx, bz = moves.points[n, b, 0], moves.points[n, b, 2]
                hit = _foot_allowed(
                    scene, x + ax * cos + az * sin, z - ax * sin + az * cos,
                    x + bx * cos + bz * sin, z - bx * sin + bz * cos,
                )  # fmt: skip
                if hit >= 0:
                    return solids + hit
    return -1


@inlined
def in_the_open(moves: Moves, scene: StepScene, primitive: int, cos: float, sin: float, x: float, z: float) -> bool:
    """Whether nothing is so near that a primitive laid at a frame could break it."""
    if len(scene.corridor):
        return False
    if len(scene.solids.low) == 0 and len(scene.off.low) == 0:
        return True
    mx, mz = moves.disc[primitive, 0], moves.disc[primitive, 1]
    cell = cell_of(scene.open_grid, x + mx * cos + mz * sin, z - mx * sin + mz * cos)
    return bool((scene.open[cell] if cell >= 0 else scene.open_m) > moves.disc[primitive, 2])


@inlined
def lands_in(moves: Moves, scene: StepScene, primitive: int, cos: float, sin: float, x: float, z: float) -> int:
    """-1 where the feet that stand when a primitive ends may do so, else the region that forbids it: soon looked at."""
    n = moves.sample_first[primitive + 1] - 1
    for side in range(2):
        if moves.planted[n] & (1 << side):
            a, b = moves.feet[2 * side], moves.feet[2 * side + 1]
            ax, az = moves.points[n, a, 0], moves.points[n, a, 2]
            bx, bz = moves.points[n, b, 0], moves.points[n, b, 2]
            hit = _foot_allowed(
                scene, x + ax * cos + az * sin, z - ax * sin + az * cos,
                x + bx * cos + bz * sin, z - bx * sin + bz * cos,
            )  # fmt: skip
            if hit >= 0:
                return hit
    return -1


@inlined
def at_goal(
    moves: Moves, scene: StepScene, primitive: int, yaw: float, cos: float, sin: float, x: float, z: float
) -> bool:
    """Whether a primitive laid at a frame ends with the hips in the goal, facing as asked."""
    if not moves.terminal[primitive]:
        return False
    rx, rz = moves.ends[primitive, 0], moves.ends[primitive, 1]
    hx, hz = x + rx * cos + rz * sin, z - rx * sin + rz * cos
    if math.hypot(hx - scene.goal[0], hz - scene.goal[1]) > scene.goal[2]:
        return False
    if scene.goal[4] >= math.pi:
        return True
    off = yaw + moves.ends[primitive, 2] - scene.goal[3]
    return abs(off - TAU * round(off / TAU)) <= scene.goal[4]
