"""Problem: a requirement that the finished motion misses, a doubt about it, or a fact about the search; by kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import ConfigDict, computed_field

from choreograph.motion.clip import Clip


class Severity(StrEnum):
    """How much a problem matters."""

    MISSED = "missed"
    """The request asks for it and the motion does not do it: exit code 3."""
    WARNING = "warning"
    """The motion may be worse than its metrics say; it never changes the exit code."""
    NOTE = "note"
    """A fact about the search or the input; it never changes the exit code."""


class ProblemKind(StrEnum):
    """What a problem is about; `KINDS` has the severity, the meaning and the sentence of each."""

    PATH_MISSED = "path_missed"
    PATH_INCOMPLETE = "path_incomplete"
    PATH_OVERRUN = "path_overrun"
    POSITION_MISSED = "position_missed"
    FACING_MISSED = "facing_missed"
    HEADING_MISSED = "heading_missed"
    JOINT_MISSED = "joint_missed"
    VELOCITY_MISSED = "velocity_missed"
    POSE_MISSED = "pose_missed"
    TURN_MISSED = "turn_missed"
    ANGLE_MISSED = "angle_missed"
    DISTANCE_MISSED = "distance_missed"
    OFFSET_MISSED = "offset_missed"
    VIEW_MISSED = "view_missed"
    CONTACT_MISSED = "contact_missed"
    SPEED_MISSED = "speed_missed"
    TURN_RATE_MISSED = "turn_rate_missed"
    OFF_SPOT = "off_spot"
    LABEL_MISSED = "label_missed"
    PAUSE_SHORT = "pause_short"
    FEET_UNPLANTED = "feet_unplanted"
    ROOT_GLIDE = "root_glide"
    COLLISION = "collision"
    STEP_FORBIDDEN = "step_forbidden"
    STONE_MISSED = "stone_missed"
    WAYPOINT_MISSED = "waypoint_missed"
    TOO_FAST = "too_fast"
    TURN_TOO_TIGHT = "turn_too_tight"
    AIRBORNE = "airborne"
    HANDS_APART = "hands_apart"
    SEGMENT_MISSED = "segment_missed"
    NOT_CONVERGED = "not_converged"
    TORQUE_LIMIT = "torque_limit"
    PHYSICS_VIOLATED = "physics_violated"
    POSE_UNNATURAL = "pose_unnatural"
    KEY_TIME_MISSED = "key_time_missed"
    RATE_MISSED = "rate_missed"
    GRAVITY_CHANGED = "gravity_changed"
    NO_LOOP = "no_loop"
    LIMB_MISMATCH = "limb_mismatch"
    JOINT_UNMAPPED = "joint_unmapped"
    FADE_SHORT = "fade_short"
    FACE_MISSED = "face_missed"
    EXAMPLES_WEAK = "examples_weak"
    PHYSICS_SKIPPED = "physics_skipped"
    FRAME_RATE_SUSPECT = "frame_rate_suspect"
    NO_GROUND = "no_ground"
    OUT_OF_RANGE = "out_of_range"
    FEWER_ANSWERS = "fewer_answers"
    CLIPS_EXCLUDED = "clips_excluded"
    LIBRARY_SAMPLED = "library_sampled"
    INPUT_REPAIRED = "input_repaired"
    TURN_REMOVED = "turn_removed"

    @property
    def severity(self) -> Severity:
        """How much problems of the kind matter."""
        return KINDS[self].severity


class KindFacts(NamedTuple):
    """What all problems of a kind share."""

    severity: Severity
    meaning: str
    """What was measured, for the reference."""
    sentence: str
    """With the facts of a problem in braces; an amount takes its unit after a colon, "share" or "count"."""


_M, _W, _N = Severity.MISSED, Severity.WARNING, Severity.NOTE
_K = ProblemKind
KINDS: Mapping[ProblemKind, KindFacts] = {
    _K.PATH_MISSED: KindFacts(_M, "The root is too far from the path.", "Path error {error}; limit {limit}."),
    _K.PATH_INCOMPLETE: KindFacts(
        _M, "The motion ends before the path does.", "Path not completed: {left:m} of {length:m} missing."
    ),
    _K.PATH_OVERRUN: KindFacts(
        _M,
        "The motion goes on after the end of the path.",
        "Motion goes on for {beyond:m} after the end of the path.",
    ),
    _K.POSITION_MISSED: KindFacts(
        _M, "The root, or a body, is too far from its target.", "{what} is {got} from its target{at}."
    ),
    _K.FACING_MISSED: KindFacts(
        _M, "The torso points in another direction.", "{what} faces {off:°} off{at}; allowed {tolerance}."
    ),
    _K.HEADING_MISSED: KindFacts(
        _M, "The root travels in another direction.", "{what} travels {off:°} off its heading{at}; allowed {tolerance}."
    ),
    _K.JOINT_MISSED: KindFacts(_M, "A joint is too far from its target.", "{what} is {got} from its target{at}."),
    _K.VELOCITY_MISSED: KindFacts(
        _M, "A joint moves with another velocity.", "{what} moves {got} off its velocity{at}."
    ),
    _K.POSE_MISSED: KindFacts(_M, "The pose differs from the one given.", "{what} differs by {got}{at} from {of}."),
    _K.TURN_MISSED: KindFacts(_M, "A joint is turned another way.", "{what} is turned {got} off{at}."),
    _K.ANGLE_MISSED: KindFacts(_M, "A joint is bent otherwise.", "{what} bends {got} instead of {asked}{at}."),
    _K.DISTANCE_MISSED: KindFacts(
        _M, "Two joints are nearer or farther apart.", "{what}: {got} apart instead of {asked}{at}."
    ),
    _K.OFFSET_MISSED: KindFacts(_M, "A joint is elsewhere, seen from another.", "{what} is {got} off its offset{at}."),
    _K.VIEW_MISSED: KindFacts(_M, "A camera sees a joint elsewhere.", "{what} is {got} off in the picture{at}."),
    _K.CONTACT_MISSED: KindFacts(_M, "A foot or hand moves during a contact.", "{what} slips {got}{at}."),
    _K.SPEED_MISSED: KindFacts(_M, "The root is slower or faster.", "Speed {got} instead of {asked}{at}."),
    _K.TURN_RATE_MISSED: KindFacts(
        _M, "The character turns slower or faster.", "Turns at {got} instead of {asked}{at}."
    ),
    _K.OFF_SPOT: KindFacts(
        _M,
        "The character leaves the position where it turns.",
        "Turning, the character is up to {got} from its position; allowed {tolerance}.",
    ),
    _K.LABEL_MISSED: KindFacts(
        _M,
        "Too few frames have the label.",
        '{share:share} of the frames{at} have the label "{label}"; required {need:share}.',
    ),
    _K.PAUSE_SHORT: KindFacts(
        _M, "The character stands still for less time.", "Pause too short: {got} of {asked}{at}."
    ),
    _K.FEET_UNPLANTED: KindFacts(
        _M, "No foot is planted, though one is in the recordings.", "No foot is planted for {got}{at}."
    ),
    _K.ROOT_GLIDE: KindFacts(
        _M,
        "The root moves in a way that its steps do not explain.",
        "{what} glides at up to {got}; visible above {tolerance}.",
    ),
    _K.COLLISION: KindFacts(_M, "The body touches something, or comes too near.", "{what} is {how} {item}{at}."),
    _K.STEP_FORBIDDEN: KindFacts(_M, "A foot stands where none may.", "A foot stands {depth:m} inside {item}{at}."),
    _K.STONE_MISSED: KindFacts(_M, "No foot steps on a stone.", "No foot reaches {item}; closest {got}."),
    _K.WAYPOINT_MISSED: KindFacts(_M, "The root misses a waypoint.", "{item} is not passed; closest {got}."),
    _K.TOO_FAST: KindFacts(
        _M, "More speed than any example has.", "{what} moves at {speed}{at}; fastest example {nearest}."
    ),
    _K.TURN_TOO_TIGHT: KindFacts(
        _M, "More sideways acceleration than people use.", "Lateral acceleration {got}{at}; limit {asked}."
    ),
    _K.AIRBORNE: KindFacts(
        _M,
        "The feet are higher, or in the air for longer, than recorded.",
        "{what} {got}{at}; recordings reach {nearest}.",
    ),
    _K.HANDS_APART: KindFacts(_M, "Hands do not hold what they held when recorded.", "Hand contact lost: {lost}."),
    _K.SEGMENT_MISSED: KindFacts(_M, "Another segment plays at a time.", "{playing}{at} instead of segment {names}."),
    _K.NOT_CONVERGED: KindFacts(
        _M, "The solver stopped before its answer was exact.", "Solver stopped after {count:count} iterations{broken}."
    ),
    _K.TORQUE_LIMIT: KindFacts(
        _M, "A joint would need more torque than people have.", "Needs {got} at {joint}; limit {asked}."
    ),
    _K.PHYSICS_VIOLATED: KindFacts(_M, "A check of the mechanics fails.", "{what} by {got}; limit {tolerance}."),
    _K.POSE_UNNATURAL: KindFacts(
        _M, "Legs are bent as in no example.", "Legs bend {got} beyond every example; limit {tolerance}."
    ),
    _K.KEY_TIME_MISSED: KindFacts(
        _M, "A frame plays at another time.", "Frame {frame} plays at {got:time} instead of {asked:time}."
    ),
    _K.RATE_MISSED: KindFacts(_M, "Frames play at another rate.", "Frames {frames} play at {got} instead of {asked}."),
    _K.GRAVITY_CHANGED: KindFacts(_M, "A jump falls too fast or too slowly.", "{what}."),
    _K.NO_LOOP: KindFacts(_M, "No part of the motion repeats.", "{what}."),
    _K.LIMB_MISMATCH: KindFacts(
        _M, "Bones point another way than recorded.", "{what} directions are {got} off on average."
    ),
    _K.JOINT_UNMAPPED: KindFacts(_M, "No joint is known for a role.", "No joint of {whose} for {roles}."),
    _K.FADE_SHORT: KindFacts(_M, "A layer never has its full weight.", "Overlay reaches {got:share} weight."),
    _K.FACE_MISSED: KindFacts(_M, "The face is another than asked.", "{what} is {got} off{at}."),
    _K.EXAMPLES_WEAK: KindFacts(_W, "The examples say little about what is asked.", "{what}."),
    _K.PHYSICS_SKIPPED: KindFacts(_W, "The physics pass changed nothing, or less.", "Physics pass left {what}: {why}."),
    _K.FRAME_RATE_SUSPECT: KindFacts(
        _W,
        "Bodies fall too fast or too slowly for the frame rate.",
        "The body falls at {got} instead of {asked}: {fps} looks wrong, {rate} would explain it.",
    ),
    _K.NO_GROUND: KindFacts(_W, "No foot touches the floor.", "No foot contact found in {duration:s}."),
    _K.OUT_OF_RANGE: KindFacts(_W, "An input was limited to the trained range.", "{what}."),
    _K.FEWER_ANSWERS: KindFacts(
        _N, "Fewer different answers exist than asked.", "{got:count} of {asked:count} different answers found."
    ),
    _K.CLIPS_EXCLUDED: KindFacts(
        _N, "Clips are not used.", "{number:count} of {total:count} clips cannot be used: {names}."
    ),
    _K.LIBRARY_SAMPLED: KindFacts(
        _N,
        "A large library was sampled.",
        "Used {number:count} of {total:count} clips ({used:count} of {have:count} min).",
    ),
    _K.INPUT_REPAIRED: KindFacts(_N, "Missing or wrong input was repaired.", "{what}."),
    _K.TURN_REMOVED: KindFacts(_N, "The heading change of a cycle was taken out.", "Removed a turn of {off:°}."),
}
"""One row for each kind: severity, meaning, sentence."""


@dataclass(frozen=True)
class Advice:
    """A value of a field that is known to help: the code has tried or computed it."""

    field: str
    value: Any


@dataclass(frozen=True)
class Problem:
    """Something that the request asks for and the finished motion does not do; or a doubt, or a note."""

    kind: ProblemKind
    text: str
    """A sentence: what is so, what was asked, and a remedy where it was checked."""
    where: str = ""
    """The field of the request that it is about: "body[1].position"; empty if it is about the whole."""
    asked: float | None = None
    got: float | None = None
    nearest: float | None = None
    """The nearest possible value to what was asked, where that is known."""
    tolerance: float | None = None
    """The largest difference that does not count."""
    unit: str = ""
    at_s: float | None = None
    """When it shows in the motion."""
    place: tuple[float, float, float] | None = None
    """Where on the stage it shows, metres."""
    metric: str = ""
    """The metric of the answer that measures it too."""
    advice: tuple[Advice, ...] = ()

    __pydantic_config__ = ConfigDict(extra="ignore", json_schema_serialization_defaults_required=True)

    @classmethod
    def of(cls, kind: ProblemKind, where: str = "", /, **facts: Any) -> Problem:
        """A problem with the sentence of its kind.

        >>> print(Problem.of(ProblemKind.SPEED_MISSED, "speed_m_s", asked=2.0, got=1.234, unit="m/s", at_s=3.0).text)
        Speed 1.2 m/s instead of 2 m/s at 3.0 s.

        Args:
            kind: Gives the sentence, and with it which words `facts` must have.
            where: The field that it is about.
            facts: Fields of a problem, and words of the sentence; `at_m` is a length along a path, `span` words for
                several moments, `more` another sentence: causes and remedies that were checked.
        """
        more = facts.pop("more", "")
        own = {name: facts.pop(name) for name in tuple(facts) if name in cls.__dataclass_fields__}
        for name in ("asked", "got", "nearest", "tolerance", "at_s"):
            if own.get(name) is not None:
                own[name] = round(float(own[name]), 4)
        unit = own.get("unit", "")
        amounts = {
            name: _Amount(own[name], unit, 3 if name in ("asked", "tolerance") else 2)
            for name in ("asked", "got", "nearest", "tolerance")
            if own.get(name) is not None
        }
        words = {name: _Amount(value) if isinstance(value, int | float) else value for name, value in facts.items()}
        text = KINDS[kind].sentence.format_map({"at": _at(own.get("at_s"), facts), **amounts, **words})
        return cls(kind, " ".join([text[0].upper() + text[1:], *([more] if more else [])]), where, **own)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def severity(self) -> Severity:
        """Whether it counts as missed."""
        return self.kind.severity

    @property
    def missed(self) -> bool:
        """Whether the request asks for it and the motion does not do it."""
        return self.severity is Severity.MISSED

    def as_json(self) -> dict[str, Any]:
        """As plain values, without what is not known."""
        plain = {"kind": str(self.kind), "severity": str(self.severity), **vars(self)}
        plain["advice"] = [vars(one) for one in self.advice] or None
        return {name: value for name, value in finite(plain).items() if value not in (None, "")}


def amount(value: float, unit: str, digits: int = 2) -> str:
    """A number with its unit, as people say it: centimetres below a metre, millimetres below a centimetre.

    >>> amount(0.1234, "m"), amount(0.0034, "m"), amount(12.34, "°"), amount(3.0, "m/s")
    ('12 cm', '3.4 mm', '12°', '3 m/s')

    Args:
        value: In the unit.
        unit: Such as "m", "°", "m/s".
        digits: Significant ones.
    """
    if unit == "m" and abs(value) < 1:
        value, unit = (1000 * value, "mm") if abs(value) < 0.01 else (100 * value, "cm")
    elif unit == "m/s" and abs(value) < 0.1:
        value, unit = 100 * value, "cm/s"
    whole = abs(value) >= 10**digits - 0.5
    text = f"{value:.0f}" if whole else f"{value:.{digits}g}"
    return f"{text}{'' if unit.startswith('°') else ' '}{unit}" if unit else text


def moment(clip: Clip, frame: int) -> dict[str, Any]:
    """When and where on the floor a frame of a clip is, as fields of a problem."""
    frame = min(max(frame, 0), len(clip) - 1)
    x, _, z = clip.root_pos[frame]
    return {"at_s": frame / clip.fps, "place": (round(float(x), 3), 0.0, round(float(z), 3))}


def finite(value: Any) -> Any:
    """Plain values with None for numbers that are none: JSON has no word for them, and strict readers refuse files."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return value


class _Amount(NamedTuple):
    """A number of a sentence: `{got}` shows it in its own unit, `{left:m}` in metres, `{got:share}` in percent."""

    value: float
    unit: str = ""
    digits: int = 2

    def __format__(self, spec: str) -> str:
        if spec == "share":
            return f"{100 * self.value:.0f} %"
        if spec == "count":
            return f"{self.value:.0f}"
        if spec == "time":
            return f"{self.value:.2f} s"
        return amount(self.value, spec or self.unit, self.digits)


def _at(at_s: float | None, facts: Mapping[str, Any]) -> str:
    """When or where along the path: " at 20.0 m"."""
    if "span" in facts:
        return f" {facts['span']}"
    if "at_m" in facts:
        return f" at {float(facts['at_m']):.1f} m"
    return "" if at_s is None else f" at {at_s:.1f} s"


__all__ = ["KINDS", "Advice", "KindFacts", "Problem", "ProblemKind", "Severity", "amount", "finite", "moment"]
