"""Several people: where they meet, who moves how far, what is refused, and what is kept when the search is stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import Cancelled, RequestError
from choreograph.base.floor import FloorTransform
from choreograph.base.progress import Recorder
from choreograph.contract.result import Answer
from choreograph.contract.search import Budget
from choreograph.goals.model import JointGoal, LabelGoal, PlaceGoal, PoseGoal, PoseSource
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import save_graph
from choreograph.motion.clip import Clip
from choreograph.verbs.solve.group_solver import GroupSolver
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.request import Character, Meeting, Offset, SolveRequest
from choreograph.verbs.solve.search import SolveSearch

pytestmark = pytest.mark.slow

ANNA = Character((PlaceGoal(0.0, (0.0, 0.0), 0.0),))
BEN = Character((PlaceGoal(0.0, (1.5, 5.0), 180.0),))
RAW = {"finish": {"clean": False}}
PAIR = Meeting(2.0, ("anna", "ben"), (PoseSource("walk", 40), PoseSource("walk_turn_90_left", 45)), 1.0)


def torso(clip: Clip, frame: int) -> FloorTransform:
    place = clip.global_positions()[frame, clip.skeleton.hips]
    return FloorTransform(float(clip.facing()[frame]), float(place[0]), float(place[2]))


def between(one: FloorTransform, other: FloorTransform) -> np.ndarray:
    """The other as the one sees it: x, z and the direction it faces."""
    seen = one.inverse() @ other
    return np.array([seen.x, seen.z, np.cos(seen.yaw), np.sin(seen.yaw)])


def request(*meetings: Meeting, **how: object) -> SolveRequest:
    usual = {"characters": {"anna": ANNA, "ben": BEN}, "count": 1, "work_limit": 80_000, "apart_m": 0.1, **RAW}
    return SolveRequest(4.0, meet=meetings, **{**usual, **how})


def solved(walks: MotionGraph, cuts: Hierarchy, asked: SolveRequest) -> tuple[Answer, ...]:
    return SolveSearch(walks, asked, hierarchy=cuts).run().answers


def off(answer: Answer, name: str) -> list[float]:
    """How far from the meeting somebody was before finishing."""
    errors = answer.details["characters"][name]["errors"]
    return [error["metres"] for error in errors if error["where"] == "meet[0]"]


@pytest.mark.parametrize("place", [None, (0.5, 2.5)])
@pytest.mark.parametrize("offset", [None, Offset(0.2, 1.0, 172.0)])
def test_they_are_to_each_other_as_they_should_be_all_the_while(
    walks: MotionGraph, cuts: Hierarchy, place: tuple[float, float] | None, offset: Offset | None
) -> None:
    given = {} if place is None else {"place": place, "facing_deg": 23.0}
    meeting = Meeting(2.0, PAIR.who, PAIR.poses, 1.0, offset=offset, **given)
    answer = solved(walks, cuts, request(meeting))[0]
    anna, ben = answer.clips
    assert (anna.name, ben.name) == ("anna", "ben")
    recorded = [walks.clips[walks.find_clip(pose.clip)] for pose in PAIR.poses]
    if place is not None:
        stands = FloorTransform(np.radians(23.0), *place)
        assert between(stands, torso(anna, 60)) == pytest.approx([0, 0, 1, 0], abs=1e-6)
    base = FloorTransform()
    if offset is not None:  # lay the second recording so that they stand as asked for
        stands = FloorTransform(offset.turned, offset.left_m, offset.ahead_m)
        base = torso(recorded[0], 40) @ stands @ torso(recorded[1], 45).inverse()
    for step in (0, 7, 15, 30):
        was = between(torso(recorded[0], 40 + step), base @ torso(recorded[1], 45 + step))
        assert between(torso(anna, 60 + step), torso(ben, 60 + step)) == pytest.approx(was, abs=1e-5)
    for motion, pose in zip(answer.motions, PAIR.poses, strict=True):
        [run] = [run for run in motion.sources if run.start <= 60 < run.stop]
        assert run.clip == pose.clip and run.stop >= 91 and run.clip_frame + 60 - run.start == pytest.approx(pose.frame)


def test_a_free_place_moves_to_where_it_suits_both(
    walks: MotionGraph, cuts: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = solved(walks, cuts, request(PAIR))[0]
    [anna], [ben] = off(answer, "anna"), off(answer, "ben")
    # Left where the first has it, all that is missing is the second's to make up for.
    monkeypatch.setattr(GroupSolver, "_bring_together", lambda solver, number, share: iter(()))
    before = solved(walks, cuts, request(PAIR))[0]
    assert answer.cost is not None and before.cost is not None
    assert answer.cost < 0.7 * before.cost and max(anna, ben) < 0.8 * max(off(before, "ben"))
    each = answer.details["characters"]
    assert answer.cost == pytest.approx(each["anna"]["score"] + each["ben"]["score"])


def test_several_answers_and_the_same_again(walks: MotionGraph, cuts: Hierarchy) -> None:
    meeting = Meeting(2.0, PAIR.who, PAIR.poses, place=(0.5, 2.5), facing_deg=0.0)
    first, second = (solved(walks, cuts, request(meeting, count=3)) for _ in range(2))
    costs = [answer.cost for answer in first]
    assert len(first) > 1 and costs == sorted(costs) == [answer.cost for answer in second]
    for one, other in zip(first, second, strict=True):
        assert all(np.array_equal(a.local_rot, b.local_rot) for a, b in zip(one.clips, other.clips, strict=True))


def test_three_people_and_two_meetings(walks: MotionGraph, cuts: Hierarchy) -> None:
    later = Meeting(
        3.5,
        ("ben", "carl"),
        (PoseSource("walk_turn_90_left", 90), PoseSource("walk", 90)),
        offset=Offset(0.0, 1.5, 180.0),
    )
    people = {"anna": ANNA, "ben": BEN, "carl": None}
    _, ben, carl = solved(walks, cuts, request(PAIR, later, characters=people, work_limit=60_000))[0].clips
    assert between(torso(ben, 105), torso(carl, 105)) == pytest.approx([0, 1.5, -1, 0], abs=1e-5)


def test_steps_of_any_size_come_to_the_same(walks: MotionGraph, cuts: Hierarchy) -> None:
    asked = request(PAIR, work_limit=20_000)
    at_once = solved(walks, cuts, asked)[0]
    search, steps = SolveSearch(walks, asked, hierarchy=cuts), 0
    while search.step(Budget(steps=700)):
        steps += 1
        assert search.best().answers[0].motions
    by_steps = search.best().answers[0]
    assert steps > 10
    for one, other in zip(at_once.clips, by_steps.clips, strict=True):
        assert np.array_equal(one.root_pos, other.root_pos) and np.array_equal(one.local_rot, other.local_rot)


def test_limits_are_named_with_whom_they_concern(walks: MotionGraph, cuts: Hierarchy) -> None:
    high = Character((*ANNA.goals, JointGoal(1.0, "head", (None, 4.0, None))))
    far = Meeting(1.0, PAIR.who, PAIR.poses, place=(0.0, 60.0), facing_deg=0.0)
    asked = request(far, characters={"anna": high, "ben": BEN}, work_limit=2_000)
    both = dict.fromkeys(("anna", "ben"), walks), dict.fromkeys(("anna", "ben"), cuts)
    limits = GroupSolver(asked, *both).out_of_reach()
    assert [entry.where for entry in limits] == [
        "characters.anna.goals[1]", "meet[0]", "meet[0]",
    ]  # fmt: skip
    assert "60.0 m from characters.anna.goals[0]" in limits[1].text
    problems = solved(walks, cuts, asked)[0].problems
    [head] = [problem for problem in problems if problem.where == "characters.anna.goals[1].position"]
    assert head.asked == 4.0 and head.nearest == pytest.approx(limits[0].nearest, abs=1e-3)
    assert head.kind == "joint_missed" and head.text.startswith("Anna's head is ")
    # Nobody glides to where he does not get, and what is missed is said of both.
    missed = [problem for problem in problems if problem.where == "meet[0]" and problem.kind == "position_missed"]
    assert [problem.text.split("'")[0] for problem in missed] == ["Anna", "Ben"]
    assert all(problem.got is not None and problem.got > 40 for problem in missed)
    assert not [problem for problem in problems if problem.kind == "root_glide"]
    assert all(
        "60.0 m from characters.anna.goals[0]" in one.text
        for one in problems
        if one.text.startswith("Anna's torso is ")
    )


def test_everybody_can_have_a_graph_of_his_own(walks: MotionGraph, cuts: Hierarchy, tmp_path: Path) -> None:
    save_graph(walks, tmp_path / "ben.mog")
    alike = solved(walks, cuts, request(PAIR, work_limit=5_000))[0]
    own = request(PAIR, work_limit=5_000, characters={"anna": ANNA, "ben": BEN.with_(graph="ben.mog")})
    for asked, graph in ((request(PAIR, work_limit=5_000), {"anna": walks, "ben": walks}), (own, walks)):
        answer = SolveSearch(graph, asked.resolved(tmp_path)).run().best
        assert all(np.allclose(a.root_pos, b.root_pos) for a, b in zip(answer.clips, alike.clips, strict=True))
    with pytest.raises(RequestError, match=r"^characters.ben.graph: .*ben.mog"):
        SolveSearch(walks, own.resolved(tmp_path / "elsewhere")).run()
    with pytest.raises(RequestError, match=r"^characters.ben has no graph; there are graphs for anna"):
        SolveSearch({"anna": walks}, request(PAIR)).run()
    with pytest.raises(RequestError, match="for one person, but there are several graphs"):
        SolveSearch({"anna": walks}, request(PAIR).alone("anna")).run()


def test_a_search_for_several_people_is_not_kept(walks: MotionGraph, cuts: Hierarchy) -> None:
    search = SolveSearch(walks, request(PAIR, work_limit=500), hierarchy=cuts)
    search.run()
    with pytest.raises(RequestError, match="several people is not kept"):
        search.state()
    with pytest.raises(RequestError, match="several people is not kept; begin it anew"):
        search.resume({})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"who": ("anna", "dora")}, r"meet\[0\].who has 'dora', which is no character; there are: anna, ben"),
        ({"who": ("anna", "anna")}, "two different characters"),
        ({"at_s": 5.0}, r"meet\[0\].at_s is 5; it must be a number from 0 to 4"),
        ({"duration_s": 3.0}, r"meet\[0\].duration_s is 3; .* must end with the motions"),
        ({"place": (0.0, 0.0)}, "facing_deg is missing; give place and facing_deg"),
        ({"offset": {"left_m": 0.0, "ahead_m": float("nan"), "turned_deg": 0.0}}, "offset.ahead_m is nan"),
    ],
)
def test_meetings_that_cannot_be(change: dict, said: str) -> None:  # type: ignore[type-arg]
    values = {"at_s": 2.0, "who": PAIR.who, "poses": PAIR.poses, "duration_s": 1.0, **change}
    with pytest.raises(RequestError, match=said):
        request(Meeting(**values))


def test_groups_that_cannot_be(walks: MotionGraph, cuts: Hierarchy) -> None:
    def refused(asked: SolveRequest, said: str) -> None:
        with pytest.raises(RequestError, match=said):
            solved(walks, cuts, asked.with_(work_limit=100))

    with pytest.raises(RequestError, match="which is no character; there are: none"):
        request(PAIR, characters={})
    with pytest.raises(RequestError, match=r"meet\[1\].at_s is 2, before meet\[0\] at 3"):
        request(Meeting(3.0, PAIR.who, PAIR.poses), PAIR)
    for change, said in (
        (
            {"poses": (PAIR.poses[0], PoseSource("swim"))},
            r"^meet\[0\].poses\[1\].clip: no clip of the graph is called 'swim'",
        ),
        (
            {"poses": (PAIR.poses[0], PoseSource("walk_turn_90_left", 9999))},
            r"^meet\[0\].poses\[1\].frame is 9999; 'walk_turn_90_left' has frames 0 to",
        ),
        (
            {"at_s": 0.0},
            r"^meet\[0\].at_s is 0: it gives the place of anna at 0 s, and characters.anna.goals\[0\] does so too",
        ),
        (
            {"poses": (PAIR.poses[0], PoseSource("jog", 100)), "duration_s": 2.0},
            r"^meet\[0\].duration_s is 2; 'jog' goes on",
        ),
    ):
        values = {"at_s": 2.0, "who": PAIR.who, "poses": PAIR.poses, **change}
        refused(request(Meeting(**values)), said)
    for own, said in (
        (
            {"goals": (PoseGoal(1.0, PoseSource("jog", 20), exact=True),)},
            r"shows characters.anna.goals\[0\] \(jog, 1 s\) and meet\[0\] \(walk,",
        ),
        (
            {"goals": (PoseGoal(2.0, PoseSource("walk", 9), exact=True),)},
            r"shows characters.anna.goals\[0\] .* and meet",
        ),
        ({"goals": (LabelGoal(start_s=0.0, end_s=1.0, label="swim"),)}, r"^characters.anna.goals\[0\].label is 'swim'"),
    ):
        refused(request(PAIR, characters={"anna": Character(**own), "ben": BEN}), said)
    refused(request(characters={"carl": None}), r"^characters.carl: nothing is asked for")
    follows = Meeting(3.0, PAIR.who, PAIR.poses)
    refused(request(PAIR, follows), r"^meet\[1\].at_s is 3: it gives the place of anna at 3 s, and meet\[0\] does so")


def test_who_may_meet_anywhere_meets_at_different_places(walks: MotionGraph, cuts: Hierarchy) -> None:
    answers = solved(walks, cuts, request(PAIR, count=4))
    assert len(answers) == 4
    places = []
    for answer in answers:
        meets = torso(answer.clips[0], round(PAIR.at_s * answer.clips[0].fps))
        places.append(complex(float(meets.x), float(meets.z)))
    assert min(abs(a - b) for k, a in enumerate(places) for b in places[:k]) > 0.02


@pytest.mark.parametrize("after", [1, 3, 6])
def test_stopped_there_is_what_was_found_by_then(walks: MotionGraph, cuts: Hierarchy, after: int) -> None:
    recorder = Recorder(cancel_after=after)
    search = SolveSearch(walks, request(PAIR, work_limit=None, time_limit_s=600.0), hierarchy=cuts)
    with pytest.raises(Cancelled):
        search.run(recorder)
    result = search.best()
    assert result.status == "searching" and [len(clip) for clip in result.best.clips] == [121, 121]
    assert search.step(Budget(steps=100))  # and it can go on
