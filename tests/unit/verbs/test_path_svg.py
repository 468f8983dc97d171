from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from choreograph.base.errors import FormatError
from choreograph.scene import path_svg, svg_lines
from choreograph.scene.path_svg import svg_points
from choreograph.scene.svg_lines import TOLERANCE, Affine, Pen, Scanner, check_length, parse_transform


def drawn(body, *, root="", **options):
    points, _, _ = svg_points(
        f'<svg xmlns="http://www.w3.org/2000/svg" {root}>{body}</svg>'.encode(), scale=1.0, **options
    )
    return points


def path_points(commands):
    return drawn(f'<path d="{commands}"/>')


def distance_to_polyline(points, line):
    """Largest distance of any of the points to a polyline, complex."""
    a, b = line[:-1], line[1:]
    keep = a != b
    a, along = a[keep], (b - a)[keep]
    share = np.clip(((points[:, None] - a) * along.conj()).real / np.abs(along) ** 2, 0, 1)
    return np.abs(a + share * along - points[:, None]).min(axis=1).max()


@pytest.mark.parametrize(
    ("commands", "corners"),
    [
        ("M1 2L3 4", [1 + 2j, 3 + 4j]),
        ("M1,2 3,4 5,6", [1 + 2j, 3 + 4j, 5 + 6j]),
        ("m1 2 3 4l1-1", [1 + 2j, 4 + 6j, 5 + 5j]),
        ("M1 2H5V7h-1v-1", [1 + 2j, 5 + 2j, 5 + 7j, 4 + 7j, 4 + 6j]),
        ("M0 0L1.5.5-1-.5e1", [0, 1.5 + 0.5j, -1 - 5j]),
        ("M0 0 4 0 4 4Z", [0, 4, 4 + 4j, 0]),
        ("M0 0 4 0 4 4zl9 9", [0, 4, 4 + 4j, 0]),
        (" M0\n0\tL 1 , 1 ", [0, 1 + 1j]),
        ("M5 5M0 0L1 1", [0, 1 + 1j]),
        ("M0 0L0 0M2 2L3 3", [2 + 2j, 3 + 3j]),
        ("M0 0A0 5 0 0 1 3 4", [0, 3 + 4j]),
    ],
)
def test_straight_commands(commands, corners):
    np.testing.assert_allclose(path_points(commands), corners, atol=1e-12)


def cubic(t, a, b, c, d):
    return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d


def quadratic(t, a, b, c):
    return (1 - t) ** 2 * a + 2 * (1 - t) * t * b + t**2 * c


T = np.linspace(0, 1, 101)


@pytest.mark.parametrize(
    ("commands", "curve"),
    [
        ("M1 1C2 3 4 3 5 1", [cubic(T, 1 + 1j, 2 + 3j, 4 + 3j, 5 + 1j)]),
        ("M1 1c1 2 3 2 4 0", [cubic(T, 1 + 1j, 2 + 3j, 4 + 3j, 5 + 1j)]),
        (
            "M1 1C2 3 4 3 5 1S8-1 9 1",
            [cubic(T, 1 + 1j, 2 + 3j, 4 + 3j, 5 + 1j), cubic(T, 5 + 1j, 6 - 1j, 8 - 1j, 9 + 1j)],
        ),
        (
            "M1 1c1 2 3 2 4 0s3-2 4 0",
            [cubic(T, 1 + 1j, 2 + 3j, 4 + 3j, 5 + 1j), cubic(T, 5 + 1j, 6 - 1j, 8 - 1j, 9 + 1j)],
        ),
        ("M1 1S3 3 4 1", [cubic(T, 1 + 1j, 1 + 1j, 3 + 3j, 4 + 1j)]),
        ("M0 0Q2 4 4 0T8 0", [quadratic(T, 0, 2 + 4j, 4), quadratic(T, 4, 6 - 4j, 8)]),
        (
            "M0 0q2 4 4 0t4 0 4 0",
            [quadratic(T, 0, 2 + 4j, 4), quadratic(T, 4, 6 - 4j, 8), quadratic(T, 8, 10 + 4j, 12)],
        ),
        ("M0 0Q2 4 4 0L5 0T8 0", [quadratic(T, 0, 2 + 4j, 4), np.array([4, 5]), np.array([5, 8])]),
    ],
)
def test_curved_commands(commands, curve):
    points, expected = path_points(commands), np.concatenate(curve)
    assert distance_to_polyline(expected, points) <= TOLERANCE
    # The points themselves lie on the curve; the reference's own chords are what is left.
    assert distance_to_polyline(points, expected) < 1e-3
    np.testing.assert_allclose(points[[0, -1]], expected[[0, -1]], atol=1e-12)


sizes = st.floats(0.1, 50)
spots = st.complex_numbers(max_magnitude=40, allow_nan=False)


@given(spots, spots, sizes, sizes, st.floats(-400, 400), st.booleans(), st.booleans())
def test_arcs_lie_on_their_ellipse_and_go_the_right_way(start, stop, rx, ry, tilt, large, sweep):
    assume(abs(start - stop) > 0.05)
    pen = Pen(Affine())
    pen.move(start)
    pen.arc(rx, ry, tilt, large, sweep, stop)
    points = np.array(pen.points)
    np.testing.assert_allclose(points[[0, -1]], [start, stop], atol=1e-9)
    # Where the ellipse is a unit circle: turn back by the tilt, shrink by the radii.
    level = points * np.exp(-1j * math.radians(tilt))
    circle = level.real / rx + 1j * level.imag / ry
    chord = circle[-1] - circle[0]
    radius = max(1.0, abs(chord) / 2)  # an ellipse that is too small grows until it reaches
    # Of the two centres, the one on the left of the chord belongs to a small arc that turns left, or a large one right.
    beside = math.sqrt(max(0.0, radius**2 - abs(chord) ** 2 / 4)) * 1j * chord / abs(chord)
    centre = (circle[0] + circle[-1]) / 2 + (beside if large != sweep else -beside)
    np.testing.assert_allclose(np.abs(circle - centre), radius, rtol=1e-6)
    turned = np.diff(np.unwrap(np.angle(circle - centre)))
    assert (turned > 0).all() if sweep else (turned < 0).all()
    if radius == 1 and abs(beside) > 1e-3 and len(points) > 8:
        assert (abs(turned.sum()) > math.pi) == large


@settings(deadline=None, max_examples=50)
@given(spots, st.floats(0.1, 8), st.floats(0.1, 8), st.floats(-90, 90), st.tuples(*[st.floats(-3, 3)] * 6))
def test_arcs_under_any_transform_are_the_transformed_arc(stop, rx, ry, tilt, matrix):
    assume(abs(stop) > 0.05)
    plain, bent = Pen(Affine()), Pen(parse_transform(f"matrix({','.join(f'{v:.6f}' for v in matrix)})"))
    for pen in (plain, bent):
        pen.arc(rx, ry, tilt, True, False, stop)
    expected = np.array([bent.affine(p) for p in plain.points[::7]])
    assume(np.abs(np.diff(expected)).max() > 1e-3)
    assert distance_to_polyline(expected, np.array(bent.points)) <= TOLERANCE * 1.01


def test_a_chord_far_shorter_than_the_radius_is_no_circle():
    pen = Pen(Affine())
    pen.arc(1000, 1000, 0, False, True, 1e-12)
    assert abs(np.array(pen.points)).max() < 1e-11


def test_flags_may_stand_close():
    np.testing.assert_allclose(path_points("M0 0a5 5 0 013 4"), path_points("M0 0a5 5 0 0 1 3 4"))
    np.testing.assert_allclose(path_points("M0 0a5 5 0 10.5.5"), path_points("M0 0a5 5 0 1 0 0.5 0.5"))


@pytest.mark.parametrize(
    ("transform", "image"),
    [
        ("translate(3)", 4 + 2j),
        ("translate(3,4)", 4 + 6j),
        ("scale(2)", 2 + 4j),
        ("scale(2 -1)", 2 - 2j),
        ("rotate(90)", -2 + 1j),
        ("rotate(90 1 1)", 0 + 1j),
        ("skewX(45)", 3 + 2j),
        ("skewY(45)", 1 + 3j),
        ("matrix(1 2 3 4 5 6)", 12 + 16j),
        ("translate(10) , scale(2)rotate(90)", 6 + 2j),
        ("", 1 + 2j),
    ],
)
def test_transforms(transform, image):
    assert parse_transform(transform)(1 + 2j) == pytest.approx(image)


def test_groups_nest():
    line = '<line x1="1" y1="2" x2="3" transform="rotate(90)"/>'
    body = f'<g transform="translate(10 0)"><g transform="scale(2)">{line}</g></g>'
    np.testing.assert_allclose(drawn(body), [6 + 2j, 10 + 6j])


@pytest.mark.parametrize(
    ("shape", "corners"),
    [
        ('<line x1="1" y1="2" x2="3" y2="4"/>', [1 + 2j, 3 + 4j]),
        ('<polyline points="1,2 3,4 5-6"/>', [1 + 2j, 3 + 4j, 5 - 6j]),
        ('<polygon points="0 0 4 0 4 4"/>', [0, 4, 4 + 4j, 0]),
        ('<rect x="1" y="2" width="4" height="3"/>', [1 + 2j, 5 + 2j, 5 + 5j, 1 + 5j, 1 + 2j]),
        ('<line x2="1in" y2="48px"/>', [0, 96 + 48j]),
        ('<svg:line xmlns:svg="http://www.w3.org/2000/svg" x2="1"/>', [0, 1]),
    ],
)
def test_straight_shapes(shape, corners):
    np.testing.assert_allclose(drawn(shape), corners)


def test_round_shapes():
    circle = drawn('<circle cx="1" cy="2" r="3"/>')
    np.testing.assert_allclose(np.abs(circle - (1 + 2j)), 3)
    assert circle[0] == pytest.approx(4 + 2j) and circle[-1] == circle[0]
    assert np.angle(circle[1] - (1 + 2j)) > 0  # down the page first, clockwise as one sees it
    ellipse = drawn('<ellipse rx="4" ry="2"/>')
    np.testing.assert_allclose((ellipse.real / 4) ** 2 + (ellipse.imag / 2) ** 2, 1)
    rect = drawn('<rect width="10" height="6" rx="2"/>')
    by_path = path_points("M2 0H8A2 2 0 0 1 10 2V4A2 2 0 0 1 8 6H2A2 2 0 0 1 0 4V2A2 2 0 0 1 2 0Z")
    np.testing.assert_allclose(rect, by_path, atol=1e-12)
    # Radii are no larger than half the sides: this is an ellipse.
    np.testing.assert_allclose(np.abs(drawn('<rect x="-1" y="-1" width="2" height="2" rx="9" ry="9"/>')), 1)


def notes_of(svg, **options):
    points, _, notes = svg_points(svg.encode(), **options)
    return points, {note.kind: note.message for note in notes}


@pytest.mark.parametrize(
    ("root", "size", "words"),
    [
        ("", 0.01, "states none"),
        ('width="800" height="600px" viewBox="0 0 400 300"', 0.01, "states none"),
        ('width="1000cm" height="500cm" viewBox="0 0 1000 500"', 0.01, "the page's size"),
        ('width="10000mm" viewBox="0 0 100 100"', 0.1, "the page's size"),
        ('width="10000mm" height="20000mm" viewBox="0 0 100 100"', 0.1, "the page's size"),
        (
            'width="10000mm" height="20000mm" viewBox="0 0 100 100" preserveAspectRatio="xMidYMid slice"',
            0.2,
            "page's size",
        ),
        ('width="210mm" height="297mm" viewBox="0 0 210 297"', 0.01, "29.7 cm, is paper"),
        ('width="10000in"', 0.0254 / 96, "a unit is a pixel"),
    ],
)
def test_how_large_a_unit_is(root, size, words):
    points, notes = notes_of(f'<svg {root}><line x2="100" y2="50"/></svg>')
    np.testing.assert_allclose(points, [0, (100 + 50j) * size])
    assert words in notes["svg-scale"]


def test_a_page_may_be_stretched():
    root = 'width="10000mm" height="20000mm" viewBox="0 0 100 100" preserveAspectRatio="none"'
    points, notes = notes_of(f'<svg {root}><line x2="1" y2="1"/></svg>')
    np.testing.assert_allclose(points, [0, 0.1 + 0.2j])
    assert "10 cm across and 20 cm down" in notes["svg-scale"]


def test_which_line_is_taken():
    lines = '<path id="way" d="M0 0H5"/><path id="other" d="M0 0H7M0 9H3"/>'
    several = f'<svg><rect id="page" width="9" height="9"/>{lines}</svg>'
    points, notes = notes_of(several, scale=1.0)
    assert points[-1] == 5
    assert notes["svg-several-lines"].endswith("<path id='way'> was taken; choose another by its id: page, way, other")
    points, notes = notes_of(several, element="other", scale=1.0)
    assert points[-1] == 7
    assert "2 separate lines" in notes["svg-several-parts"]
    assert "svg-several-lines" not in notes
    with pytest.raises(FormatError, match="no line of the drawing has the id 'x'; ids found: page, way, other"):
        svg_points(several.encode(), element="x")


def test_what_is_not_seen_is_not_taken():
    hidden = (
        '<defs><path d="M0 0H1"/></defs><clipPath><path d="M0 0H2"/></clipPath><g display="none"><path d="M0 0H3"/></g>'
        '<g style="fill:red; display: none"><path d="M0 0H4"/></g><svg><path d="M0 0H5"/></svg><x:path d="M0 0H6"/>'
    )
    np.testing.assert_allclose(drawn(hidden + '<path d="M0 0H7"/>'), [0, 7])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "no path, line"),
        ("<text>walk</text>", "no path, line"),
        ("<path/>", "<path>: draws nothing"),
        ('<path d="M1 1"/>', "draws nothing"),
        ('<path d="L1 1"/>', "must begin with M, not L"),
        ('<path d="5 5"/>', "expected a command at character 1"),
        ('<path d="M0 0L1"/>', "ends where a number was expected"),
        ('<path id="p" d="M0 0L1 y"/>', "<path id='p'>: expected a number at character 8, found 'y'"),
        ('<path d="M0 0L1 1Z5"/>', "expected a command at character 10"),
        ('<path d="M0 0A1 1 0 2 0 3 3"/>', "expected 0 or 1"),
        ('<path d="M0 0L1e99 1"/>', "1e99 is too large"),
        ('<polyline points="1 2 3"/>', "ends where a number"),
        ('<polygon points=""/>', "draws nothing"),
        ('<rect width="0" height="4"/>', "above 0"),
        ('<circle r="-1"/>', "radius above 0"),
        ('<line x2="50%"/>', "x2 is '50%'"),
        ('<line x2="1e99"/>', "x2 is 1e99"),
        ('<line x2="1" transform="spin(3)"/>', r"<line>: the transform spin\(\) with 1 numbers is not known"),
        ('<line x2="1" transform="scale(2"/>', "not of the form"),
        ('<line x2="1" transform="scale(1e9) scale(1e9)"/>', "too large to compute"),
        ('<path d="M0 0A1e9 1e9 0 1 1 1 1"/>', "more than 1,000,000 points"),
        ("<g>" * 300 + "</g>" * 300, "nested more than 256 deep"),
        ("<path d='M0 0H1'>", "this is no whole SVG file: mismatched tag"),
    ],
)
def test_wrong_drawings_say_why(body, words):
    with pytest.raises(FormatError, match=words):
        drawn(body)


LAUGHS = '<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><svg><path d="M0 0H1" id="&b;"/></svg>'
OUTSIDE = '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg><path d="M0 0H1"/><text>&a;</text></svg>'


@pytest.mark.parametrize("content", [LAUGHS, OUTSIDE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(content, encoding):
    with pytest.raises(FormatError, match="DOCTYPE"):
        svg_points(content.encode(encoding))


def test_a_standard_doctype_is_no_harm():
    doctype = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    points, _ = notes_of(f'{doctype}<svg><path d="M0 0H1"/></svg>', scale=1.0)
    np.testing.assert_allclose(points, [0, 1])


@pytest.mark.parametrize("content", [b"", b"\0\1\2", b"<html/>", b'<?xml version="1.0" encoding="klingon"?><svg/>'])
def test_what_is_no_svg(content):
    with pytest.raises(FormatError, match="SVG"):
        svg_points(content)


def test_very_many_transforms_take_no_time():
    assert parse_transform("scale(1)" * 50_000)(1) == 1


@pytest.fixture
def reads(monkeypatch):
    """How often a segment's numbers were read, as a list that grows."""
    calls = []
    read = Scanner.arguments
    monkeypatch.setattr(Scanner, "arguments", lambda self, kind: calls.append(kind) or read(self, kind))
    return calls


@pytest.mark.parametrize(
    "commands",
    ["l1 1", " 1 1", "c0 1 1 1 1 0", "h.5.5.5", "m0 0l1 0", "z", "M1 1", "a1 1 0 0 1 1 1"],
)
def test_far_too_many_segments_are_refused_before_one_is_read(commands, reads):
    with pytest.raises(FormatError, match=r"<path>: has more than 1,000,000 segments"):
        path_points("M0 0l1 1" + commands * 1_100_000)
    assert reads == []


def test_far_too_many_corners_are_refused_before_one_is_read(reads):
    with pytest.raises(FormatError, match=r"<polyline>: has more than 1,000,000 segments"):
        drawn(f'<polyline points="{"1 1 2 2 " * 600_000}"/>')
    assert reads == []


@pytest.mark.parametrize("one", ["l1 1", "h1", "h-1-1", "h1 1", "L1,1z", "a1 1 0 011 1", "c1 1 1 1 1 1.5", "h12.34.5"])
@pytest.mark.parametrize("chunk", [1, 7, 64, 1 << 20])
def test_segments_are_never_overcounted(one, chunk, monkeypatch):
    monkeypatch.setattr(svg_lines, "_CHUNK", chunk)
    text = "M0 0" + one * 40
    there = 1 + 40 * (2 if one in ("h1 1", "h-1-1", "L1,1z", "h12.34.5") else 1)
    monkeypatch.setattr(svg_lines, "MAX_POINTS", there)
    check_length(text)
    monkeypatch.setattr(svg_lines, "MAX_POINTS", there - 1)
    with pytest.raises(FormatError, match=f"more than {there - 1}"):
        path_points(text)


def test_work_grows_with_the_curves_and_no_faster(reads, monkeypatch):
    batches = []
    turn = Pen._turn_into_points
    monkeypatch.setattr(Pen, "_turn_into_points", lambda self: batches.append(len(self._rows)) or turn(self))
    points = path_points("M0 0" + "c.01 .01 .02 .01 .02 .02" * 40_000)
    assert len(reads) == 40_001
    assert sum(batches) == 40_000 and len(batches) <= 40_000 / svg_lines._BATCH + 2
    np.testing.assert_allclose(points[[0, -1]], [0, 800 + 800j])


def test_dots_cost_no_more_than_they_are_long(monkeypatch):
    batches = []
    turn = Pen._turn_into_points
    monkeypatch.setattr(Pen, "_turn_into_points", lambda self: batches.append(len(self._rows)) or turn(self))
    np.testing.assert_allclose(path_points("M0 0l0 0" * 5_000 + "M1 1h1"), [1 + 1j, 2 + 1j])
    assert sum(batches) == 1


def test_only_lines_that_may_be_chosen_are_kept():
    page = path_svg.SvgPage("w9999")
    page.feed(b"<svg>" + b"".join(b'<path id="w%d" d="M0 0H1"/>' % k for k in range(20_000)) + b"</svg>")
    assert page.count == 20_000 and len(page.ids) == 20
    assert page.first_line is page.first_shape and page.first_line.attributes["id"] == "w0"
    assert page.named is not None and page.named.attributes["id"] == "w9999"


def test_transforms_are_counted_over_the_whole_drawing(monkeypatch):
    parsed = []
    monkeypatch.setattr(path_svg, "parse_transform", lambda text: parsed.append(text) or Affine())
    with pytest.raises(FormatError, match="more than 100,000 transforms"):
        drawn(f'<g transform="{"scale(1)" * 9_000}"/>' * 12)
    assert len(parsed) == 11
