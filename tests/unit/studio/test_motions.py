"""What the page is told of motions."""

from __future__ import annotations

import numpy as np

from choreograph.motion.clip import Clip, Label
from choreograph.studio.document import ClipEntry, GraphAsk, LabelRange
from choreograph.studio.library import apply_entry, clip_key, graph_key
from choreograph.studio.motions import describe_motion


def test_facts_of_a_clip(human: Clip) -> None:
    motion = describe_motion(human.with_labels([Label("wave", 2, 5)]), "clip:a")
    assert motion.frames == len(human) and motion.sources[0].stop == len(human)
    assert motion.labels == [LabelRange(text="wave", start=2, stop=5)]
    assert len(motion.contacts) == len(motion.feet) == 4


def test_entries_trim_then_mirror_then_label(human: Clip) -> None:
    clip = human.with_labels([Label("turn left", 0, 20)])
    entry = ClipEntry(id="a", source="r", name="other", trim=(5, 15), mirrored=True)
    made = apply_entry(clip, entry)
    assert (made.name, len(made), made.labels) == ("other", 10, (Label("turn right", 0, 10),))
    np.testing.assert_allclose(made.root_pos, human.root_pos[5:15] * [-1, 1, 1])
    own = entry.model_copy(update={"labels": [LabelRange(text="limp", start=1, stop=4)]})
    assert apply_entry(clip, own).labels == (Label("limp", 1, 4),)


def test_keys_tell_motions_and_graphs_apart() -> None:
    entry = ClipEntry(id="a", source="r", name="walk")
    other = entry.model_copy(update={"id": "b", "name": "stroll"})
    assert clip_key(entry) == clip_key(other) != clip_key(entry.model_copy(update={"mirrored": True}))
    keys = [
        graph_key([entry], GraphAsk()),
        graph_key([other], GraphAsk()),
        graph_key([entry, other], GraphAsk()),
        graph_key([entry], GraphAsk(mirror=True)),
    ]
    assert len(set(keys)) == 4
