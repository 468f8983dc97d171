"""Pieces of a performance as a montage: stretched, placed, each blended into the next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.finishing.hand_contacts import HandContacts, find_hand_contacts
from choreograph.motion.montage import Layer, Montage
from choreograph.verbs.perform.examples import LazyList, SegmentDatabase
from choreograph.verbs.perform.placing import Piece


def montage_of_pieces(
    database: SegmentDatabase, pieces: Sequence[Piece], times: Floats, rate_hz: float, blend_s: float
) -> Montage:
    """The montage that shows pieces, one layer for the piece of each frame and one for the neighbour it is mixed with.

    Args:
        database: What the segments are of.
        pieces: Which ones, when and where, one after another.
        times: Of the output frames, (F,), seconds.
        rate_hz: Output frames per second.
        blend_s: Seconds over which one piece gives way to the next; never longer than half of the shorter one.
    """
    starts, stops = (np.array([getattr(piece, name) for piece in pieces]) for name in ("start_s", "stop_s"))
    inside = np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(pieces) - 1)
    # Half of each boundary's blend, so short that no frame is in two blends.
    half = np.minimum(blend_s, np.minimum((stops - starts)[1:], (stops - starts)[:-1]) / 2) / 2
    half = np.maximum(np.concatenate([[0.0], half, [0.0]]), 1e-9)
    late = times - starts[inside]
    early = stops[inside] - times
    since, until = late < half[inside], early < half[inside + 1]
    other = np.clip(np.where(since, inside - 1, np.where(until, inside + 1, inside)), 0, len(pieces) - 1)
    way = np.where(since, 0.5 - 0.5 * late / half[inside], np.where(until, 0.5 - 0.5 * early / half[inside + 1], 0.0))
    way = np.where(other == inside, 0.0, np.clip(way, 0.0, 0.5))
    share = way**3 * (10 - 15 * way + 6 * way**2)
    last = np.array([len(control) - 1 for control in database.controls])
    segments = np.array([piece.segment for piece in pieces])
    places = np.array([(piece.placement.yaw, piece.placement.x, piece.placement.z) for piece in pieces])

    def layer(at: Ints, which: Ints, weight: Floats) -> Layer:
        segment = segments[which]
        example = database.example[segment]
        pace = (database.stop - database.start)[segment] / (stops - starts)[which]
        frame = database.start[segment] + (times[at] - starts[which]) * pace
        frame = np.clip(frame, 0, last[example])
        return Layer(at=at, clip=example, frame=frame, place=places[which], weight=weight)

    mixed = np.flatnonzero(share > 0)
    layers = (layer(np.arange(len(times)), inside, 1 - share), layer(mixed, other[mixed], share[mixed]))
    targets = LazyList(len(database.examples), lambda number: database.examples[number].target)
    return Montage(targets, database.names, targets[int(layers[0].clip[0])].skeleton, rate_hz, layers)


class ExampleHandContacts:
    """The hand contacts of each example, looked for when they are first asked for."""

    def __init__(self, database: SegmentDatabase) -> None:
        self._database = database
        self._found: dict[int, HandContacts] = {}

    def __call__(self, number: int) -> HandContacts:
        """The hand contacts in an example, in its target's frames."""
        if number not in self._found:
            example = self._database.examples[number]
            count = len(example.target)
            self._found[number] = (
                HandContacts(np.zeros((count, 2, 2), bool), np.zeros((count, 2, 2, 3)))
                if example.leader is None
                else find_hand_contacts(example.leader, example.target)
            )
        return self._found[number]
