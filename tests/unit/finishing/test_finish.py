"""One finish: which passes run, in which order, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RequestError, RoleError
from choreograph.base.floor import FloorTransform
from choreograph.finishing import passes
from choreograph.finishing.blend import KINDS, PRESETS
from choreograph.finishing.body import RootTarget
from choreograph.finishing.finish import finish
from choreograph.finishing.foot_contacts import foot_slide
from choreograph.finishing.hand_contacts import HandContacts, Partner, find_hand_contacts
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.motion.clip import Clip
from choreograph.motion.montage import Cuts, Layer, Montage, Poses
from choreograph.verbs.solve.splice import HardFrames, Splice
from choreograph.verbs.walk import Walk

Runs = Callable[..., list[str]]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Runs:
    """The names of the passes that finishing runs, in order."""

    def run(*args: object, **more: object) -> list[str]:
        names: list[str] = []

        def heard(one: passes.Pass) -> passes.Pass:
            def note(draft: passes.Draft) -> passes.Draft:
                names.append(one.run.__name__)
                return one.run(draft)

            return passes.Pass(note, one.applies)

        monkeypatch.setattr("choreograph.finishing.finish.PASSES", tuple(heard(one) for one in passes.PASSES))
        finish(*args, **more)  # type: ignore[arg-type]
        return names

    return run


def test_a_finished_walk_has_clean_feet_and_knows_its_frames(
    graph: MotionGraph, walk_through: Callable[..., Walk]
) -> None:
    walk = walk_through(graph, 8)
    made = finish(walk, name="stroll")
    assert made.clip.name == "stroll"
    assert len(made.origins) == len(made.clip) == len(made.raw)
    assert made.origins.names == tuple(info.name for info in graph.infos)
    assert foot_slide(made.clip) < foot_slide(made.raw)
    assert made.settings == FinishSettings()


def test_raw_is_what_was_assembled(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    made = finish(walk_through(graph, 3), FinishSettings(clean=False, rate_hz=60))
    assert made.clip is made.raw
    assert made.clip.fps == 60


def test_the_same_walk_gives_the_same_motion(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    walk = walk_through(graph, 3)
    settings = FinishSettings("anticipation", "legs first", rate_hz=60)
    np.testing.assert_array_equal(finish(walk).clip.local_rot, finish(walk).clip.local_rot)
    once, twice = finish(walk, settings), finish(walk.as_montage(settings), settings)
    np.testing.assert_array_equal(once.clip.local_rot, twice.clip.local_rot)


def test_which_passes_run_follows_from_what_there_is(
    graph: MotionGraph, walk_through: Callable[..., Walk], couple: tuple[Clip, Clip], ran: Runs
) -> None:
    walk = walk_through(graph, 3)
    assert ran(walk) == ["clean_feet"]
    assert ran(walk, FinishSettings(clean=False)) == []
    body = [RootTarget(0.0, (0.0, 0.0))]
    assert ran(walk, body=body) == ["limit_body", "meet_body", "clean_feet", "meet_body"]
    bent = ["bend_to_body", "limit_body", "meet_body", "clean_feet", "meet_body"]
    assert ran(walk, body=[*body, RootTarget(0.5, (0.0, 0.5))]) == bent
    lying = FloorTransform(np.zeros(2), np.zeros(2), np.zeros(2))
    splice = Splice(graph, np.array([0, 0]), np.array([5, 30]), np.array([30, 50]), lying)
    cut = ["smooth_cuts", "step_over_jumps", "repair_capture", "clean_feet"]
    assert ran(splice) == cut
    assert ran(splice, FinishSettings(repair=False)) == [name for name in cut if name != "repair_capture"]
    assert ran(replace(splice, hard=HardFrames(np.array([1 / 3]), np.array([30.0]), np.zeros(1)))) == [
        *cut,
        "keep_exact",
    ]
    leader, follower = couple
    partner = Partner(leader, lambda _: find_hand_contacts(leader, follower))
    shown = Montage.of_clip(follower)
    assert ran(shown, partner=partner) == ["clean_feet", "hold_hands"]
    assert ran(shown, FinishSettings(hold_hands=False), partner=partner) == ["clean_feet"]


def test_every_pass_says_what_it_needs_and_promises() -> None:
    for one in passes.PASSES:
        text = one.run.__doc__ or ""
        assert text.startswith("Needs ") and "Promises " in text, one.run.__name__


def test_feet_are_held_longer_in_motion_with_cuts(
    graph: MotionGraph, walk_through: Callable[..., Walk], monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[float] = []

    def note(clip: Clip, settings: object, **more: object) -> Clip:
        used.append(settings.hold_m_s)  # type: ignore[attr-defined]
        return clip

    monkeypatch.setattr("choreograph.finishing.passes.footskate.clean_feet", note)
    lying = FloorTransform(np.zeros(2), np.zeros(2), np.zeros(2))
    splice = Splice(graph, np.array([0, 0]), np.array([5, 30]), np.array([30, 50]), lying)
    whole = Splice(graph, np.array([0]), np.array([5]), np.array([50]), FloorTransform(*np.zeros((3, 1))))
    for choice in (walk_through(graph, 2), whole, splice):
        finish(choice)
    finish(splice, FinishSettings(foot_hold_m_s=0.1))
    assert used == [0.36, 0.36, 0.42, 0.1]


def test_a_clip_handed_in_is_finished_like_any_other(walking: Clip) -> None:
    rng = np.random.default_rng(0)
    rot = np.array(walking.local_rot)
    rot[100, 7] = quat.multiply(rot[100, 7], quat.from_rotvec([0.3, 0.1, 0.0]))
    made = finish(Montage.of_clip(replace(walking, local_rot=rot)), FinishSettings(clean=False), name="own")
    np.testing.assert_array_equal(made.clip.local_rot, rot)  # poses of a verb's own are not repaired
    np.testing.assert_array_equal(made.clip.root_pos, walking.root_pos)
    assert made.clip.labels == walking.labels and made.clip.name == "own"
    np.testing.assert_array_equal(made.clip.contacts, walking.contacts)
    sliding = walking.with_frames(walking.root_pos + np.cumsum(rng.normal(0, 0.001, (len(walking), 3)), 0), rot)
    assert foot_slide(finish(Montage.of_clip(sliding)).clip) < foot_slide(sliding)


def test_a_cut_is_data_that_anybody_can_hand_in(walking: Clip) -> None:
    """Two pieces of one walk, a quarter of a second apart, laid end to end."""
    at = np.concatenate([np.arange(0, 120), np.arange(150, 270)])
    spots = walking.root_pos[[120, 150]]
    place = np.zeros((240, 3))
    place[120:, 1:] = (spots[0] - spots[1])[[0, 2]]
    cut = Cuts(
        np.array([1.0]), Poses(clip=[0], frame=[120.0]), Poses(clip=[0], frame=[150.0], place=place[120:121])
    )  # fmt: skip
    layer = Layer(at=np.arange(240), clip=0, frame=at, place=place)
    montage = Montage((walking,), ("walk",), walking.skeleton, walking.fps, [layer], cuts=cut)
    made = finish(montage, FinishSettings(clean=False))

    def jump(clip: Clip) -> float:
        return float(quat.angle_between(clip.local_rot[119], clip.local_rot[120]).max())

    assert jump(made.raw) > 5 * jump(made.clip)
    # Beyond the smoothing window nothing changes.
    np.testing.assert_allclose(made.clip.root_pos[:90], made.raw.root_pos[:90], atol=1e-9)


def test_motion_off_the_floor_needs_no_feet_and_has_no_place(walking: Clip) -> None:
    nodding = replace(walking, root_pos=np.zeros_like(walking.root_pos), contacts=None)
    made = finish(Montage.of_clip(nodding, on_floor=False))
    np.testing.assert_array_equal(made.clip.local_rot, nodding.local_rot)
    assert not made.clip.root_pos.any()
    with pytest.raises(RequestError, match="no place on the floor"):
        finish(Montage.of_clip(nodding, on_floor=False), body=[RootTarget(0.0, (1.0, 1.0))])


def test_body_targets_come_in_order(walking: Clip) -> None:
    late, early = RootTarget(1.0, (0.0, 1.0)), RootTarget(0.5, (0.0, 0.0))
    with pytest.raises(RequestError, match=r"body\[1\]\.at_s is 0\.5, before 1"):
        finish(Montage.of_clip(walking), body=(late, early))


def test_unknown_feet_are_said(walker: Clip) -> None:
    strange = replace(walker.skeleton, names=("a", "b", "c", "d"), roles=("hips", "other", "other", "other"))
    clip = Clip(strange, walker.fps, walker.root_pos, walker.local_rot)
    with pytest.raises(RoleError):
        finish(Montage.of_clip(clip))
    assert len(finish(Montage.of_clip(clip), FinishSettings(clean=False)).clip) == len(clip)


def test_hands_are_held_where_the_recordings_held_them(couple: tuple[Clip, Clip]) -> None:
    leader, follower = couple
    contacts = find_hand_contacts(leader, follower)
    made = finish(
        Montage.of_clip(follower), FinishSettings(clean=False), partner=Partner(leader, lambda number: contacts)
    )
    assert made.partner is leader and made.hand_contacts is not None
    assert made.hand_contacts.held[55:95, 0, 1].all()
    nobody = HandContacts(np.zeros_like(contacts.held), contacts.offset)
    alone = finish(Montage.of_clip(follower), FinishSettings(clean=False), partner=Partner(leader, lambda _: nobody))
    assert alone.hand_contacts is not None and not alone.hand_contacts.held.any()


def test_settings_name_the_blends_there_are() -> None:
    fields = FinishSettings.model_fields
    assert get_args(fields["blend"].annotation) == KINDS
    assert get_args(fields["preset"].annotation) == tuple(PRESETS)
    assert all(field.description for field in fields.values())
