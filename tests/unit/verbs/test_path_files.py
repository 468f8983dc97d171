from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from choreograph.base.errors import ChoreographError, FormatError, RequestError
from choreograph.scene.path import Path
from choreograph.scene.path_files import load_path, path_from_json, read_path

ZIG = [(0, 0), (1.5, 2), (3, -0.25)]


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        target = tmp_path / name
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    return write


@pytest.mark.parametrize(
    "table",
    [
        "0,0\n1.5,2\n3,-0.25\n",
        "0, 0\r\n1.5, 2\r\n3, -.25",
        "x,z\n0,0\n1.5,2\n3,-0.25\n",
        "0;0\n1,5;2\n3;-0,25\n",
        "0\t0\n1.5\t2\n3\t-0.25\n",
        "# a comment\n\n0 0\n 1.5   2 \n3 -25e-2\n",
        'X;"Z";note\n0;0;begin\n1.5;2;\n3;-0.25;end\n',
        "t,x,z\n0,0,0\n0.5,1.5,2\n1,3,-0.25\n",
        "x,y,z\n0,9,0\n1.5,9,2\n3,9,-0.25\n",
        "z x\n0 0\n2 1.5\n-0.25 3\n",
        "0,0,\n1.5,2,\n3,-0.25,\n",
        "\ufeff0,0\n1.5,2\n3,-0.25\n",
        "0,0\n1.5,2\n3,-0.25\n".encode("utf-16"),
    ],
)
def test_tables_in_many_hands(file, table):
    path = read_path(file("zig.csv", table))
    np.testing.assert_array_equal(path.points, ZIG)
    assert path.name == "zig"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "empty"),
        ("0,0\n", "at least two points; the file has 1"),
        ("x,z\n", "the file has 0"),
        ("0,0\n0,0\n", "same place"),
        ("0,0\n1,two\n", "line 2: expected a number, found 'two'"),
        ("0,0\n1\n", "line 2: expected 2 columns, found 1"),
        ("0,0\n1,nan\n", "line 2: nan is no place"),
        ("0,0,0\n1,1,1\n", "line 1: a table without a header has two columns.*has 3"),
        ("a,b\n1,2\n3,4\n", "line 1: the header must name the columns x and z; found a, b$"),
        ("x,y\n1,2\n3,4\n", "rename y to z"),
        ("0,0\n0,20000\n", "at most 10000 m"),
        (b"0,0\n\xff1,2\n", "byte 5"),
    ],
)
def test_broken_tables_say_where(file, table, words):
    with pytest.raises(FormatError, match=words) as caught:
        read_path(file("broken.csv", table))
    assert caught.value.path.name == "broken.csv"


def test_scale_and_flip(file):
    centimetres = file("cm.txt", "0 0\n150 200\n300 -25\n")
    np.testing.assert_allclose(read_path(centimetres, scale="cm").points, ZIG)
    np.testing.assert_allclose(read_path(centimetres, scale=0.01, flip=True).points, np.multiply(ZIG, [1, -1]))
    with pytest.raises(RequestError, match="positive"):
        read_path(centimetres, scale=-1)


def test_json_lists_and_objects(file):
    np.testing.assert_array_equal(read_path(file("a.json", json.dumps(ZIG))).points, ZIG)
    document = {
        "name": "yard",
        "unit": "cm",
        "points": [[0, 0], [0, 600], [600, 600]],
        "closed": True,
        "round": 100,
        "stretches": [
            {"start": 100, "stop": 500, "speed": 2.5},
            {"start": 1200, "pause": 3},
            {"start": 1600, "label": "run"},
        ],
        "final_facing_deg": 90,
    }
    path = read_path(file("b.json", json.dumps(document)))
    assert path.name == "yard"
    np.testing.assert_allclose(path.points[[0, -1]], [(0, 0), (0, 0)])
    assert path.final_facing == pytest.approx(math.pi / 2)
    fast, stop, run = path.stretches
    assert (fast.start, fast.stop, fast.speed) == (pytest.approx(1), pytest.approx(5), 2.5)
    assert (stop.start, stop.pause) == (stop.stop, 3)
    assert run.stop == pytest.approx(path.length)
    # Rounding a corner moves the far places nearer along the path, not on the floor.
    np.testing.assert_allclose(
        path.at(run.start), path_from_json(document["points"] + [[0, 0]], scale=0.01).at(16), atol=1e-9
    )
    assert run.start < 15
    wobbly = {"points": [[0, 0], [0.1, 1], [0, 2], [0.1, 3], [0, 4]], "smooth": 3}
    assert 4 < path_from_json(wobbly).length < path_from_json(wobbly["points"]).length - 0.005


def _with(**changes):
    return {"points": [[0, 0], [0, 5]], **changes}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (3, "not 3"),
        ({}, "points are missing"),
        ({"points": 4}, r"points must be a list of pairs \[x, z\], not 4"),
        ([[0, 0]], "points has 1 entries"),
        ([[0, 0], [1, 2, 3]], r"points\[1\] must be a pair \[x, z\], not a list of 3"),
        ([[0, 0], [1, "2"]], r'points\[1\]\[1\] must be a finite number, not "2"'),
        ([[0, 0], [1, math.nan]], r"points\[1\]\[1\] must be a finite number, not NaN"),
        ([[0, 0], [True, 1]], r"points\[1\]\[0\] must be a finite number, not true"),
        (_with(colour="red"), "colour is not known; it may have points, name"),
        (_with(unit="parsec"), "unknown unit 'parsec'"),
        (_with(unit=3), "unit must be a text, not 3"),
        (_with(closed="yes"), 'closed must be true or false, not "yes"'),
        (_with(smooth="much"), 'smooth must be a finite number, not "much"'),
        (_with(round=-1), "radius is -1 m"),
        (_with(final_facing_deg=[]), "final_facing_deg must be a finite number, not a list of 0"),
        (_with(stretches={}), "stretches must be a list, not an object"),
        (_with(stretches=[3]), r"stretches\[0\] must be an object, not 3"),
        (_with(stretches=[{"speed": 1}]), r"stretches\[0\].start is missing"),
        (_with(stretches=[{"start": 0, "pause": 1}, {"start": 0, "speed": "fast"}]), r"stretches\[1\].speed must be"),
        (_with(stretches=[{"start": 0, "pause": 1}, {"start": 0, "speed": 99}]), r"stretches\[1\].speed is 99 m/s"),
        (
            _with(stretches=[{"start": 0, "stop": 9, "speed": 1}]),
            r"stretches\[0\] runs from 0 m to 9 m, but the path is 5",
        ),
        (
            _with(stretches=[{"start": 0, "sped": 1}]),
            r"stretches\[0\].sped is not known; it may have start, stop, speed",
        ),
        (_with(stretches=[{"start": 0, "stop": 1}]), r"stretches\[0\]: a stretch asks for nothing"),
        (_with(stretches=[{"start": 0, "label": 7}]), r"stretches\[0\].label must be a text, not 7"),
    ],
)
def test_wrong_documents_say_where(file, document, words):
    with pytest.raises(RequestError, match=words):
        path_from_json(document)
    with pytest.raises(FormatError, match=words):
        read_path(file("wrong.json", json.dumps(document)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"points": [[0, 0],\n [1, }', "line 2: this is no JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[[0,0],[" + "9" * 5000 + ",1]]", "too many digits"),
        ("[[0,0],[" + "9" * 400 + ",1]]", r"points\[1\]\[0\]"),
    ],
)
def test_broken_json(file, text, words):
    with pytest.raises(FormatError, match=words):
        read_path(file("broken.json", text))


places = st.floats(-100, 100).map(lambda value: round(value, 3))


@given(st.lists(st.tuples(places, places), min_size=2, max_size=20), st.none() | st.floats(-7, 7), st.data())
def test_json_round_trip(points, facing, data):
    try:
        path = Path(points, final_facing=facing, name="there")
    except RequestError:
        return
    for _ in range(data.draw(st.integers(0, 3))):
        start, stop = sorted(data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1))))
        wish = data.draw(st.sampled_from([{"pause": 1.5}, {"label": "run"} if stop > start else {"pause": 1.0}]))
        path = path.with_stretch(start * path.length, stop * path.length, **wish)
    plain = json.loads(json.dumps(path.as_json()))
    again = path_from_json(plain)
    np.testing.assert_array_equal(again.points, path.points)
    assert again.stretches == path.stretches
    assert again.name == "there"
    assert again.final_facing == (None if facing is None else pytest.approx(path.final_facing, abs=1e-12))
    assert again.as_json()["points"] == plain["points"]


def test_one_call_for_files_and_shapes(file):
    svg = file("two.svg", '<svg><line id="a" x2="100"/><line id="b" y2="300"/></svg>')
    assert load_path(svg).length == pytest.approx(1)
    assert load_path(f"{svg}#b").length == pytest.approx(3)
    assert load_path(f"{svg}#b", scale="m", flip=True).points[-1] == pytest.approx((0, -300))
    assert load_path(str(file("odd#name.csv", "0,0\n0,2\n"))).length == 2
    assert load_path("circle:radius=1", scale=3).length == pytest.approx(6 * math.pi, rel=1e-4)
    assert load_path("zig-zag", flip=True).points[1] == pytest.approx((0, -3))


@pytest.mark.parametrize("text", ["", "walk.bvh", "nowhere", "figure:radius=2"])
def test_what_is_neither_file_nor_shape_is_told_both(text):
    with pytest.raises(RequestError, match=r"neither a path file \(\.csv.*circle \(radius=4, turns=1\)"):
        load_path(text)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FormatError, match="No such file"):
        load_path(str(tmp_path / "none.svg"))
    with pytest.raises(FormatError, match="folder"):
        (tmp_path / "folder.csv").mkdir()
        read_path(tmp_path / "folder.csv")
    with pytest.raises(RequestError, match="known types are"):
        read_path(tmp_path / "path.bvh")
    with pytest.raises(RequestError, match="only lines of an SVG"):
        read_path(tmp_path / "path.csv", element="a")


def test_files_beyond_the_limit(file, monkeypatch):
    monkeypatch.setattr("choreograph.scene.path_files.MAX_FILE_BYTES", 10)
    with pytest.raises(FormatError, match="larger than"):
        read_path(file("long.csv", "0,0\n1,1\n2,2\n3,3\n"))


SEEDS = {
    ".csv": b"t,x,z\n0,0,0\n1,1.5,2e0\n2,3,-0.25\n",
    ".json": b'{"unit":"cm","points":[[0,0],[1e2,5],[7,-8]],"round":1,"stretches":[{"start":1,"stop":5,"speed":2}]}',
    ".svg": b'<svg viewBox="0 0 9 9"><g transform="rotate(30 1 2)scale(2)">'
    b'<path d="M1 2l3 4h5V6c1 2 3 4 5 6s1 2 3 4q1 2 3 4t1 2A9 8 7 01 5 6z"/></g></svg>',
}


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.sampled_from(sorted(SEEDS)), st.data())
def test_damaged_files_raise_nothing_but_our_errors(tmp_path, suffix, data):
    content = bytearray(SEEDS[suffix])
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        stop = data.draw(st.integers(start, min(start + 4, len(content))))
        patch = st.binary(max_size=4) | st.sampled_from(
            [b"9" * 30, b"1e300", b"1e-320", b"-", b"nan", b"\0", b"&a;", b"[[", b"<g>"]
        )
        content[start:stop] = data.draw(patch)
    target = tmp_path / f"damaged{suffix}"
    target.write_bytes(bytes(content))
    try:
        path = read_path(target)
    except ChoreographError:
        return
    assert np.isfinite(path.points).all() and 0 < path.length <= 10_000
