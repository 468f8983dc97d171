"""The readers for Unity and Godot against the stream: what they say of its bytes is what the server sends.

Neither engine runs here. Each script's own numbers and expressions are taken from its text and applied to a frame.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import pytest

from choreograph.steer_client import read_frame
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.frame_pool import FramePool
from choreograph.verbs.steer.stream import HEADER, MAGIC, PROTOCOL, SteerStream

FOLDER = Path(__file__).parents[4] / "integrations"
GODOT, UNITY = (FOLDER / "godot/steer_stream.gd", FOLDER / "unity/SteerStream.cs")


@pytest.fixture(scope="module")
def frame(policy: SteerPolicy, pool: FramePool) -> bytes:
    stream = SteerStream(policy, pool)
    stream.hear({"type": "add", "x": 3.0, "z": -2.0, "heading_deg": 70})
    return [stream.tick() for _ in range(20)][-1]


def _constant(text: str, name: str) -> str:
    found = re.search(rf"const (?:int |string )?{name} :?= \"?(\w+)\"?", text)
    assert found is not None, f"{name} is not in the script"
    return found[1]


@pytest.mark.parametrize(
    ("file", "names"), [(GODOT, "PROTOCOL MAGIC HEADER_BYTES"), (UNITY, "Protocol Magic HeaderBytes")]
)
def test_constants_are_the_servers(file: Path, names: str) -> None:
    text = file.read_text(encoding="utf-8")
    protocol, magic, header = (_constant(text, name) for name in names.split())
    assert (int(protocol), magic.encode(), int(header)) == (PROTOCOL, MAGIC, HEADER.size)
    stride = re.search(r"character \* \((4 \* \(3 \+ 4 \* count\) \+ 12)\)", text)
    assert stride is not None
    for count in (1, 31, 77):
        assert eval(stride[1], {"count": count}) == SteerStream.frame_bytes(count)


def test_godots_offsets_give_what_the_python_client_reads(frame: bytes) -> None:
    text, ours = GODOT.read_text(encoding="utf-8"), read_frame(frame)
    fields = dict(re.findall(r"var (characters|count) := frame\.decode_u32\((\d+)\)", text))
    characters, count = (struct.unpack_from("<I", frame, int(fields[name]))[0] for name in ("characters", "count"))
    assert (characters, count) == ours.local_rot.shape[:2] == (2, ours.local_rot.shape[1])
    turn = re.search(r"var n := (at \+ .*)\n\s+var turn := Quaternion\((.*)\)\n", text)
    assert turn is not None
    for character in range(2):
        at = HEADER.size + character * SteerStream.frame_bytes(count)
        assert np.allclose(struct.unpack_from("<3f", frame, at), ours.root_pos[character])
        for j in (0, count - 1):
            n = eval(turn[1], {"at": at, "j": j})
            places = [eval(one, {"n": n}) for one in re.findall(r"decode_float\((.*?)\)", turn[2])]
            x, y, z, w = (struct.unpack_from("<f", frame, place)[0] for place in places)
            assert np.allclose([w, x, y, z], ours.local_rot[character, j])


def test_unitys_reads_give_what_the_python_client_reads(frame: bytes) -> None:
    text, ours = UNITY.read_text(encoding="utf-8"), read_frame(frame)
    sizes = {"ReadBytes(4)": 4, "ReadUInt32()": 4, "ReadDouble()": 8}
    at, places = 0, []
    for read in re.findall(r"read\.(ReadBytes\(4\)|ReadUInt32\(\)|ReadDouble\(\))", text):
        places.append(at)
        at += sizes[read]
    characters, count = (struct.unpack_from("<I", frame, place)[0] for place in places[-2:])
    assert (characters, count) == ours.local_rot.shape[:2]
    first = re.search(r"var n = (3 \+ 4 \* j);", text)
    order = re.search(r"new Quaternion\(number\(n\), -number\(n \+ 1\), -number\(n \+ 2\), number\(n \+ 3\)\)", text)
    assert first is not None and order is not None and "new Vector3(-number(0), number(1), number(2))" in text
    rows = np.frombuffer(frame, "<f4", offset=HEADER.size + SteerStream.frame_bytes(count))
    n = eval(first[1], {"j": 4})
    # In Unity's left-handed world, x turned round: the same turn seen in a mirror.
    x, y, z, w = rows[n : n + 4]
    assert np.allclose(ours.local_rot[1, 4], [w, x, y, z])
