from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from choreograph.demo import demo_skeleton
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton
from choreograph.pictures.figures import cast, find_footprints, mannequin_of, stand, thin_path


def test_footprints_lie_where_and_when_the_feet_stand(walker):
    prints = find_footprints(walker)
    assert [(p.left, p.start, p.stop) for p in prints] == [
        (True, 0, 15), (False, 15, 30), (True, 30, 45), (False, 45, 60),
    ]  # fmt: skip
    assert all(p.heel[0] == pytest.approx(0.1 if p.left else -0.1) for p in prints)
    assert all(p.toe[1] > p.heel[1] for p in prints)
    assert [bool(p.stroke().ring) for p in prints] == [False, True, False, True]


def test_short_gap_in_one_place_makes_one_print(stander):
    contacts = np.zeros((len(stander), 4), bool)
    contacts[:12, 0] = contacts[14:, 0] = True
    still = stander.with_frames(stander.root_pos, np.tile(stander.local_rot[:1], (len(stander), 1, 1)))
    prints = find_footprints(still.with_contacts(contacts))
    assert [(p.start, p.stop) for p in prints] == [(0, len(stander))]


def test_clip_without_feet_has_no_footprints():
    stick = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0, 0, 0], [0, 1.0, 0]]))
    rot = np.tile([1.0, 0, 0, 0], (3, 2, 1))
    assert find_footprints(Clip(stick, 30, np.zeros((3, 3)), rot)) == []


def test_only_a_clip_far_off_the_floor_is_moved(walker):
    assert stand(walker) is walker
    low = stand(walker.raised(-0.9)).global_positions()[..., 1].min()
    assert low == pytest.approx(0.0, abs=0.1)


def test_thinned_path_stays_close_and_keeps_its_ends():
    t = np.linspace(0, 3, 400)
    path = np.stack([np.sin(t), t], axis=1)
    thin, at = thin_path(path, 0.01)
    assert len(thin) < 60 and np.array_equal(path[at], thin) and at[0] == 0 and at[-1] == 399
    assert np.abs(np.interp(path[:, 1], thin[:, 1], thin[:, 0]) - path[:, 0]).max() < 0.011


def test_thinning_leaves_tiny_paths_alone():
    for count in (1, 2):
        path = np.zeros((count, 2))
        assert np.array_equal(thin_path(path)[0], path)


def test_equal_skeletons_share_a_mannequin_and_several_clips_get_colours(walker, stander):
    assert mannequin_of(walker.skeleton) is mannequin_of(stander.skeleton)
    one, two = cast([walker, stander])
    assert not np.allclose(one.colours, two.colours)
    assert np.array_equal(cast([walker])[0].colours, mannequin_of(walker.skeleton).colours)


def test_rest_pose_that_is_no_body_is_drawn_from_the_motion():
    """Some programs lay every bone along x: the figure is then made in a straightened frame."""
    good = demo_skeleton()
    along_x = np.linalg.norm(good.offsets, axis=1)[:, None] * [[1.0, 0.0, 0.0]]
    odd = replace(good, offsets=along_x)
    natural, unnatural = (
        cast([Clip(body, 30.0, np.zeros((1, 3)), np.tile([1.0, 0, 0, 0], (1, len(body), 1)))])[0].mesh
        for body in (good, odd)
    )
    assert natural is mannequin_of(good)
    assert not np.array_equal(unnatural.vertices, mannequin_of(odd).vertices)


def test_pose_beyond_the_end_holds_the_last_and_shift_moves_it(walker):
    actor = cast([walker])[0]
    last = actor.pose(len(walker) - 1)
    assert np.array_equal(actor.pose(10_000).vertices, last.vertices)
    moved = actor.pose(len(walker) - 1, (1.0, -2.0)).vertices - last.vertices
    assert moved == pytest.approx(np.tile([1.0, 0, -2.0], (len(moved), 1)), abs=1e-5)
