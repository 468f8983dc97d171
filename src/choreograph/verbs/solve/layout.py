"""Where a path's pieces lie on the floor, and what each term costs it: from the definitions, in plain NumPy.

What is shown of a path is laid out by this; the search scores its millions by `_compiled_score`, whose twin this is.
"""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Complexes, Floats, Ints
from choreograph.scene.model import outline_distance
from choreograph.verbs.solve.cut_foot_alignment import cut_shift
from choreograph.verbs.solve.terms import BODY, JOINT, OBSTACLE, TABLE, CompiledRequest, Graph


def shown_rows(starts: Ints, stops: Ints) -> Ints:
    """The row of the frame table that each frame of a path shows, (N,)."""
    return np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])


def placements(starts: Ints, stops: Ints, graph: Graph, asked: CompiledRequest) -> tuple[Complexes, Complexes]:
    """Turn and shift by which each piece of a path lies on the floor, (K,) each.

    A piece begins where the torso of the piece before it would have been, facing the same way, but for what keeps
    standing feet where they are. All of it lies so that the first body constraint is met.
    """
    turn, shift = [1 + 0j], [0j]
    for stop, start in zip(stops[:-1], starts[1:], strict=True):
        facing = turn[-1] * graph.turn[stop]
        place = turn[-1] * graph.place[stop] + shift[-1] + facing * cut_shift(graph.stance, stop, start)
        turn.append(facing * graph.turn[start].conj())
        shift.append(place - turn[-1] * graph.place[start])
    turns, shifts = np.array(turn), np.array(shift)
    ends = np.cumsum(stops - starts)
    k = min(int(np.searchsorted(ends, asked.anchor_time, side="right")), len(starts) - 1)
    row = stops[k] - (ends[k] - asked.anchor_time)
    first = asked.anchor_turn * (turns[k] * graph.turn[row]).conj()
    moved = asked.anchor - first * (turns[k] * graph.place[row] + shifts[k])
    return first * turns, first * shifts + moved


def term_costs(starts: Ints, stops: Ints, graph: Graph, asked: CompiledRequest) -> Floats:
    """What each term of a request costs a path, (T,). By legs, the whole path is laid anew at each body constraint."""
    rows, piece = shown_rows(starts, stops), np.repeat(np.arange(len(starts)), stops - starts)
    turns, shifts = placements(starts, stops, graph, asked)
    out = np.zeros(len(asked.time))
    for n, time in enumerate(asked.time):
        row, turn, shift = rows[time], turns[piece[time]], shifts[piece[time]]
        here, facing = turn * graph.place[row] + shift, turn * graph.turn[row]
        kind, weight = asked.kind[n], asked.weight[n]
        if kind == TABLE:
            out[n] = weight * asked.tables[asked.table[n], row]
        elif kind == BODY:
            angle = np.angle(facing * asked.goal_turn[n].conj())
            out[n] = weight * abs(here - asked.goal[n]) ** 2 + asked.turn_weight[n] * angle**2
            if asked.by_legs:
                again = np.exp(-1j * angle) if asked.turn_weight[n] > 0 else 1
                turns, shifts = again * turns, again * (shifts - here) + asked.goal[n]
        elif kind == OBSTACLE:
            for o in range(len(asked.reach)):
                corners = asked.corners[asked.first_corner[o] : asked.first_corner[o + 1]]
                outline = [(corner.real, corner.imag) for corner in corners.tolist()]
                depth = max(asked.reach[o] - float(outline_distance(outline, 0.0, (here.real, here.imag))), 0.0)
                out[n] += weight * asked.clear_weight[o] * depth**2
        else:
            x, y, z = asked.points[asked.table[n], row].astype(float)
            point = facing * (x + 1j * z) + (here if kind == JOINT else 0)
            out[n] = weight * np.nansum((np.array([point.real, y, point.imag]) - asked.goal_point[n]) ** 2)
    return out


def score(starts: Ints, stops: Ints, nodes: Ints, graph: Graph, asked: CompiledRequest) -> float:
    """The score of a path (Arikan & Forsyth 2002, equation 1)."""
    return float(asked.cut_weight * graph.cost[nodes].sum(dtype=float) + term_costs(starts, stops, graph, asked).sum())
