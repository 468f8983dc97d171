"""Floor plans as SVG: layers by name become parts of a scene."""

from __future__ import annotations

from pathlib import Path

import pytest

import choreograph as cg
from choreograph.verbs.plan.request import PlanRequest

PLAN = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape">
<g id="start"><line x1="0" y1="0" x2="0" y2="50"/></g>
<g inkscape:label="Goal" id="layer2"><circle cx="100" cy="500" r="30"/></g>
<g id="obstacles"><circle cx="50" cy="200" r="40"/>
<rect x="-200" y="300" width="100" height="50" data-height="0.8"/></g>
<g id="Keep off"><polygon points="0,0 10,0 10,10"/></g>
<g id="bars" transform="translate(0,100)"><line x1="-100" y1="0" x2="100" y2="0" data-height="1.3"/></g>
<g id="through"><line x1="-100" y1="250" x2="100" y2="250"/></g>
<g id="notes"><rect x="0" y="0" width="5" height="5"/></g>
</svg>"""


def read(tmp_path: Path, text: str) -> PlanRequest:
    (tmp_path / "plan.svg").write_text(text)
    return PlanRequest(scene={"drawing": "plan.svg"}).resolved(tmp_path)


def test_layers_become_parts(tmp_path: Path) -> None:
    request = read(tmp_path, PLAN)
    assert request.start.place == (0.0, 0.0) and request.start.facing_deg == 0.0
    assert request.end.place == pytest.approx((1.0, 5.0), abs=1e-3)
    assert request.end.radius == pytest.approx(0.3, abs=1e-3)
    scene = request.scene
    pillar, low, bar = scene.obstacles
    assert pillar.radius_m == pytest.approx(0.4, abs=1e-3) and pillar.height_m is None
    assert low.height_m == 0.8 and len(low.outline) == 4
    assert len(scene.keep_off) == 1 and bar.base_m == 1.3 and bar.ends is not None
    assert bar.ends[0] == pytest.approx((-1.0, 1.0)) and scene.drawing == ""
    assert len(request.waypoints) == 1 and request.waypoints[0].ends is not None


def test_what_the_request_says_counts_first(tmp_path: Path) -> None:
    (tmp_path / "plan.svg").write_text(PLAN)
    request = PlanRequest(goals=[{"place": (0.0, 9.0)}], scene={"drawing": "plan.svg"}).resolved(tmp_path)
    assert request.end.place == (0.0, 9.0) and len(request.scene.obstacles) == 3 and len(request.goals) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<svg><g id="walls"><rect width="5" height="5"/></g></svg>', "no layer that is named .*layers found: walls"),
        ("<svg><rect width='5' height='5'/></svg>", "layers found: none"),
        ("<svg><g id='bars'><line x2='9'/></g></svg>", "needs data-height"),
        (
            "<svg><g id='gaps'><polygon points='0,0 9,9 9,0 0,9'/></g></svg>",
            "layer gaps: .*enclose nothing|crossing sides",
        ),
        ("<svg><g id='gaps'><polygon points='0,0 900,900 900,0 0,800'/></g></svg>", "crossing sides"),
        ("<svg><g id='goal'>", "no whole SVG file"),
        ("<html/>", "no SVG file"),
    ],
)
def test_bad_drawings_are_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(cg.RequestError, match=said) as caught:
        read(tmp_path, text)
    assert caught.value.where == "scene.drawing"


def test_a_drawing_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(cg.RequestError, match="cannot be read"):
        PlanRequest(scene={"drawing": "none.svg"}).resolved(tmp_path)
