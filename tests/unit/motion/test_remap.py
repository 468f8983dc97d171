from __future__ import annotations

import dataclasses

import numpy as np

from choreograph.base import quat
from choreograph.demo import demo_clip
from choreograph.motion import _compiled_remap
from choreograph.motion.contacts import with_detected_contacts
from choreograph.motion.foot_geometry import body_stance, columns
from choreograph.motion.remap import lay_on_numpy
from choreograph.motion.retarget import retarget


def test_rotations_are_laid_on_as_the_plain_twin_does(rng: np.random.Generator) -> None:
    turned, align = (quat.normalise(rng.normal(size=(*shape, 4))) for shape in ((9, 3), (6,)))
    parents = np.array([-1, 0, 1, 2, 3, 0], np.int32)
    low = np.array([-1, 2, -2, -1, 0, -1])  # nothing above, laid on, written already, as its parent, laid on
    found = np.tile(quat.normalise(rng.normal(size=4)), (9, 6, 1))
    wanted = found.copy()
    _compiled_remap.lay_on(found, turned, low, align, parents)
    lay_on_numpy(wanted, turned, low, align, parents)
    np.testing.assert_allclose(found, wanted, atol=1e-15)
    np.testing.assert_array_equal(found[:, 3], found[:, 2])


def test_a_foot_with_a_higher_ankle_is_pitched_less_while_it_stands() -> None:
    found = with_detected_contacts(demo_clip("walk", 60.0))
    flags = np.array(found.contacts)
    flags[:, 0] |= flags[:, 1]  # a heel that counts as standing while it rises
    walk = found.with_contacts(flags)
    toe, ankle = (walk.skeleton.need(f"left_{part}") for part in ("toe", "foot"))
    offsets = np.array(walk.skeleton.offsets)
    offsets[toe, 1] *= 2
    high = dataclasses.replace(walk.skeleton, offsets=offsets)
    made = retarget(walk, high, stance=body_stance(high, float(high.rest_positions()[toe, 1])))
    heel, ball = columns(walk, "left")
    both = np.flatnonzero(heel & ball)
    pitch = [quat.rotate(clip.global_rotations()[both, ankle], (0.0, 0.0, 1.0))[:, 1] for clip in (walk, made)]
    assert np.ptp(pitch[1]) < 0.7 * np.ptp(pitch[0])
