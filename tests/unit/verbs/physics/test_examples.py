"""Examples chosen by contacts and direction: from clips, a folder, a graph, and more than memory holds."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

import choreograph as cg
from choreograph.demo import demo_clip, demo_names
from choreograph.dynamics.body import make_body
from choreograph.dynamics.contacts import measure_points
from choreograph.verbs.physics.examples import choose_examples
from choreograph.verbs.physics.prepare import make_setting

JUMPS = ("jump", "jump_forward", "jump_high")
SOME = (*JUMPS, "walk", "run", "walk_turn_90_left", "walk_veer_left")


@pytest.fixture(scope="module")
def clips() -> list[cg.Clip]:
    return [demo_clip(name, 30.0) for name in SOME]


def test_a_jump_finds_the_jumps(clips: list[cg.Clip]) -> None:
    setting = make_setting(clips[0], cg.PhysicsRequest(nearest=2), clips)
    assert {one.name for one in setting.examples} == {"jump_forward", "jump_high"}


def test_they_come_from_a_folder_and_from_a_graph(clips: list[cg.Clip], tmp_path: Path) -> None:
    for clip in clips[1:]:
        cg.write_clip(tmp_path / f"{clip.name}.bvh", clip)
    cg.save_graph(cg.build_graph(clips[1:]), tmp_path / "some.mog")
    for name in (tmp_path, tmp_path / "some.mog"):
        setting = make_setting(clips[0], cg.PhysicsRequest(nearest=2, like=[str(name)]))
        assert {one.name for one in setting.examples} == {"jump_forward", "jump_high"}


def test_of_a_graph_a_query_chooses(clips: list[cg.Clip], tmp_path: Path) -> None:
    cg.save_graph(cg.build_graph(clips[1:]), tmp_path / "some.mog")
    request = cg.PhysicsRequest(like=[str(tmp_path / "some.mog")], only="jump not high")
    assert [one.name for one in make_setting(clips[0], request).examples] == ["jump_forward"]
    with pytest.raises(cg.RequestError, match="none of the 6 clips matches"):
        make_setting(clips[0], request.with_(only="swim"))
    with pytest.raises(cg.RequestError, match="only chooses among the clips of a graph"):
        cg.PhysicsRequest(only="jump", like=["jumps/"])


def test_no_more_are_in_memory_than_are_chosen(clips: list[cg.Clip]) -> None:
    alive: weakref.WeakSet[cg.Clip] = weakref.WeakSet()
    most = 0

    def archive() -> Iterator[cg.Clip]:
        nonlocal most
        for number in range(10):
            one = clips[number % len(clips)].with_name(f"copy {number}")
            alive.add(one)
            yield one
            del one
            most = max(most, len(alive))

    points = measure_points([clips[0]], make_body(clips[0].skeleton).height)
    chosen = choose_examples(clips[0], archive(), points, 0.0, 3)
    assert len(chosen) == 3 and most <= 4


def test_all_are_taken_where_they_are_few(clips: list[cg.Clip]) -> None:
    setting = make_setting(clips[0], cg.PhysicsRequest(), clips)
    assert [one.name for one in setting.examples] == list(SOME)
    assert set(SOME) <= set(demo_names())


def test_a_recorded_jump_a_run_and_a_walk_find_their_like(recordings: Path) -> None:
    paths = sorted((recordings / "cmu/16").glob("*.amc"))[::2]
    kinds = {"16_05": range(1, 11), "16_45": range(35, 57), "16_21": (*range(11, 35), 47, 58)}
    for name, numbers in kinds.items():
        clip = cg.read_clip(recordings / f"cmu/16/{name}.amc")
        given = [str(path) for path in paths if path.stem != name]
        chosen = make_setting(clip, cg.PhysicsRequest(nearest=4, like=given)).examples
        assert [int(one.name[3:]) in numbers for one in chosen] == [True] * 4, [one.name for one in chosen]
