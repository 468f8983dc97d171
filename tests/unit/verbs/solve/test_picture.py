from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.goals.model import PlaceGoal
from choreograph.pictures.sheet import SheetSettings
from choreograph.pictures.theme import AMBER
from choreograph.scene.model import Obstacle, Scene
from choreograph.verbs.solve.picture import draw_solved
from choreograph.verbs.solve.request import SolveRequest

SMALL = SheetSettings(width=320, samples=1)
BODY = (PlaceGoal(0.0, (0.0, 0.0), 0.0), PlaceGoal(1.9, (0.0, 2.3)))


def amber(image: np.ndarray) -> int:
    """Pixels that are near to the colour of what was asked for."""
    wanted = np.array([int(AMBER[k : k + 2], 16) for k in (1, 3, 5)])
    return int((np.abs(image.astype(int) - wanted).max(axis=2) < 60).sum())


def test_what_was_asked_for_is_on_the_floor(walker) -> None:  # type: ignore[no-untyped-def]
    clip = walker
    plain = draw_solved([clip], [SolveRequest(1.0)], SMALL)
    arrow = draw_solved([clip], [SolveRequest(2.0, BODY)], SMALL)
    beside = Obstacle(low=(0.8, 0.0), high=(1.6, 1.0))
    fenced = draw_solved(
        [clip], [SolveRequest(2.0, BODY, scene=Scene((beside, Obstacle(centre=(-1, 1), radius_m=0.4))))], SMALL
    )
    assert plain.shape == arrow.shape == (160, 320, 3)
    assert amber(plain) == 0 < amber(arrow) < amber(fenced)


def test_two_people_have_colours_and_other_answers_only_a_way(walker) -> None:  # type: ignore[no-untyped-def]
    other = walker.moved(FloorTransform(1.0, 1.0, 0.0))
    two = draw_solved([walker, other], [SolveRequest(1.0)] * 2, SMALL)
    one = draw_solved([walker], [SolveRequest(1.0)], SMALL, others=[other])
    spread = [int(np.ptp(image.astype(int), axis=2).max()) for image in (two, one)]
    assert two.shape == one.shape and spread[0] > 60
    with pytest.raises(RequestError, match="1 motions do not go with 2 requests"):
        draw_solved([walker], [SolveRequest(1.0)] * 2, SMALL)
