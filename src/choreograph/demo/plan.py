"""Plans: what the demo figure is to do, as a few keys over time, and the smooth curves that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.demo.curves import Keys, glide, integral, smoothstep
from choreograph.demo.model import load_model

MARGIN_S = 1.1
"""Seconds that are made before and after a clip and cut off again, so that its ends are in the middle of a motion."""
FINE_HZ = 480.0
"""Rate at which phase, heading and path are integrated: far above any frame rate, so that none shows in the motion."""
REST_PHASE = 0.04
"""Share of a cycle after a foot's strike at which standing freezes the phase: both feet down, the other goes next."""
STAND_SPEED = 0.75
"""Metres a second below which walking gives way to standing."""


SHUFFLE_PHASES = np.array([0.45, 0.55, 0.95, 1.05])
"""Contact phases, in cycles, of a foot that steps in place or to the side."""
SHUFFLE_HZ = 0.9
"""Such steps of one foot a second."""


@dataclass(frozen=True)
class Jumping:
    """A jump within a plan."""

    kind: str
    """"place", "high" or "forward"."""
    start: float
    """Second at which the crouch begins."""


@dataclass(frozen=True)
class ClipPlan:
    """One clip to be made."""

    name: str
    seconds: float
    speed: Keys = ((0.0, 0.0),)
    """Metres a second along the path."""
    turn: Keys = ((0.0, 0.0),)
    """Turning rate, radians a second; positive turns left, towards +x from +z."""
    run: Keys = ((0.0, 0.0),)
    """0 walks, 1 runs."""
    side: Keys = ((0.0, 0.0),)
    """Metres a second to the left, for side steps."""
    go: float | None = None
    """Second at which a standing figure begins to step."""
    halt: float | None = None
    """Second at which the last foot is down."""
    first: str = "left"
    """The foot that steps first after `go`, or the one that lands last before `halt` where there is no `go`."""
    strides: float | None = None
    """Whole cycles between `go` and `halt`, where both are given."""
    jumps: tuple[Jumping, ...] = ()
    labels: tuple[tuple[str, float, float], ...] = ()
    """Words and the seconds they hold for."""
    seed: int = 0
    """Of the slow sway that keeps one clip from being the copy of another."""
    shuffle: bool = False
    """Steps in place or to the side: one foot, then the other, each with a rest between."""
    tags: tuple[str, ...] = field(default=())
    """Words that hold for the whole clip."""


@dataclass(frozen=True, eq=False)
class Course:
    """A plan's curves, sampled at frame times with margins."""

    times: Floats
    """Seconds, (F,); the clip itself is [0, seconds)."""
    speed: Floats
    turn: Floats
    accel: Floats
    run: Floats
    side: Floats
    stand: Floats
    """1 where the figure stands, 0 where it walks or runs."""
    phase: Floats
    """Gait phase, radians."""
    heading: Floats
    """Direction of travel, yaw in radians."""
    place: Floats
    """The point on the floor that the body is carried over, (F, 2) x and z."""
    contact_phases: Floats
    """Heel strike, foot flat, heel off, toe off of the left foot in cycles, (F, 4)."""


def lay_out(plan: ClipPlan, fps: float) -> Course:
    """The curves of a plan at a frame rate."""
    model = load_model()
    count = round(plan.seconds * fps)
    margin = int(np.ceil(MARGIN_S * fps))
    times = np.arange(-margin, count + margin) / fps
    fine = np.arange(times[0] - 0.1, times[-1] + 0.1, 1 / FINE_HZ)
    speed, turn, run, side = (glide(k, fine) for k in (plan.speed, plan.turn, plan.run, plan.side))
    heading = integral(turn, fine)
    forward = np.stack([np.sin(heading), np.cos(heading)], 1)
    left = np.stack([np.cos(heading), -np.sin(heading)], 1)
    velocity = speed[:, None] * forward + side[:, None] * left
    place = np.stack([integral(velocity[:, 0], fine), integral(velocity[:, 1], fine)], 1)
    phase = _phase(plan, fine, speed, run)
    if plan.shuffle:
        contacts = np.tile(SHUFFLE_PHASES, (len(fine), 1))
    else:
        share = run[:, None]
        contacts = (1 - share) * model.walk.contact_phases(speed) + share * model.run.contact_phases(speed)

    def sampled(values: Floats) -> Floats:
        if values.ndim == 1:
            return np.interp(times, fine, values)
        return np.stack([np.interp(times, fine, v) for v in values.T], 1)

    return Course(
        times=times,
        speed=sampled(speed),
        turn=sampled(turn),
        accel=sampled(np.gradient(speed, fine)),
        run=sampled(run),
        side=sampled(side),
        stand=sampled(1 - smoothstep(speed / STAND_SPEED)),
        phase=sampled(phase),
        heading=sampled(heading),
        place=sampled(place),
        contact_phases=sampled(contacts),
    )


def _phase(plan: ClipPlan, times: Floats, speed: Floats, run: Floats) -> Floats:
    """Gait phase over time: at the speed's cadence, frozen while the figure stands."""
    model = load_model()
    moving = np.ones_like(times)
    # A tenth of a second to set the legs going or to bring them to rest.
    going = smoothstep((times - plan.go) / 0.12) if plan.go is not None else moving
    halting = smoothstep((plan.halt - times) / 0.12) if plan.halt is not None else moving
    if plan.go is not None and plan.halt is not None and plan.halt < plan.go:
        moving = going + halting
    else:
        moving = going * halting
    if plan.go is None and plan.halt is None and not speed.any():
        moving = np.zeros_like(times)
    if plan.shuffle:
        rate = np.full_like(times, SHUFFLE_HZ)
    else:
        rate = (1 - run) * model.walk.strides_per_second(speed) + run * model.run.strides_per_second(speed)
    cycles = integral(rate * moving, times)
    rest = 0.0 if plan.shuffle else REST_PHASE
    left = plan.first == "left"
    if plan.go is not None and (plan.halt is None or plan.go < plan.halt):
        cycles -= np.interp(plan.go, times, cycles)
        if plan.halt is not None and plan.strides is not None:
            cycles *= plan.strides / np.interp(plan.halt, times, cycles)
        cycles += rest + (0.5 if left != plan.shuffle else 0.0)
    elif plan.halt is not None:
        cycles += rest + (0.0 if left else 0.5) - np.interp(plan.halt, times, cycles)
    return np.asarray(2 * np.pi * cycles)
