"""What a search remembers, compiled: records, a binary heap of them, and a hash of cells by open addressing.

A record is a primitive at an exact place with its parent record; a cell of the lattice (node, place, heading, stage)
knows the cheapest record in it. Records never change, so poses never go stale.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from choreograph.base.arrays import Bytes, Floats, Ints, Ints32
from choreograph.base.compiling import hot, inlined
from choreograph.verbs.plan.counters import HEAP

TAU = 2 * math.pi


class Store(NamedTuple):
    """What the search remembers."""

    parent: Ints32
    primitive: Ints32
    place: Floats
    """Frame of the event that each record ends with, yaw, x, z, (R, 3)."""
    cost: Floats
    """From the start, (R,)."""
    rest: Floats
    """What is left costs at least, (R,);"""
    guide: Floats
    """likewise, less exactly: what the search is guided by while its weight is great."""
    stage: Ints32
    lattice_key: Ints
    """Of the cell that each record is in, (R,)."""
    state: Bytes
    """Whether a record's constraints were tested: not yet, kept, broken."""
    key: Ints
    """Of the cell in each slot of the hash; -1 for none, (H,)."""
    best: Ints32
    """Cheapest record, of those that keep all constraints, of the cell in each slot."""
    closed: Ints32
    """Round in which the cell was last expanded."""
    heap_key: Floats
    heap_record: Ints32
    inconsistent: Ints32
    counters: Ints
    goal_cost: Floats
    """(1,); infinite before there is an answer."""
    rejected_by: Ints
    """How often each solid, then each region, then the corridor, turned a step away."""
    body: Floats
    """Room for the points of a body, (POINTS, 3)."""


@inlined
def push(store: Store, key: float, record: int) -> None:
    at = store.counters[HEAP]
    store.counters[HEAP] += 1
    while at > 0:
        above = (at - 1) >> 1
        if store.heap_key[above] <= key:
            break
        store.heap_key[at] = store.heap_key[above]
        store.heap_record[at] = store.heap_record[above]
        at = above
    store.heap_key[at] = key
    store.heap_record[at] = record


@hot
def sift(store: Store, at: int, key: float, record: int) -> None:
    size = store.counters[HEAP]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and store.heap_key[below + 1] < store.heap_key[below]:
            below += 1
        if store.heap_key[below] >= key:
            break
        store.heap_key[at] = store.heap_key[below]
        store.heap_record[at] = store.heap_record[below]
        at = below
    store.heap_key[at] = key
    store.heap_record[at] = record


@hot
def pop(store: Store) -> int:
    top = store.heap_record[0]
    store.counters[HEAP] -= 1
    size = store.counters[HEAP]
    if size > 0:
        sift(store, 0, store.heap_key[size], store.heap_record[size])
    return int(top)


@inlined
def slot_of(store: Store, key: int) -> int:
    """The slot of a cell, or the empty one where it would be."""
    mask = len(store.key) - 1
    mixed = (key ^ (key >> 29)) * 0x5851F42D4C957F2D
    at = ((mixed ^ (mixed >> 32)) & 0x7FFFFFFFFFFFFFFF) & mask
    while store.key[at] != -1 and store.key[at] != key:
        at = (at + 1) & mask
    return int(at)


@hot
def rehash(old: Store, new: Store) -> None:
    """Move the cells into a larger hash."""
    for slot in range(len(old.key)):
        if old.key[slot] != -1:
            at = slot_of(new, old.key[slot])
            new.key[at] = old.key[slot]
            new.best[at] = old.best[slot]
            new.closed[at] = old.closed[slot]


@inlined
def cell_key(node: int, yaw: float, x: float, z: float, stage: int, lattice_m: float, lattice_rad: float) -> int:
    """A number for the lattice cell of a state."""
    turns = round(TAU / lattice_rad)
    a = math.floor(yaw / lattice_rad) % turns
    i, k = math.floor(x / lattice_m) + 8192, math.floor(z / lattice_m) + 8192
    return (((node << 14 | (i & 16383)) << 14 | (k & 16383)) << 8 | a) << 10 | stage
