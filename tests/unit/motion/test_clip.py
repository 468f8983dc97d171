from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RequestError, SkeletonMismatch
from choreograph.base.floor import FloorTransform
from choreograph.motion.clip import Clip, Label, concatenate
from choreograph.motion.mirror import mirror_text


def stretching(clip: Clip) -> Clip:
    full = np.tile(clip.skeleton.offsets, (len(clip), 1, 1))
    full[:, 1:] *= np.linspace(1, 1.1, len(clip))[:, None, None]
    full[:, 0] = clip.root_pos
    return replace(clip, local_pos=full)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fps": 0}, "positive"),
        ({"fps": np.nan}, "positive"),
        ({"root_pos": np.zeros((0, 3)), "local_rot": np.zeros((0, 4, 4))}, "at least one frame"),
        ({"root_pos": np.zeros((24, 2))}, "do not fit"),
        ({"root_pos": np.zeros((23, 3))}, "do not fit"),
        ({"root_pos": np.full((24, 3), np.inf)}, "not finite"),
        ({"local_rot": np.zeros((24, 3, 4))}, "do not fit"),
        ({"contacts": np.zeros((24, 5), bool)}, "contacts"),
        ({"local_pos": np.zeros((24, 3, 3))}, "joint positions"),
        ({"labels": (Label("walk", 3, 25),)}, "not within 24 frames"),
        ({"labels": (Label("walk", 3, 3),)}, "not within"),
    ],
)
def test_nonsense_is_refused(walker: Clip, change: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(walker, **change)  # type: ignore[arg-type]


def test_arrays_cannot_be_changed(walker: Clip) -> None:
    mine = np.array(walker.root_pos)
    clip = replace(walker, root_pos=mine)
    mine[:] = 7
    assert (clip.root_pos[:, 1] == 0.9).all()
    for values in (clip.root_pos, clip.local_rot, clip.global_positions(), clip[2:5].root_pos):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0


def test_slices_cut_everything(walker: Clip) -> None:
    clip = stretching(walker).with_labels([Label("a", 0, 4), Label("b", 3, 20), Label("c", 20, 24), "all"])
    clip = clip.with_contacts(np.arange(48).reshape(24, 2) % 3 == 0)
    part = clip[4:20]
    assert part.labels == (Label("b", 0, 16), Label("all", 0, 16))
    assert part.labels_at(0) == ("b", "all")
    assert np.array_equal(part.contacts, clip.contacts[4:20])
    assert np.allclose(part.global_positions(), clip.global_positions()[4:20])
    assert len(clip[-3:]) == 3 and len(clip[:]) == 24 and clip[1:2].seconds == pytest.approx(1 / 30)
    for bad in (slice(5, 5), slice(30, 40), slice(9, 3)):
        with pytest.raises(RequestError, match="it has 24 frames"):
            clip[bad]
    with pytest.raises(TypeError, match="resampled"):
        clip[::2]
    with pytest.raises(TypeError):
        clip[3]  # type: ignore[index]


@pytest.mark.parametrize(
    "rate",
    [Fraction(1), Fraction(15), Fraction(24), Fraction(24000, 1001), Fraction(30), Fraction(100, 3), 60, 120, 144],
)
def test_resampling_to_any_rate(human: Clip, rate: Fraction) -> None:
    out = human.with_labels(["all", Label("end", 30, 40)]).resampled(float(rate))
    assert len(out) == int((len(human) - 1) * rate / 60) + 1
    assert out.labels[0] == Label("all", 0, len(out))
    # Where old and new frames fall together, they are the same frame.
    for k in range(len(out)):
        time = Fraction(k) * 60 / rate
        if time.denominator == 1:
            assert np.allclose(out.root_pos[k], human.root_pos[int(time)], atol=1e-9)
            assert quat.angle_between(out.local_rot[k], human.local_rot[int(time)]).max() < 1e-6
    assert np.allclose(np.linalg.norm(out.local_rot, axis=-1), 1)
    assert np.all(np.sum(out.local_rot[1:] * out.local_rot[:-1], axis=-1) >= 0)


def test_resampling_up_and_down_is_the_same_motion(human_clip: Callable[..., Clip]) -> None:
    clip = human_clip(frames=61, size=0.6)
    again = clip.resampled(300).resampled(60)
    assert np.abs(again.global_positions() - clip.global_positions()).max() < 1e-9
    # Slerp, not a chord: a steady turn stays steady.
    turn = quat.from_yaw(np.linspace(0, 3, 4))[:, None]
    steady = Clip(clip.skeleton, 1, np.zeros((4, 3)), np.tile(turn, (1, len(clip.skeleton), 1))).resampled(7)
    assert np.allclose(quat.yaw_of(steady.local_rot[:, 0]), np.arange(22) / 7, atol=1e-12)


def test_resampling_the_smallest_and_the_absurd(walker: Clip) -> None:
    assert len(walker[:1].resampled(7)) == 1
    assert walker.resampled(30) is walker
    for bad in (0, -3, np.nan, np.inf, 1e12):
        with pytest.raises(RequestError, match="frame rate"):
            walker.resampled(bad)


def test_contacts_and_labels_follow_the_rate(walker: Clip) -> None:
    contacts = np.repeat([[True, False], [False, True]], 12, axis=0)
    out = walker.with_contacts(contacts).with_labels([Label("left", 0, 12), Label("right", 12, 24)]).resampled(60)
    assert out.contacts is not None
    assert out.labels == (Label("left", 0, 24), Label("right", 24, 47))
    assert abs(int(np.flatnonzero(out.contacts[:, 1])[0]) - 23) <= 1
    # A label shorter than a new frame goes, and nothing breaks.
    assert walker.with_labels([Label("blink", 1, 2)]).resampled(10).labels == ()


def test_mirroring_twice_is_the_same(human: Clip) -> None:
    clip = (
        stretching(human)
        .with_labels(["walk, veer left", "Turn Right"])
        .with_contacts(np.random.default_rng(0).random((len(human), 4)) < 0.5)
    )
    once, twice = clip.mirrored(), clip.mirrored().mirrored()
    for name in ("root_pos", "local_rot", "local_pos", "contacts"):
        assert np.array_equal(getattr(twice, name), getattr(clip, name))
    assert twice.labels == clip.labels and twice.name == clip.name
    assert [label.text for label in once.labels] == ["walk, veer right", "Turn Left"]
    assert once.contacts is not None and clip.contacts is not None
    assert np.array_equal(once.contacts[:, [2, 3, 0, 1]], clip.contacts)


def test_mirrored_positions_are_the_reflection(human: Clip) -> None:
    pairs = human.skeleton.mirror_pairs
    reflected = human.global_positions()[:, pairs] * [-1, 1, 1]
    assert np.allclose(human.mirrored().global_positions(), reflected, atol=1e-12)


def test_words_of_sides() -> None:
    assert mirror_text("left, Right, LEFT_turn, leftover, bright, turn-left") == (
        "right, Left, RIGHT_turn, leftover, bright, turn-right"
    )


@pytest.mark.parametrize("stretch", [False, True])
def test_moving_on_the_floor(human: Clip, stretch: bool) -> None:
    clip = stretching(human) if stretch else human
    there = FloorTransform(2.5, 1, -3)
    moved = clip.moved(there)
    assert np.allclose(moved.global_positions(), there.apply(clip.global_positions()), atol=1e-12)
    assert np.allclose(np.angle(np.exp(1j * (moved.facing() - clip.facing() - 2.5))), 0)
    assert np.allclose(moved.moved(there.inverse()).root_pos, clip.root_pos)
    assert np.allclose(clip.raised(0.5).global_positions(), clip.global_positions() + np.array([0, 0.5, 0]))


def test_facing_is_along_z_then_x(walker: Clip) -> None:
    straight = walker.with_frames(walker.root_pos, np.tile(quat.IDENTITY, (24, 4, 1)))
    assert np.allclose(straight.facing(), 0)
    assert np.allclose(straight.moved(FloorTransform(np.pi / 2)).facing(), np.pi / 2)


def test_concatenation(walker: Clip) -> None:
    a, b = walker.with_labels(["a"]), walker[:10].with_labels(["b"])
    both = concatenate([a, b, a], "all")
    assert (len(both), both.name, both.source) == (58, "all", None)
    assert both.labels == (Label("a", 0, 24), Label("b", 24, 34), Label("a", 34, 58))
    assert np.allclose(both.global_positions()[24:34], b.global_positions())
    assert both.contacts is None
    mixed = concatenate([a, stretching(b)])
    assert mixed.local_pos is not None
    assert np.allclose(mixed.global_positions()[:24], a.global_positions())


def test_concatenation_is_checked(walker: Clip, human: Clip) -> None:
    with pytest.raises(RequestError, match="nothing"):
        concatenate([])
    with pytest.raises(SkeletonMismatch, match="'walker' and 'restless'"):
        concatenate([walker, human])
    with pytest.raises(RequestError, match=r"'walker' has 30 fps and 'walker' 60; resample"):
        concatenate([walker, walker.resampled(60)])


def test_another_skeleton_keeps_contacts_only_with_its_feet(human: Clip) -> None:
    clip = human.with_contacts(np.zeros((len(human), 4), bool))
    same = clip.with_skeleton(clip.skeleton.with_roles({"spine": "Chest"}))
    assert same.contacts is not None
    assert clip.with_skeleton(clip.skeleton.with_roles({"left_toe": "LeftHand"})).contacts is None
    with pytest.raises(SkeletonMismatch):
        clip.with_skeleton(replace(clip.skeleton, names=(*clip.skeleton.names[:-1], "Tail")))
