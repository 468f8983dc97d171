"""Steering on recorded walks: learning, decisions, how well lines are kept, obstacles, crowds; and two plain peers.

Subject 16's walks, turns and stops and the demo motion, both mirrored. Times are of the processor. Words behind
`python -m benchmarks.bench_steer`: 16, demo or the number of another subject in cmu_more to measure that alone; names
of parts (see PARTS) for these alone; quick for a tenth of the trials; open to ask for no speed; write to keep what was
steered for a minute in out/; seed=3 to learn from other samples; fit to learn without the linear program.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import astuple, replace
from typing import Any

import numpy as np

import choreograph as cg
from benchmarks import steer_matching
from benchmarks.datasets import find_recordings
from choreograph.base.arrays import Floats
from choreograph.demo import demo_clips
from choreograph.finishing.foot_contacts import foot_slide, plant_speed
from choreograph.motion.bend import find_way
from choreograph.motion.contacts import runs, with_detected_contacts
from choreograph.scene.path import Path
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.costs import Ahead, SteerAdvanced, StepCosts
from choreograph.verbs.steer.crowd import Crowd
from choreograph.verbs.steer.evaluate import beam_cost, policy_cost
from choreograph.verbs.steer.frame_pool import FramePool, build_frame_pool
from choreograph.verbs.steer.goals import MovingObstacle, SteerGoal
from choreograph.verbs.steer.learn import LEARNING, learn
from choreograph.verbs.steer.navigate import Navigate
from choreograph.verbs.steer.policy import ValueFunction
from choreograph.verbs.steer.prepare import standard_tasks
from choreograph.verbs.steer.recording import SteerRecording
from choreograph.verbs.steer.steps import build_steps
from choreograph.verbs.steer.tasks import SteerTask

WALKS = (*range(11, 35), 47, 58)
PACE = {"demo": 1.3}
"""Speeds that are asked for, m/s: the demo motion would jog where that is left open. Else none."""
RATE = 60.0
QUICK = 10 if "quick" in sys.argv else 1


PARTS = ("decisions", "reversals", "peers", "lines", "collisions", "beam", "feet", "crowd", "latency")


def main() -> None:
    """Measure all, each beside its bar."""
    words = [word for word in sys.argv[1:] if word not in ("quick", "write", "open", "fit") and "=" not in word]
    parts = [word for word in words if word in PARTS] or list(PARTS)
    for name in [word for word in words if word not in PARTS] or ["16", "demo"]:
        print(f"--- {name}", flush=True)
        Ask.speed = None if "open" in sys.argv else PACE.get(name)
        measure(name, find_clips(name), parts)


class Ask:
    """What is asked for besides lines."""

    speed: float | None = None


def line_goal(x: float, z: float, heading: float) -> SteerGoal:
    """Keep to a line."""
    return SteerGoal(x, z, heading, Ask.speed)


def find_clips(name: str) -> list[cg.Clip]:
    """The recordings of a subject, or the demo motion."""
    if name == "demo":
        return demo_clips(60.0)
    if name == "16":
        files = [find_recordings() / "cmu" / "16" / f"16_{number:02d}.amc" for number in WALKS]
    else:
        files = sorted((find_recordings() / "cmu_more" / name).glob("*.amc"))
    return [cg.read_clip(file) for file in files]


def measure(name: str, clips: list[cg.Clip], parts: list[str]) -> None:
    """Measure some recordings."""
    steps, seconds = timed(lambda: build_steps(clips, mirror=True))
    print(f"{len(steps)} steps of {2 * len(clips)} recordings, cut in {seconds:.1f} s")
    costs = StepCosts(steps, SteerAdvanced())
    every = standard_tasks(costs.settings)
    tasks = {what: every[what] for what in ("navigate", *(["avoid"] if "collisions" in parts else []))}
    policy = SteerPolicy(costs, tasks, {what: learned(task, costs) for what, task in tasks.items()})
    pool = build_frame_pool(steps.clips)
    work: dict[str, Callable[[], None]] = {
        "decisions": lambda: [decisions(one) for one in (policy, larger(clips))] and None,
        "reversals": lambda: reversals("value function", policy, pool),
        "peers": lambda: peers(policy, pool, clips),
        "lines": lambda: lines(policy, pool),
        "collisions": lambda: collisions(policy, pool),
        "beam": lambda: against_beam(policy),
        "feet": lambda: feet(name, policy, pool, clips),
        "crowd": lambda: crowd(policy, pool),
        "latency": lambda: latency(policy, pool),
    }
    for part in parts:
        work[part]()


def learned(task: SteerTask, costs: StepCosts) -> ValueFunction:
    """The value function of a task, and how long it took."""
    settings = LEARNING["fit" if "fit" in sys.argv else "program"]
    seed = next((int(word.removeprefix("seed=")) for word in sys.argv if word.startswith("seed=")), settings.seed)
    value, seconds = timed(lambda: learn(task, costs, replace(settings, seed=seed)))
    report = value.report
    bar = " (bar 60 s)" if task.name == "navigate" else ""
    print(f"learning {task.name}: {seconds:.1f} s{bar}; samples {report['samples']}, rounds {report['rounds']}, "
          f"coverage {report['coverage']:.0%}, error {report['error_rms']} rms, violation {report['violation']}, "
          f"choices cost {report['policy_cost']}, a search finds {report['search_cost']}", flush=True)  # fmt: skip
    return value


def peers(policy: SteerPolicy, pool: FramePool, clips: list[cg.Clip]) -> None:
    """Two plain ones: greedy, and motion matching."""
    blind = {**policy.tasks, "navigate": OneStep(*astuple(policy.tasks["navigate"]))}  # type: ignore[call-overload]
    plain = Greedy(policy.costs, blind, {name: nothing(value) for name, value in policy.values.items()})
    reversals("greedy", plain, pool)
    steer_matching.report(clips, reversal_starts=30 // min(QUICK, 3))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What work gives, and how many seconds of the processor it takes."""
    began = time.process_time()
    return work(), time.process_time() - began


def nothing(value: ValueFunction) -> ValueFunction:
    """A value function that sees nothing beyond the next step."""
    return ValueFunction(value.task, value.basis, 0 * value.coefficients, 0 * value.cuts, kind=value.kind)


class Greedy(SteerPolicy):
    """One that sees nothing of directions beyond the next step."""

    def ahead(self, goal: SteerGoal) -> Ahead:
        """What is known without them."""
        return self.costs.following(goal.wanted)


class OneStep(Navigate):
    """Keep to a line by what the next step costs."""

    def best(self, *args: Any, deep: bool = True) -> tuple[int, int, float]:
        """The step that costs least."""
        return super().best(*args, deep=False)


def larger(clips: list[cg.Clip]) -> SteerPolicy:
    """The same with about a thousand steps: each recording several times, a little slower each time."""
    more = [
        clip
        for k in range(5)
        for clip in (
            cg.Clip(clip.skeleton, clip.fps * (1 - 0.01 * k), clip.root_pos, clip.local_rot, f"{clip.name}_{k}")
            for clip in clips
        )
    ]
    costs = StepCosts(build_steps(more, mirror=True), SteerAdvanced())
    task = standard_tasks(costs.settings)["navigate"]
    value = ValueFunction("navigate", task.basis, np.zeros(task.basis.size), np.zeros(len(costs.steps.cut_foot)))
    return SteerPolicy(costs, {"navigate": task}, {"navigate": value})


def decisions(policy: SteerPolicy) -> None:
    """How long it takes to choose among all steps, keeping to a line."""
    steps, rng = policy.costs.steps, np.random.default_rng(0)
    own = policy.ahead(SteerGoal())
    out = np.empty((len(steps), len(policy.costs.bend)))
    task, value = policy.tasks["navigate"], policy.values["navigate"]
    cuts = rng.choice(np.flatnonzero(steps.cut_foot < 2), 500)
    states = np.stack([rng.normal(0, 1, 500), rng.uniform(-3, 3, 500), rng.normal(0, 0.2, 500)], axis=1)
    for _ in range(2):  # the first time it is compiled
        began = time.process_time()
        for cut, state in zip(cuts, states, strict=True):
            task.best(int(cut), state, policy.costs, own, value, out)
        taken = (time.process_time() - began) / len(cuts)
    bar = 0.1 if len(steps) < 500 else 0.5
    print(f"a decision over {len(steps)} steps: {1e6 * taken:.0f} µs (bar {1000 * bar:.0f} µs)")


def walker(policy: SteerPolicy, pool: FramePool, goal: SteerGoal, seconds: float, seed: int = 0) -> Crowd:
    """A crowd of one that has walked for a while."""
    crowd = Crowd(policy, pool)
    crowd.add(goal=goal)
    for _ in range(round((seconds + np.random.default_rng(seed).uniform(0, 3)) * RATE)):
        crowd.tick(1 / RATE)
    return crowd


def follow(crowd: Crowd, seconds: float, obstacle: MovingObstacle | None = None) -> Floats:
    """Where the root goes, (F, 2)."""
    way = np.empty((round(seconds * RATE), 2))
    for k in range(len(way)):
        others = [] if obstacle is None else [obstacle.at(k / RATE)]
        way[k] = crowd.tick(1 / RATE, others).root_pos[0, [0, 2]]
    return way


def reversals(name: str, policy: SteerPolicy, pool: FramePool) -> None:
    """How long it takes to go back the way one came."""
    taken, costs = [], []
    for seed in range(30 // min(QUICK, 3)):
        crowd = walker(policy, pool, line_goal(0.0, 0.0, 0.0), 3.0, seed)
        x, _, z = crowd.poses().root_pos[0]
        crowd.characters[0].set_goal(line_goal(float(x), float(z), math.pi))
        taken.append(turned_after(follow(crowd, 10.0)))
        costs.append(policy_cost(policy, crowd.characters[0].cut, np.array([0.0, math.pi, 0.0]), 8.0))
    said = "never" if max(taken) > 9.9 else f"{max(taken):.2f} s"
    print(f"reversal, {name}: median {np.median(taken):.2f} s, 90 % {np.percentile(taken, 90):.2f} s, worst {said}; "
          f"discounted cost {np.mean(costs):.2f} (bar 2.2 and 3 s)")  # fmt: skip


def turned_after(way: Floats) -> float:
    """When the direction of travel is within 30° of straight back, seconds; 10 if it never is."""
    heading = find_way(way, RATE, 0.1).heading
    there = np.abs(np.angle(np.exp(1j * (heading - math.pi)))) < math.radians(30)
    return float(there.argmax() / RATE) if there.any() else 10.0


def lines(policy: SteerPolicy, pool: FramePool) -> None:
    """How far from a line, a circle and a slalom the root is."""
    crowd = walker(policy, pool, line_goal(0.0, 0.0, 0.0), 5.0)
    off = np.abs(follow(crowd, 3600 / QUICK)[:, 0])
    print(
        f"straight for {60 // QUICK} min: mean {100 * off.mean():.1f} cm, at most {100 * off.max():.1f} cm (bar 5, 20)"
    )
    circle = np.linspace(0, 6 * math.pi, 2000)
    slalom = np.linspace(0, 84, 3000)
    for name, bar, points in (
        ("circle of 4 m", 20, np.stack([4 - 4 * np.cos(circle), 4 * np.sin(circle)], axis=1)),
        ("slalom of 1 m by 7 m", 25, np.stack([0.5 * np.sin(slalom * 2 * math.pi / 7), slalom], axis=1)),
        ("slalom of 1 m to each side by 7 m", 25, np.stack([np.sin(slalom * 2 * math.pi / 7), slalom], axis=1)),
    ):
        path = Path(points)
        crowd = Crowd(policy, pool)
        tangent = path.tangent(0.0)
        crowd.add(*path.at(0.0), math.atan2(tangent[0], tangent[1]), SteerGoal(speed=Ask.speed, path=path))
        way = follow(crowd, 50.0)
        at = np.array([np.hypot(*(points - place).T).argmin() for place in way])
        over = int((at >= len(points) - 100).argmax()) or len(way)  # straight on behind the path's end
        gap = np.array([np.hypot(*(points - place).T).min() for place in way[180:over]])
        print(f"{name}: mean {100 * gap.mean():.1f} cm, at most {100 * gap.max():.1f} cm (bar {bar})")


def collisions(policy: SteerPolicy, pool: FramePool) -> None:
    """How many of the obstacles that come to meet a walker hit him."""
    for name, tasks in (("with", policy.tasks), ("without", {"navigate": policy.tasks["navigate"]})):
        count, hits = 200 // (QUICK if name == "with" else 4 * min(QUICK, 5)), 0
        for seed in range(count):
            rng = np.random.default_rng(seed)
            crowd = walker(SteerPolicy(policy.costs, tasks, policy.values), pool, line_goal(0.0, 0.0, 0.0), 2.0, seed)
            before = follow(crowd, 0.5)
            velocity, here = (before[-1] - before[0]) / (len(before) - 1) * RATE, before[-1]
            while True:  # one that begins where the walker is, and goes with him, intercepts nobody
                ahead, angle = rng.uniform(2, 4), rng.uniform(0, 2 * math.pi)
                way = np.array([math.sin(angle), math.cos(angle)])
                begin = here + ahead * (velocity - way)
                if np.hypot(*(begin - here)) > 1.5:
                    break
            obstacle = MovingObstacle(float(begin[0]), float(begin[1]), 0.6, float(way[0]), float(way[1]))
            walked = follow(crowd, ahead + 2, obstacle)
            places = begin + np.arange(len(walked))[:, None] / RATE * way
            hits += bool((np.hypot(*(walked - places).T) < 0.6).any())
        print(f"collisions {name} avoidance: {hits} of {count}, {hits / count:.1%} (bar 5 %)")


def against_beam(policy: SteerPolicy) -> None:
    """What the policy costs over what a long beam search finds."""
    rng, ours, best = np.random.default_rng(1), [], []
    for _ in range(max(30 // QUICK, 4)):
        cut = int(rng.integers(len(policy.costs.steps.cut_foot)))
        state = np.array([rng.uniform(-2, 2), rng.uniform(-math.pi, math.pi), rng.uniform(-0.5, 0.5)])
        ours.append(policy_cost(policy, cut, state, 8.0))
        best.append(beam_cost(policy, cut, state, 8.0, 150))
    ratio = np.array(ours) / np.array(best)
    print(f"discounted cost over a beam's (150 wide, 8 s): {sum(ours) / sum(best):.2f} in all, "
          f"median {np.median(ratio):.2f}, worst {ratio.max():.2f} (bar 1.3)")  # fmt: skip


def feet(who: str, policy: SteerPolicy, pool: FramePool, clips: list[cg.Clip]) -> None:
    """How feet fare, live and finished, against the recordings."""
    crowd, recording, live = Crowd(policy, pool), SteerRecording(policy.costs.steps.clips, RATE), []
    one = crowd.add(goal=line_goal(0.0, 0.0, 0.0))
    for k in range(round(60 * RATE)):
        if k % 300 == 299:
            x, _, z = crowd.poses().root_pos[0]
            one.set_goal(line_goal(float(x), float(z), (k // 300) * 2.2))
        poses = crowd.tick(1 / RATE)
        recording.take(poses)
        live.append((poses.root_pos[0], poses.local_rot[0], poses.held[0]))
    *motion, held = (np.array(part) for part in zip(*live, strict=True))
    shown = cg.Clip(clips[0].skeleton, RATE, *motion).with_contacts(held)
    montage = recording.montage()
    raw = cg.finish(montage, cg.FinishSettings(clean=False)).clip
    done = cg.finish(montage).clip
    for name, every in (("recorded", clips), ("live", [shown]), ("finished", [done])):
        away = 100 * np.concatenate([wander(clip) for clip in every])
        print(f"feet while they stand, {name}: median {np.median(away):.2f} cm, 95 of 100 within "
              f"{np.percentile(away, 95):.2f} cm, at most {away.max():.2f} cm")  # fmt: skip
    plain = [clip.with_contacts(None) for clip in clips]  # found alike in all of them
    usual, speed = np.mean([foot_slide(clip) for clip in plain]), np.mean([plant_speed(clip) for clip in plain])
    for name, clip in (("as blended", raw), ("live", shown), ("finished", done)):
        clip = clip.with_contacts(None)
        print(
            f"feet, {name}: plants wander {times(100 * foot_slide(clip), 100 * usual)} cm, "
            f"slide at {times(100 * plant_speed(clip), 100 * speed)} cm/s"
        )
    if "write" in sys.argv:
        for name, clip in (("live", shown), ("finished", done), ("raw", raw)):
            cg.write_clip(f"out/steer_{who}_{name}.bvh", clip, overwrite=True)


def wander(clip: cg.Clip) -> Floats:
    """How far each joint of a foot goes from its middle while it stands, as the clip itself says it does, metres."""
    clip = with_detected_contacts(clip)
    assert clip.contacts is not None
    places, out = clip.global_positions(), []
    for column, joint in enumerate(clip.skeleton.feet):
        for start, stop in runs(clip.contacts[:, column]):
            if (stop - start) / clip.fps >= 0.1:
                at = places[start:stop, joint][:, [0, 2]]
                out.append(np.hypot(*(at - at.mean(axis=0)).T).max())
    return np.array(out)


def times(value: float, recorded: float) -> str:
    """A number beside the recordings'; made motion has feet that never slide."""
    return f"{value:.2f}" + (f" ({value / recorded:.2f} × recorded)" if recorded > 0.01 else " (recorded: 0)")


def crowd(policy: SteerPolicy, pool: FramePool) -> None:
    """What a hundred characters take of a core."""
    many = Crowd(policy, pool)
    rng = np.random.default_rng(2)
    for _ in range(100):
        many.add(*rng.uniform(-20, 20, 2), rng.uniform(-3, 3), line_goal(0.0, 0.0, float(rng.uniform(-3, 3))))
    for _ in range(60):
        many.tick(1 / 60)
    began, ticks = time.process_time(), 600 // min(QUICK, 3)
    slowest = 0.0
    for _ in range(ticks):
        now = time.process_time()
        many.tick(1 / 60)
        slowest = max(slowest, time.process_time() - now)
    share = (time.process_time() - began) / (ticks / 60)
    print(f"100 characters at 60 Hz: {share:.0%} of a core, slowest tick {1000 * slowest:.1f} ms (bar 50 %)")


def latency(policy: SteerPolicy, pool: FramePool) -> None:
    """How long after a key press the motion is another."""
    taken = []
    for seed in range(60 // min(QUICK, 4)):
        ways = []
        for press in (False, True):
            crowd = walker(policy, pool, line_goal(0.0, 0.0, 0.0), 3.0, seed)
            x, _, z = crowd.poses().root_pos[0]
            if press:
                side = 1 if seed % 2 else -1
                crowd.characters[0].set_goal(line_goal(float(x), float(z), side * math.pi / 2))
            ways.append(np.concatenate([[[x, z]], follow(crowd, 2.0)]))
        a, b = (np.diff(way, axis=0) * RATE @ np.array([1, 1j]) for way in ways)
        angle = np.abs(np.angle(b * a.conj())) > math.radians(10)
        other = angle | (np.abs(np.abs(b) - np.abs(a)) > 0.1)
        taken.append(other.argmax() / RATE if other.any() else 2.0)
    print(
        f"from key press to changed motion: median {np.median(taken):.2f} s, "
        f"90 % {np.percentile(taken, 90):.2f} s (bar 0.5 s)"
    )


if __name__ == "__main__":
    main()
