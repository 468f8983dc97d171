"""The page's geometry of paths, run by the same engine that browsers have, without a page."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
Line = list[tuple[float, float]]


@pytest.fixture(scope="module")
def node() -> str:
    """Node, from the virtual environment or the system."""
    found = shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node")
    if found is None:
        pytest.skip("node is not installed; `make page` installs it")
    return found


def run(node: str, expression: str, **given: Any) -> Any:
    """What an expression over the functions of panels/path.ts gives."""
    script = (
        f"import * as path from {json.dumps((ROOT / 'web/src/panels/path.ts').as_uri())};"
        f"const given = {json.dumps(given)};"
        f"const {{ {', '.join(given)} }} = given;"
        f"console.log(JSON.stringify({expression}));"
    )
    done = subprocess.run(
        [node, "--input-type=module", "--disable-warning=ExperimentalWarning", "-e", script],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def circle(radius: float = 3.0, count: int = 200) -> Line:
    """A circle from the origin."""
    return [
        (radius * (1 - math.cos(2 * math.pi * k / count)), radius * math.sin(2 * math.pi * k / count))
        for k in range(count + 1)
    ]


def test_places_along_a_line(node: str) -> None:
    line = [(0, 0), (0, 3), (4, 3)]
    assert run(node, "path.length(line)", line=line) == 7
    there = run(node, "path.at(line, 5)", line=line)
    assert there["point"] == [2, 3] and there["heading"] == pytest.approx(math.pi / 2)
    near = run(node, "path.nearest(line, [2, 3.5])", line=line)
    assert near["s"] == pytest.approx(5) and near["away"] == pytest.approx(0.5)
    assert run(node, "path.part(line, 2, 5)", line=line) == [[0, 2], [0, 3], [2, 3]]


def test_a_stroke_gets_even_points_and_keeps_its_ends(node: str) -> None:
    stroke = [(0, 0), (0, 0.7), (0.01, 0.71), (2, 0.71)]
    even = run(node, "path.even(stroke)", stroke=stroke)
    assert even[0] == [0, 0] and even[-1] == pytest.approx([2, 0.71])
    steps = [math.dist(a, b) for a, b in pairwise(even)]
    assert max(steps) <= 0.0501 and min(steps) > 0.03


def test_handles_lie_where_a_line_turns(node: str) -> None:
    corner = [(0, k / 10) for k in range(31)] + [(k / 10, 3) for k in range(1, 31)]
    assert run(node, "path.handles(line)", line=corner) == [0, 30, 60]
    marks = run(node, "path.handles(line)", line=circle())
    assert 8 <= len(marks) <= 24


def test_bending_moves_only_what_lies_between_the_handles_beside_it(node: str) -> None:
    line = circle()
    marks = run(node, "path.handles(line)", line=line)
    which = len(marks) // 2
    to = [line[marks[which]][0] + 0.5, line[marks[which]][1] - 0.25]
    bent = run(node, "path.bent(line, marks, which, to)", line=line, marks=marks, which=which, to=to)
    assert bent[marks[which]] == pytest.approx(to)
    for k, (old, new) in enumerate(zip(line, bent, strict=True)):
        if not marks[which - 1] < k < marks[which + 1]:
            assert new == pytest.approx(list(old))
    longest = max(math.dist(a, b) for a, b in pairwise(bent))
    assert longest < 0.3, "the bent line is torn"


@pytest.mark.parametrize("which", [0, 3, -1])
def test_a_handle_can_be_removed(node: str, which: int) -> None:
    line = circle()
    marks = run(node, "path.handles(line)", line=line)
    which %= len(marks)
    left = run(node, "path.without(line, marks, which)", line=line, marks=marks, which=which)
    assert left[0] == pytest.approx(list(line[marks[1] if which == 0 else 0]))
    assert left[-1] == pytest.approx(list(line[marks[-2] if which == len(marks) - 1 else -1]))
    assert max(math.dist(a, b) for a, b in pairwise(left)) < 0.3


def test_stretches_stay_on_their_part_of_a_bent_path(node: str) -> None:
    old = [(0, k) for k in range(11)]
    new = [(0, k) for k in range(5)] + [(0, 4 + 2 * k) for k in range(1, 7)]  # the second part is twice as long
    assert run(node, "path.carried(2.5, old, now)", old=old, now=new) == pytest.approx(2.5)
    assert run(node, "path.carried(5.5, old, now)", old=old, now=new) == pytest.approx(7)
    assert run(node, "path.carried(5, old, now)", old=old, now=[(0, 0), (0, 20)]) == pytest.approx(10)


def test_turning_is_by_yaw(node: str) -> None:
    turned = run(node, "path.turned(path.moved(line, [1, 2]), yaw)", line=[(0, 0), (0, 5)], yaw=math.pi / 2)
    assert turned[0] == pytest.approx([1, 2]) and turned[1] == pytest.approx([6, 2])


@pytest.mark.parametrize("aside", [0.2, 0.5, 1.0, 2.0])
def test_a_pulled_line_can_be_walked(node: str, aside: float) -> None:
    """The farther it is pulled, the more of it goes along; both ends stay, unless one is near."""
    line = [(0, k / 20) for k in range(241)]
    pulled = run(node, "path.pulled(line, 120, [aside, 6])", line=line, aside=aside)
    assert pulled[120] == pytest.approx([aside, 6]) and pulled[0] == [0, 0] and pulled[-1] == [0, 12]
    turns = [math.atan2(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(pulled)]
    steps = [math.dist(a, b) for a, b in pairwise(pulled)]
    bends = [abs(b - a) / step for (a, b), step in zip(pairwise(turns), steps, strict=False)]
    assert max(bends) < 1.2, "no tighter than a radius of about a metre"
    near = run(node, "path.pulled(line, 236, [aside, 11.8])", line=line, aside=aside)
    assert near[-1][0] > 0.9 * aside and near[0] == [0, 0]
