"""GLB: Khronos' validator is content, what is written comes back, and no broken file does harm."""

from __future__ import annotations

import copy
import json
import shutil
import struct
import subprocess
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import FormatError, OutputExists, RequestError
from choreograph.figure.mannequin import build_mannequin, skin
from choreograph.formats._gltf_read import read_glb_clips
from choreograph.formats.gltf import read_glb, write_glb
from choreograph.motion.clip import Clip, Label, Source
from choreograph.motion.skeleton import Skeleton

ROOT = Path(__file__).parents[3]
TENTH_MM = 1e-4


def validate(*paths: Path) -> list[dict]:
    """The issues that Khronos' validator finds in each file."""
    if shutil.which("node") is None or not (ROOT / "node_modules" / "gltf-validator").is_dir():
        pytest.skip("needs node and the gltf-validator package: run npm install")
    script = ROOT / "tests" / "tools" / "validate_gltf.mjs"
    run = subprocess.run(["node", script, *paths], capture_output=True, text=True, check=True, cwd=ROOT)
    return [json.loads(line)["issues"] for line in run.stdout.splitlines()]


def unpack(path: Path) -> tuple[dict, bytes]:
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + size]), data[20 + size :]


def pack(path: Path, document: object, rest: bytes) -> Path:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A)
    path.write_bytes(head + text + rest)
    return path


def stretchy(clip: Clip) -> Clip:
    """The clip with bones that change length."""
    local = np.tile(clip.skeleton.offsets, (len(clip), 1, 1))
    local[:, 0] = clip.root_pos
    local[:, 3] *= 1 + 0.1 * np.sin(np.arange(len(clip)))[:, None]
    return replace(clip, local_pos=local)


def still(skeleton: Skeleton, frames: int = 2) -> Clip:
    return Clip(skeleton, 30.0, np.zeros((frames, 3)), np.tile(quat.IDENTITY, (frames, len(skeleton), 1)), name="still")


ODD = {
    "one joint": still(Skeleton(["only"], [-1], [[0, 1, 0]])),
    "one frame": still(Skeleton(["a", "b"], [-1, 0], [[0, 1, 0], [0, 0.5, 0]]), 1),
    "chain": still(Skeleton(list("abcd"), [-1, 0, 1, 2], [[0, 0, 0], [0, 0.3, 0], [0, 0.3, 0], [0.2, 0, 0]])),
    "in one place": still(Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 0, 0]])),
    "odd names": still(Skeleton(["Ünïcode:Hips", "l. foot #1", "足", '"quoted"\\'], [-1, 0, 0, 0], np.eye(4)[:, :3])),
    "300 joints": still(Skeleton([f"j{k}" for k in range(300)], range(-1, 299), np.full((300, 3), 0.01))),
}


def test_validator_finds_nothing(tmp_path, human, walker):
    clips = {"human": human, "walker": walker, "stretchy": stretchy(human), **ODD}
    paths = []
    for name, clip in clips.items():
        paths.append(tmp_path / f"{name}.glb")
        write_glb(paths[-1], clip)
    paths.append(tmp_path / "both.glb")
    write_glb(paths[-1], [human, walker])
    for path, issues in zip(paths, validate(*paths), strict=True):
        found = issues["numErrors"], issues["numWarnings"], issues["numInfos"], issues["numHints"]
        assert found == (0, 0, 0, 0), (path.name, issues["messages"][:5])


def test_validator_would_find_a_fault(tmp_path, walker):
    path = tmp_path / "bad.glb"
    write_glb(path, walker)
    document, rest = unpack(path)
    document["skins"][0]["joints"].append(9999)
    assert validate(pack(path, document, rest))[0]["numErrors"] > 0


@pytest.mark.parametrize("make", [replace, stretchy, lambda c: c.resampled(23.976)], ids=["plain", "stretchy", "film"])
def test_round_trip(tmp_path, human, make):
    clip = make(human)
    write_glb(tmp_path / "a.glb", clip)
    back = read_glb(tmp_path / "a.glb")
    assert np.abs(back.global_positions() - clip.global_positions()).max() < TENTH_MM
    assert quat.angle_between(back.global_rotations(), clip.global_rotations()).max() < 1e-5
    assert np.abs(back.tip_positions() - clip.tip_positions()).max() < TENTH_MM
    assert back.fps == clip.fps and back.name == clip.name
    assert back.skeleton.names == clip.skeleton.names and back.skeleton.roles == clip.skeleton.roles
    assert np.array_equal(back.skeleton.offsets, clip.skeleton.offsets)
    assert (back.local_pos is None) == (clip.local_pos is None)
    assert back.source is not None and back.source.format == "glb"


@pytest.mark.parametrize("clip", ODD.values(), ids=ODD.keys())
def test_odd_skeletons_round_trip(tmp_path, clip):
    write_glb(tmp_path / "a.glb", clip)
    back = read_glb(tmp_path / "a.glb")
    assert back.skeleton.names == clip.skeleton.names
    assert np.array_equal(back.skeleton.parents, clip.skeleton.parents)
    assert len(back) == len(clip)
    assert np.abs(back.global_positions() - clip.global_positions()).max() < TENTH_MM


def test_labels_contacts_and_provenance_are_kept(tmp_path, human):
    contacts = np.zeros((len(human), len(human.skeleton.feet)), bool)
    contacts[3:9, 0] = contacts[:5, 2] = contacts[20:, 2] = True
    source = Source("/somewhere/secret/16_47.amc", "amc", "ab" * 32, 0.056444, "y")
    clip = replace(human, contacts=contacts, labels=(Label("walk", 0, 10), Label("turn ↶", 5, 40)), source=source)
    write_glb(tmp_path / "a.glb", clip)
    back = read_glb(tmp_path / "a.glb")
    assert back.labels == clip.labels
    assert back.contacts is not None and np.array_equal(back.contacts, contacts)
    document, _ = unpack(tmp_path / "a.glb")
    kept = document["skins"][0]["extras"]["choreograph"]
    assert kept["source"]["file"] == "16_47.amc" and kept["source"]["sha256"] == "ab" * 32
    assert "secret" not in json.dumps(document)


def test_several_figures(tmp_path, human, walker):
    write_glb(tmp_path / "a.glb", [human, walker])
    for number, clip in enumerate((human, walker)):
        back = read_glb(tmp_path / "a.glb", figure=number)
        assert back.name == clip.name and back.fps == clip.fps
        assert np.abs(back.global_positions() - clip.global_positions()).max() < TENTH_MM
        assert back.source is not None and [n.kind for n in back.source.notes] == ["several-figures"]
    with pytest.raises(FormatError, match="2 skinned figures"):
        read_glb(tmp_path / "a.glb", figure=2)
    with pytest.raises(RequestError):
        write_glb(tmp_path / "b.glb", [])


def test_the_file_draws_the_mannequin(tmp_path, human):
    """Skinning by the file's own matrices and nodes gives what `skin` gives."""
    write_glb(tmp_path / "a.glb", human)
    document, rest = unpack(tmp_path / "a.glb")

    def array(number: int, width: int, kind: str = "<f4") -> np.ndarray:
        accessor = document["accessors"][number]
        view = document["bufferViews"][accessor["bufferView"]]
        values = np.frombuffer(rest[8:], kind, accessor["count"] * width, view.get("byteOffset", 0))
        return values.reshape(-1, width)

    inverse = array(document["skins"][0]["inverseBindMatrices"], 16).reshape(-1, 4, 4).swapaxes(1, 2)
    attributes = document["meshes"][0]["primitives"][0]["attributes"]
    points = array(attributes["POSITION"], 3)
    joints, weights = array(attributes["JOINTS_0"], 4, "u1"), array(attributes["WEIGHTS_0"], 4)
    pos, rot = human.global_positions()[7], human.global_rotations()[7]
    world = np.tile(np.eye(4), (len(pos), 1, 1))
    world[:, :3, :3], world[:, :3, 3] = quat.as_matrix(rot), pos
    blended = np.einsum("vk,vkab->vab", weights, (world @ inverse)[joints])
    drawn = np.einsum("vab,vb->va", blended[:, :3], np.c_[points, np.ones(len(points))])
    meant, _ = skin(build_mannequin(human), pos, rot)
    assert np.abs(drawn - meant).max() < 1e-5
    assert abs(points[:, 1].min()) < 1e-6  # at rest it stands on the floor


def test_writing_never_replaces_unasked(tmp_path, walker):
    path = tmp_path / "a.glb"
    path.write_text("mine")
    with pytest.raises(OutputExists):
        write_glb(path, walker)
    assert path.read_text() == "mine"
    write_glb(path, walker, overwrite=True)
    assert len(read_glb(path)) == len(walker)
    assert [p.name for p in tmp_path.iterdir()] == ["a.glb"]


# ------------------------------------------------------------------------------------------------ files of others


@pytest.fixture
def foreign(tmp_path, human):
    """A file as another program might have written it: without an entry of ours."""
    write_glb(tmp_path / "a.glb", human)
    document, rest = unpack(tmp_path / "a.glb")
    del document["skins"][0]["extras"]
    return document, rest


def test_foreign_file(tmp_path, human, foreign):
    back = read_glb(pack(tmp_path / "f.glb", *foreign))
    assert back.fps == human.fps and len(back) == len(human)
    assert np.abs(back.global_positions() - human.global_positions()).max() < TENTH_MM
    assert np.abs(back.skeleton.offsets[1:] - human.skeleton.offsets[1:]).max() < 1e-6


def test_a_foreign_file_of_one_body_is_called_as_the_file(tmp_path, foreign):
    """Programs call every armature the same: clips of a folder would all have one name."""
    document, rest = foreign
    document["skins"][0]["name"] = "Armature"
    assert read_glb(pack(tmp_path / "leap.glb", document, rest)).name == "leap"
    document["animations"].append({**document["animations"][0], "name": "hop"})
    hop = read_glb(pack(tmp_path / "leap.glb", document, rest), take="hop")
    assert hop.name == "leap_hop" and str(hop.source.notes[0]).endswith("this is 'hop', others can be named (take)")


def test_all_takes_of_a_foreign_file_are_clips_of_one_body(tmp_path, human, foreign):
    """One take moves what the body hangs from, one a camera: the first is of the same joints, the other is left out."""
    document, rest = foreign
    walk = {**document["animations"][0], "name": "Armature|walk"}
    camera = len(document["nodes"])
    document["nodes"].append({"name": "camera"})
    document["scenes"][0]["nodes"].append(camera)

    def moving(node: int) -> list[dict]:
        place = next(c for c in walk["channels"] if c["target"]["path"] == "translation")
        return [{**place, "target": {"node": node, "path": "translation"}}]

    above = next(
        k for k, n in enumerate(document["nodes"]) if document["skins"][0]["joints"][0] in n.get("children", [])
    )
    drift = {**walk, "name": "Armature|drift", "channels": [*walk["channels"], *moving(above)]}
    pan = {**walk, "name": "Armature|pan", "channels": moving(camera)}
    document["animations"] = [walk, drift, pan]
    walked, drifted = read_glb_clips(pack(tmp_path / "hero.glb", document, rest))
    assert [walked.name, drifted.name] == ["hero_walk", "hero_drift"]
    assert walked.skeleton.names == drifted.skeleton.names and len(walked.skeleton) == len(human.skeleton) + 1
    assert [clip.source.take for clip in (walked, drifted)] == ["Armature|walk", "Armature|drift"]
    assert [str(note) for note in walked.source.notes] == [
        "a take was left out: its animation moves none of the skin's joints"
    ]
    assert not drifted.source.notes
    document["animations"] = [pan, pan]
    with pytest.raises(FormatError, match=r"hero.glb: its animation moves none of the skin's joints"):
        read_glb_clips(pack(tmp_path / "hero.glb", document, rest))


def test_takes_that_stand_for_far_more_than_the_file_holds_are_refused(tmp_path, foreign, monkeypatch):
    """One set of keys may be named by any number of takes."""
    document, rest = foreign
    document["animations"] = [document["animations"][0]] * 40
    path = pack(tmp_path / "many.glb", document, rest)
    assert len(read_glb_clips(path)) == 40
    monkeypatch.setattr("choreograph.formats._gltf_read._TAKES", (4000 - path.stat().st_size) / 100_000)
    with pytest.raises(FormatError, match=r"many.glb: its takes stand for more frames than so small a file holds"):
        read_glb_clips(path)
    monkeypatch.setattr("choreograph.formats.figures.MOST_CLIPS", 30)
    with pytest.raises(FormatError, match=r"many.glb: holds 40 takes of 1 figures; 30 clips are read at most"):
        read_glb_clips(path)


def test_a_file_without_a_body_has_no_clips(tmp_path, foreign):
    document, rest = foreign
    document["skins"] = []
    with pytest.raises(FormatError, match="has no skinned figure"):
        read_glb_clips(pack(tmp_path / "f.glb", document, rest))


def test_skins_of_one_body_are_one_figure(tmp_path, human, foreign):
    """A character has a skin for each of its meshes: body and hair share joints, a lantern hangs from the hand."""
    document, rest = foreign
    skin, nodes = document["skins"][0], document["nodes"]
    hand = next(n for n in nodes if n.get("name") == "LeftHand")
    nodes.append({"name": "lantern", "translation": [0, -0.1, 0]})
    hand.setdefault("children", []).append(len(nodes) - 1)
    document["skins"] = [{"joints": [len(nodes) - 1]}, {"joints": skin["joints"][:4]}, skin]
    path = pack(tmp_path / "f.glb", document, rest)
    assert len(read_glb_clips(path)) == 1
    back = read_glb(path)
    assert len(back.skeleton) == len(human.skeleton) and not back.source.notes


def test_foreign_skins_that_share_nothing_are_figures(tmp_path, human):
    write_glb(tmp_path / "a.glb", [human, human.with_name("other")])
    document, rest = unpack(tmp_path / "a.glb")
    for own in document["skins"]:
        del own["extras"]
    path = pack(tmp_path / "f.glb", document, rest)
    assert [clip.name for clip in read_glb_clips(path)] == [human.name, "other"]
    assert [read_glb(path, figure=k).name for k in (0, 1)] == [human.name, "other"]
    document["skins"][1]["joints"] = "none"
    assert read_glb(pack(tmp_path / "f.glb", document, rest)).name == human.name


def test_foreign_file_with_a_scaled_and_turned_node_above(tmp_path, human, foreign):
    document, rest = foreign
    turn = quat.from_rotvec([0.4, 0.2, -0.9])
    above = document["nodes"][0]
    assert above["children"] == document["skins"][0]["joints"][:1]
    above.update(scale=[0.5] * 3, translation=[1, 2, 3], rotation=turn[[1, 2, 3, 0]].tolist())
    back = read_glb(pack(tmp_path / "f.glb", document, rest))
    meant = np.array([1, 2, 3]) + quat.rotate(turn, 0.5 * human.global_positions())
    assert np.abs(back.global_positions() - meant).max() < TENTH_MM


def test_foreign_rest_rotations_become_the_rest_pose(tmp_path, foreign):
    """A skeleton whose nodes are turned at rest still has that pose as its rest pose."""
    document, rest = foreign
    nodes = document["nodes"]
    elbow = next(k for k, n in enumerate(nodes) if n.get("name") == "LeftForeArm")
    turn = quat.from_rotvec([0.0, 0.0, 1.0])
    nodes[elbow]["rotation"] = turn[[1, 2, 3, 0]].tolist()
    back = read_glb(pack(tmp_path / "f.glb", document, rest))
    hand, forearm = back.skeleton.index("LeftHand"), back.skeleton.index("LeftForeArm")
    rest_pose = back.skeleton.rest_positions()
    assert np.allclose(rest_pose[hand] - rest_pose[forearm], quat.rotate(turn, [0.25, 0, 0]), atol=1e-6)


def test_foreign_keys_few_and_stepped(tmp_path):
    times, turns = np.float32([0.0, 0.5, 1.0]), np.float32([[0, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0]])
    body = times.tobytes() + turns.tobytes()
    document = {
        "asset": {"version": "2.0"},
        "nodes": [{"name": "a", "children": [1]}, {"name": "b", "translation": [1, 0, 0]}],
        "skins": [{"joints": [1, 0]}],
        "buffers": [{"byteLength": len(body)}],
        "bufferViews": [{"buffer": 0, "byteLength": 12}, {"buffer": 0, "byteOffset": 12, "byteLength": 48}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC4"},
        ],
        "animations": [
            {"samplers": [{"input": 0, "output": 1, "interpolation": "STEP"}],
             "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}]}
        ],
    }  # fmt: skip
    rest = struct.pack("<II", len(body), 0x004E4942) + body
    stepped = read_glb(pack(tmp_path / "a.glb", document, rest))
    assert stepped.fps == 30.0 and len(stepped) == 31 and stepped.skeleton.names == ("a", "b")
    assert np.allclose(stepped.global_positions()[14, 1], [1, 0, 0]) and stepped.global_positions()[15, 1, 0] < -0.99
    document["animations"][0]["samplers"][0]["interpolation"] = "LINEAR"
    smooth = read_glb(pack(tmp_path / "a.glb", document, rest))
    quarter = np.abs(smooth.global_positions()[7:9, 1, 2]).max()
    assert 0.9 < quarter <= 1.0
    document["animations"][0]["samplers"][0]["interpolation"] = "CUBICSPLINE"
    with pytest.raises(FormatError, match="CUBICSPLINE"):
        read_glb(pack(tmp_path / "a.glb", document, rest))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["nodes"][2].update(scale=[2, 2, 2]), "scaled"),
        (lambda d: d["nodes"][2].update(scale=[1, 2, 1]), "unevenly"),
        (lambda d: d["nodes"][2].update(children=[0]), "circle"),
        (lambda d: d["nodes"][0].update(children=[2, 2]), "two parents"),
        (lambda d: d["accessors"][7].update(count=10**9), "beyond the file's bytes"),
        (lambda d: d["accessors"][7].update(count=-1), "size belongs"),
        (lambda d: d["accessors"][7].update(sparse={}), "sparse"),
        (lambda d: d["bufferViews"][7].update(byteLength=10**12), "beyond|size belongs"),
        (lambda d: d.pop("animations"), "no animation"),
        (lambda d: d.pop("skins"), "no skinned figure"),
        (lambda d: d["skins"][0].update(joints=[]), "no joints"),
        (lambda d: d["buffers"][0].update(uri="other.bin"), "another file"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(tmp_path, foreign, change, words):
    document, rest = foreign
    change(document)
    with pytest.raises(FormatError, match=words) as caught:
        read_glb(pack(tmp_path / "f.glb", document, rest))
    assert caught.value.path == tmp_path / "f.glb"


# ------------------------------------------------------------------------------------------------ hostile files


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"glTF",
        b"not a GLB file, but long enough",
        b"glTF" + bytes(16),
        bytes(4096),
        struct.pack("<4sIIII", b"glTF", 2, 2**32 - 1, 2**32 - 1, 0x4E4F534A),
        struct.pack("<4sIIII", b"glTF", 2, 24, 4, 0x4E4F534A) + b"[  ]",
        struct.pack("<4sIIII", b"glTF", 2, 200020, 200000, 0x4E4F534A) + b"[" * 200000,
    ],
    ids=range(8),
)
def test_files_that_are_no_glb(tmp_path, data):
    (tmp_path / "x.glb").write_bytes(data)
    with pytest.raises(FormatError):
        read_glb(tmp_path / "x.glb")


def test_missing_file(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        read_glb(tmp_path / "none.glb")


def test_truncated_and_mutated_bytes_are_read_or_refused(tmp_path, walker, rng):
    write_glb(tmp_path / "a.glb", walker)
    data = (tmp_path / "a.glb").read_bytes()
    header = 20 + struct.unpack_from("<I", data, 12)[0]
    for case in range(200):
        broken = bytearray(data)
        if case % 3 == 0:
            broken = broken[: rng.integers(len(data))]
        else:
            for at in rng.integers(header if case % 3 == 1 else len(data), size=rng.integers(1, 12)):
                broken[at] = rng.integers(256)
        (tmp_path / "b.glb").write_bytes(broken)
        with suppress(FormatError):
            read_glb(tmp_path / "b.glb")


def test_mutated_json_is_read_or_refused(tmp_path, walker, rng):
    write_glb(tmp_path / "a.glb", walker)
    document, rest = unpack(tmp_path / "a.glb")
    numbers = [-1, 0, 1, 3, 10**9, 10**30, 1e308, float("nan"), True]
    values = [*numbers, None, "x", "", "STEP", [], {}, [0], [[0]], [1, 2, 3]]

    def places(item: object, way: tuple) -> list[tuple]:
        inner = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        return [way, *(place for key, value in inner for place in places(value, (*way, key)))]

    everywhere = places(document, ())[1:]
    for _ in range(300):
        broken = copy.deepcopy(document)
        way = everywhere[rng.integers(len(everywhere))]
        at = broken
        for key in way[:-1]:
            at = at[key]
        if rng.random() < 0.2:
            del at[way[-1]]
        else:
            at[way[-1]] = values[rng.integers(len(values))]
        with suppress(FormatError):
            read_glb(pack(tmp_path / "b.glb", broken, rest))


def test_a_small_file_that_promises_much_takes_little_memory(tmp_path, foreign):
    """Two keys a week apart, or a microsecond, stand for more frames than the file could hold."""
    document, rest = foreign
    times = np.frombuffer(rest[8:], "<f4").copy()
    views, accessors = document["bufferViews"], document["accessors"]
    key_times = document["animations"][0]["samplers"][0]["input"]
    start = views[accessors[key_times]["bufferView"]]["byteOffset"] // 4
    count = accessors[key_times]["count"]
    times[start + count - 1] = 600_000.0
    path = pack(tmp_path / "f.glb", document, rest[:8] + times.tobytes())
    tracemalloc.start()
    with pytest.raises(FormatError, match="more than so small a file"):
        read_glb(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * path.stat().st_size
