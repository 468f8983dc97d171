"""Planning as a whole: what is asked for is done, and what cannot be is said."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.unit.verbs.plan.requests import request_of

import choreograph as cg
from choreograph.base.progress import Recorder
from choreograph.demo import demo_clip
from choreograph.goals.model import PlaceGoal, PoseGoal
from choreograph.scene.model import Obstacle, Shape, Start
from choreograph.verbs.plan.check import check_motion
from choreograph.verbs.plan.planner import Planner
from choreograph.verbs.plan.primitives import OBJECTIVES
from choreograph.verbs.plan.request import Corridor, PlanRequest
from choreograph.verbs.plan.search import PlanSearch
from choreograph.verbs.plan.task import Margins, Task
from choreograph.verbs.plan.world import in_whole, make_world

AHEAD = PlaceGoal(place=(0.0, 3.0), tolerance_m=0.25)


def plan(graph, plans, request: PlanRequest) -> cg.Result:
    return PlanSearch(graph, request, plans=plans).run()


def few(**more: object) -> PlanRequest:
    return request_of(**{"goal": AHEAD, "work_limit": 3000, **more})


def test_it_starts_and_ends_where_asked(graph, plans):
    request = few(start=Start(place=(1.0, -1.0), facing_deg=30.0), goal=PlaceGoal(place=(2.5, 1.6), tolerance_m=0.1))
    result = plan(graph, plans, request)
    hips = result.clip.global_positions()[:, result.clip.skeleton.hips]
    np.testing.assert_allclose(hips[0, [0, 2]], (1.0, -1.0), atol=0.01)
    assert math.degrees(abs(math.remainder(result.clip.facing()[0] - math.radians(30), 2 * math.pi))) < 1
    assert math.dist(hips[-1, [0, 2]], (2.5, 1.6)) <= 0.102
    assert result.problems == () and result.best.bound is not None and result.best.bound <= result.best.cost


def test_it_goes_round_things_with_all_of_the_body(graph, plans):
    pillar = Obstacle(centre=(0.45, 1.5), radius_m=0.25)
    result = plan(graph, plans, few(obstacles=(pillar,)))
    assert result.problems == () and result.metrics["clearance"].value >= 0
    # The same motion breaks a wider pillar, and that is said with where and how much.
    wide = few(obstacles=(Obstacle(centre=(0.0, 1.5), radius_m=1.2),))
    broken = check_motion(result.clip, wide, plans.body).broken
    assert [one.where for one in broken] == ["scene.obstacles[0]"] and broken[0].by > 0.3


def test_stones_gates_and_regions_are_kept_in_order(graph, plans):
    first = plan(graph, plans, few())
    landings = [(x, z) for x, z, _, _ in first.best.details["footprints"]]
    stone = Shape(centre=landings[len(landings) // 2], radius_m=0.12)
    request = few(
        stones=(stone,),
        through=(PlaceGoal(ends=((-1.0, 2.0), (1.0, 2.0))),),
        keep_off=(Shape(centre=(0.7, 1.0), radius_m=0.1),),
    )
    result = plan(graph, plans, request)
    assert result.problems == ()
    broken = check_motion(result.clip, few(stones=(Shape(centre=(3.0, 1.0), radius_m=0.1),)), plans.body).broken
    assert [one.where for one in broken] == ["scene.stones[0]"]
    broken = check_motion(result.clip, few(keep_off=(stone,)), plans.body).broken
    assert broken and broken[0].where == "scene.keep_off[0]"
    broken = check_motion(result.clip, few(through=(PlaceGoal(place=(3.0, 1.0)),)), plans.body).broken
    assert [one.where for one in broken] == ["goals[0]"]


def test_a_path_is_kept_near(graph, plans):
    line = Corridor(points=((0.0, 0.0), (0.0, 1.5), (0.0, 3.0)), tolerance_m=0.4)
    result = plan(graph, plans, few(path=line))
    hips = result.clip.global_positions()[:, result.clip.skeleton.hips]
    assert result.problems == () and np.abs(hips[:, 0]).max() <= 0.402


def test_steps_of_any_size_come_to_the_same_answer(graph, plans):
    whole = plan(graph, plans, few())
    search = PlanSearch(graph, few(), plans=plans)
    while search.step(cg.Budget(steps=700)):
        pass
    np.testing.assert_array_equal(search.best().clip.root_pos, whole.clip.root_pos)


def test_it_can_be_stopped_and_gone_on_with(graph, plans):
    search = PlanSearch(graph, few(work_limit=20_000), plans=plans)
    with pytest.raises(cg.Cancelled):
        search.step(progress=Recorder(cancel_after=4))
    early = search.best().best
    state = search.state()
    later = PlanSearch(graph, few(work_limit=4000), plans=plans)
    later.resume(state)
    result = later.run()
    assert result.best.cost <= early.cost + 1e-9 and result.problems == ()
    with pytest.raises(cg.RequestError):
        later.resume({**state, "motion": "another"})


def test_time_that_is_left_goes_into_a_finer_lattice_and_steps_that_compression_left_out(graph, plans):
    request = few(goal=PlaceGoal(place=(0.4, 2.2), tolerance_m=0.2), work_limit=40_000)
    coarse = plan(graph, plans, request.with_(advanced={"refine": False}))
    search = PlanSearch(graph, request, plans=plans)
    fine = search.run()
    assert "of 20 cm, 15°" in coarse.best.details["proved"] and "of 10 cm, 10°" in fine.best.details["proved"]
    assert fine.best.cost <= coarse.best.cost + 1e-9
    assert search._try is not None and search._try.whole and fine.problems == ()
    # A chain counted among all steps can be gone on from.
    state = search.state()
    if not state["whole"]:
        state = {**state, "whole": True, "primitives": plans.kept[state["primitives"]].tolist()}
    later = PlanSearch(graph, few(goal=request.goals[-1], work_limit=500), plans=plans)
    later.resume(state)
    assert later.run().best.cost <= fine.best.cost + 1e-9


def test_kernels_meet_one_kind_of_arrays_whether_they_were_kept_or_just_built(graph, plans):
    """For another kind they would be compiled again, which takes a minute."""
    for full in (False, True):
        planner = Planner(Task.of(make_world(graph, plans, few(), full=full), few(), Margins(0.03, {})))
        moves, heuristic = planner.moves, planner.heuristic
        for array in (moves.outcome, moves.target, moves.first, moves.edge, moves.kind, heuristic.hips):
            assert not array.flags.writeable
        assert not (heuristic.per_metre.flags.writeable or heuristic.per_radian.flags.writeable)


def test_steps_in_the_whole_graph_are_those_of_the_compressed_one(graph, plans):
    request = few()
    small, whole = (make_world(graph, plans, request, full=full) for full in (False, True))
    planner = Planner(Task.of(small, request, Margins(0.03, {})))
    while not planner.done:
        planner.advance()
    chain = planner.chain()
    there = in_whole(plans, chain)
    for world, one in ((small, chain), (whole, there)):
        assert (
            world.network.primitives.steps[one.primitives] == small.network.primitives.steps[chain.primitives]
        ).all()
    np.testing.assert_allclose(whole.network.seconds[there.primitives], small.network.seconds[chain.primitives])


def test_answers_differ_where_several_are_asked_for(graph, plans):
    request = few(goal=PlaceGoal(place=(0.0, 5.0)), count=2, apart_m=0.4, work_limit=16_000)
    result = plan(graph, plans, request)
    assert result.problems == () and len(result.answers) == 2
    a, b = (np.array(answer.path) for answer in result.answers)
    away = np.hypot(*(a[:, None] - b[None]).transpose(2, 0, 1))
    assert max(away.min(axis=1).max(), away.min(axis=0).max()) >= 0.4


def test_too_few_different_answers_are_said(graph, plans):
    hall = tuple(Obstacle(low=(side - 0.05, -1.0), high=(side + 0.05, 4.0)) for side in (-0.8, 0.8))
    result = plan(graph, plans, few(obstacles=hall, count=2, apart_m=2.0, work_limit=4000))
    assert len(result.answers) == 1 and "only 1 of 2" in result.problems[0].text


def test_other_objectives_count_other_things(graph, plans):
    quick = plan(graph, plans, few(objective="time"))
    easy = plan(graph, plans, few())
    assert quick.clip.seconds <= easy.clip.seconds + 0.2
    assert quick.best.cost == pytest.approx(quick.clip.seconds, abs=1.0)
    light = plan(graph, plans, few(objective="torque"))
    steps = plans.table.costs[:, OBJECTIVES.index("torque")]
    assert (steps > 0).all() and light.best.cost >= steps.min() and light.metrics["cost"].unit == "N²m²s"


def test_torques_need_legs(graph, plans):
    nobody = dataclasses.replace(plans, table=dataclasses.replace(plans.table, costs=0 * plans.table.costs))
    with pytest.raises(cg.RequestError, match="torques are not known"):
        plan(graph, nobody, few(objective="torque"))


def test_a_behaviour_or_pose_can_end_it(graph, plans):
    result = plan(graph, plans, few(goal=PlaceGoal(place=(0.0, 4.0), tolerance_m=0.4, label="jump"), work_limit=6000))
    assert result.problems == () and any(label.text == "jump" for label in result.clip.labels)
    with pytest.raises(cg.RequestError, match="no clip of the graph is labelled"):
        plan(graph, plans, few(goal=PlaceGoal(place=(0.0, 3.0), label="swim")))
    with pytest.raises(cg.RequestError, match="has frames 0 to"):
        plan(graph, plans, few(goal=PoseGoal(place=(0.0, 3.0), pose={"clip": graph.infos[0].name, "frame": 10**6})))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"obstacles": (Obstacle(centre=(0.0, 0.0), radius_m=0.5),)}, "start.place is .*inside scene.obstacles"),
        ({"obstacles": (Obstacle(centre=(0.0, 3.0), radius_m=0.9),)}, r"goals\[0\].place is .*inside scene.obstacles"),
        (
            {"stones": (Shape(centre=(0, 1.0), radius_m=0.1),), "keep_off": (Shape(centre=(0, 1.0), radius_m=0.5),)},
            r"scene.stones\[0\] must be stepped on",
        ),
        ({"path": Corridor(points=((5.0, 0.0), (5.0, 3.0)))}, "from the path"),
    ],
    ids=["start", "goal", "stone", "path"],
)
def test_contradictions_are_said(graph, plans, more, said):
    with pytest.raises(cg.RequestError, match=said):
        plan(graph, plans, few(**more))


def test_a_goal_that_is_closed_off_is_said_with_what_closes_it(graph, plans):
    walls = [Obstacle(low=(-2.0, 2.0), high=(2.0, 2.3)), Obstacle(low=(-2.0, 4.0), high=(2.0, 4.3))]
    walls += [Obstacle(low=(-2.3, 2.0), high=(-2.0, 4.3)), Obstacle(low=(2.0, 2.0), high=(2.3, 4.3))]
    with pytest.raises(cg.RequestError, match=r"scene.obstacles\[0\].*close the goal off\. Move one of them") as caught:
        plan(graph, plans, few(obstacles=tuple(walls)))
    assert all(f"scene.obstacles[{n}]" in str(caught.value) for n in range(4))
    assert "nearest" not in str(caught.value)  # nothing was tried: the start is no place that was come to


def test_stones_too_far_apart_are_said_with_the_longest_step(graph, plans):
    sea = Shape(low=(-5.0, 0.9), high=(5.0, 7.0))
    request = few(
        goal=PlaceGoal(place=(0.0, 8.0)), gaps=(sea,), stones=(Shape(centre=(0, 4.5), radius_m=0.1),), work_limit=1500
    )
    with pytest.raises(cg.RequestError, match="The longest recorded step is"):
        plan(graph, plans, request)


def test_a_gap_nobody_can_cross_is_said_with_the_longest_step(graph, plans):
    gap = Shape(low=(-9.0, 1.5), high=(9.0, 6.5))
    with pytest.raises(
        cg.RequestError, match=r"scene.gaps\[0\].* The longest recorded step is \d\.\d\d m.*nearest"
    ) as caught:
        plan(graph, plans, few(goal=PlaceGoal(place=(0.0, 8.0)), gaps=(gap,), work_limit=1500))
    assert caught.value.where == "scene.gaps[0]"


@pytest.mark.parametrize(
    "make",
    [
        lambda: PlaceGoal(place=(math.nan, 0.0)),
        lambda: Start(facing_deg=math.nan),
        lambda: Obstacle(corners=((0.0, 0.0), (1.0, math.nan), (1.0, 1.0))),
        lambda: Obstacle(ends=((0.0, 0.0), (math.nan, 1.0)), base_m=1.0),
        lambda: PlaceGoal(place=(math.nan, 1.0)),
        lambda: Corridor(points=((0.0, 0.0), (math.inf, 1.0))),
    ],
    ids=["goal", "start", "polygon", "bar", "gate", "path"],
)
def test_what_is_no_number_is_refused_everywhere(make):
    with pytest.raises(cg.RequestError, match="must be a number"):
        make()


GOALS = [{"place": [0, 1]}]


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({"goals": [{"place": [0, "NaN"]}]}, "goals[0].place"),
        ({"goals": [{"place": [0, 1e9]}]}, "goals[0].place"),
        ({"goals": [{"place": [0, 1e4]}]}, "goals[0].place"),
        ({"goals": GOALS, "scene": {"obstacles": [{"centre": [0, 1], "radius_m": -1}]}}, "scene.obstacles[0]"),
        ({"goals": GOALS, "scene": {"gaps": [{"corners": [[0, 0], [1, 1], [1, 0], [0, 1]]}]}}, "scene.gaps[0]"),
        ({"goals": GOALS, "scene": {"obstacles": "discs.csv"}}, "scene.obstacles"),
        (
            {"goals": GOALS, "scene": {"obstacles": [{"centre": [0, 1], "radius_m": 1, "of": "hips"}]}},
            "scene.obstacles[0].of",
        ),
        ({"goals": GOALS, "scene": {"floor_m": 0.1}}, "scene.floor_m"),
        ({"goals": [{}, *GOALS]}, "goals[0]"),
        ({"goals": [{"label": "sit"}]}, "goals[0]"),
        ({"goals": [{"ends": [[0, 0], [1, 0]]}]}, "goals[0].place"),
        ({"goals": [{"place": [0, 1], "facing_deg": 0}, *GOALS]}, "goals[0].facing_deg"),
        ({"goals": [{"place": [0, 1], "at_s": 2}]}, "goals[0].at_s"),
        ({"goals": [{"place": [0, 1], "label": "sit", "standing": True}]}, "goals[0].label"),
        ({"goals": [{"place": [0, 1], "pose": {"file": "a.bvh"}}]}, "goals[0].pose.clip"),
        ({}, "goals"),
    ],
)
def test_bad_requests_are_said_by_place(document, where):
    with pytest.raises(cg.RequestError) as caught:
        cg.read_request(PlanRequest, document)
    assert caught.value.where.startswith(where)


def test_a_scene_of_a_million_polygons_is_refused():
    box = {"low": [0, 0], "high": [1, 1]}
    with pytest.raises(cg.RequestError, match="10000 entries at most"):
        cg.read_request(PlanRequest, {"goals": GOALS, "scene": {"obstacles": [box] * 10_001}})
    with pytest.raises(cg.RequestError, match="more than 1,000,000 values"):
        cg.read_request(PlanRequest, {"goals": GOALS, "scene": {"obstacles": [box] * 1_000_000}})
    with pytest.raises(cg.RequestError, match="10000 entries at most"):
        request_of(goal=AHEAD, obstacles=(Obstacle(low=(0.0, 0.0), high=(1.0, 1.0)),) * 1_000_000)


@pytest.mark.slow
def test_thousands_of_obstacles_are_looked_up_quickly(graph, plans):
    rng = np.random.default_rng(0)
    away = [(float(x), float(z)) for x, z in rng.uniform(3, 60, (3000, 2))]
    result = plan(graph, plans, few(obstacles=tuple(Obstacle(centre=at, radius_m=0.2) for at in away), work_limit=1000))
    assert result.problems == ()


def test_where_all_steps_were_tried_it_is_said_what_would_help():
    straight = cg.build_graph([demo_clip("walk", 30.0)])
    post = Obstacle(centre=(0.0, 2.0), radius_m=0.6)
    with pytest.raises(
        cg.RequestError, match=r"was tried: move scene.obstacles\[0\].*add clips.*mirrored copies .mirror.$"
    ):
        cg.plan(straight, few(goal=PlaceGoal(place=(0.0, 4.0)), obstacles=(post,), work_limit=20_000))


def test_of_too_few_steps_it_is_said_to_choose_more_clips():
    two = [
        demo_clip("walk_veer_left", 30.0)[10:55].with_name("short"),
        demo_clip("stand_to_jog", 30.0)[:20].with_name("still"),
    ]
    graph, far = cg.build_graph(two), PlaceGoal(place=(0.0, 9.0))
    with pytest.raises(cg.RequestError, match=r"steps that there are do not lead so far; add clips that step"):
        cg.plan(graph.only("clip:short"), few(goal=far))
    with pytest.raises(cg.RequestError, match=r"do not lead so far; choose more clips \(only\)$") as caught:
        cg.plan(graph, few(goal=far, only="clip:short"))
    assert caught.value.where == "only"
    with pytest.raises(cg.RequestError, match=r"begins with both feet at rest; choose more clips"):
        cg.plan(graph, few(goal=far, only="clip:short", start={"standing": True}))


def test_clips_without_a_step_are_refused_with_a_sentence():
    flying = cg.build_graph([demo_clip("walk", 30.0)[4:16]])
    with pytest.raises(cg.RequestError, match=r"no clip of the graph has a step.*or choose such clips"):
        cg.plan(flying, few())


def test_a_bar_that_nobody_can_pass_is_said(graph, plans):
    bar = Obstacle(ends=((-9.0, 1.5), (9.0, 1.5)), base_m=0.5)
    with pytest.raises(cg.RequestError, match=r"scene.obstacles\[0\]"):
        plan(graph, plans, few(bars=(bar,), work_limit=1500))
