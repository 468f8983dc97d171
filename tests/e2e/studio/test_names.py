"""Small parts of the page without a page, run by the engine that browsers have: names that tell results apart, the way
of a root, a film's frame rate."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import numpy as np
import pytest
from tests.e2e.studio.test_paths import ROOT, node

from choreograph.demo import demo_clip
from choreograph.motion.bend import way_of

__all__ = ["node"]


def run(node: str, file: str, expression: str, **given: Any) -> Any:
    """What an expression over the functions of one of the page's modules gives."""
    script = (
        f"import * as page from {json.dumps((ROOT / 'web/src' / file).as_uri())};"
        f"const {{ {', '.join(given)} }} = {json.dumps(given)};"
        f"console.log(JSON.stringify({expression}));"
    )
    command = [node, "--input-type=module", "--disable-warning=ExperimentalWarning", "-e", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names(node: str, *requests: dict[str, Any], given: dict[str, str] | None = None, **facts: Any) -> list[str]:
    """The names of results of these requests, the newest first."""
    results = [
        {"id": f"r{k}", "verb": "follow", "name": "10.0 m", "request": one, "subject": None, "answer": 1, **facts}
        for k, one in enumerate(requests)
    ]
    words = "{ field: (name) => name.replace(/_[a-z]+$/, ''), motion: (name) => name.replace('clip:c1', 'brisk') }"
    found = run(
        node, "naming.ts", f"[...page.namesOf(results, given, {words}).values()]", results=results, given=given or {}
    )
    assert isinstance(found, list)
    return found


def test_results_are_named_by_what_differs(node: str) -> None:
    assert names(node, {"points": [[0, 0], [0, 10]]}) == ["10.0 m"], "alone, a name needs no more"
    walk = {"points": [[0, 0], [0, 10]], "smooth_m": 0.3}
    found = names(node, {**walk, "seed": 3}, {**walk, "finish": {"blend": "linear"}}, walk)
    assert found == ["10.0 m · seed 3", "10.0 m · blend linear", "10.0 m"]
    stretch = {"start_m": 3.33, "end_m": 6.67}
    found = names(
        node, {**walk, "goals": [{**stretch, "label": "run"}]}, {**walk, "goals": [{**stretch, "pause_s": 2}]}
    )
    assert found == ["10.0 m · label run", "10.0 m · pause 2"], "where it is the same is not said"
    assert names(node, {**walk, "bend": False}, walk) == ["10.0 m · no bend", "10.0 m"]
    like = names(node, {"like": ["clip:c1"]}, {})
    assert like == ["10.0 m · like brisk", "10.0 m"]
    keys = names(node, {"keys": {"20": 0.5}}, {"keys": {"20": 0.7}})
    assert keys == ["10.0 m · frame 20 at 0.5", "10.0 m · frame 20 at 0.7"]


def test_what_differs_in_no_word_gets_a_number(node: str) -> None:
    assert names(node, {"points": [[0, 0], [10, 0]]}, {"points": [[0, 0], [0, 10]]}) == ["10.0 m (2)", "10.0 m"]
    many = names(node, *({"seed": k, "count": k, "speed_m_s": k, "smooth_m": k} for k in (1, 2)))
    assert many == ["10.0 m · seed 1 · count 1 · …", "10.0 m · seed 2 · count 2 · …"]
    feet = [{"foot": "left", "facing_deg": k} for k in range(4)]
    assert names(node, {"goals": feet}, {"goals": []}) == ["10.0 m · 4 goals", "10.0 m"]
    moved = names(node, {"goals": [*feet[:3], {"foot": "left", "facing_deg": 9}]}, {"goals": feet})
    assert moved == ["10.0 m · facing 9", "10.0 m · facing 3"], "as many as before: what is another is said"
    assert names(node, {}, {}, given={"r0": "the good one"}) == ["the good one", "10.0 m"]


def test_the_way_of_a_root_is_that_of_bending(node: str) -> None:
    clip = demo_clip("walk_veer_left", 30.0)
    places = clip.root_pos[:, [0, 2]].tolist()
    found = np.array(run(node, "panels/way.ts", "page.wayOf(places, fps)", places=places, fps=clip.fps))
    np.testing.assert_allclose(found, way_of(clip).places, atol=1e-6)
    short = run(node, "panels/way.ts", "page.wayOf([[0, 0], [1, 2]], 30)")
    assert np.array(short) == pytest.approx(np.array([[0, 0], [1, 2]]), abs=0.6)
    along = [k / 10 for k in range(101)]
    assert run(node, "panels/way.ts", "page.spaced(along, 2.5, 16)", along=along) == [0, 25, 50, 75, 100]
    assert run(node, "panels/way.ts", "page.spaced(along, 0.1, 4)", along=along) == [0, 25, 50, 75, 100]


@pytest.mark.parametrize("rate", [12.0, 23.976, 25.0, 29.97, 50.0, 60.0])
def test_a_films_rate_is_that_of_its_frames(node: str, rate: float) -> None:
    """As files have times: in thousandths; and as slow computers show frames: not all."""
    times = [round(k / rate, 3) for k in range(40)]
    assert run(node, "panels/filmrate.ts", "page.rateOf(times)", times=times) == pytest.approx(rate, abs=0.05)
    some = [time for k, time in enumerate(times) if k % 7 not in (2, 3)]
    assert run(node, "panels/filmrate.ts", "page.rateOf(times)", times=some) == pytest.approx(rate, abs=0.05)
    assert run(node, "panels/filmrate.ts", "page.rateOf([0.04])") is None
    assert run(node, "panels/filmrate.ts", "page.rateOf([0.2, 1.5, 2.7])") is None, "nobody knows what lies between"
    few = [round(k / rate, 3) for k in (5, 6, 7, 8, 9, 17, 41, 113)]
    assert run(node, "panels/filmrate.ts", "page.rateOf(times)", times=few) == pytest.approx(rate, abs=0.05)
