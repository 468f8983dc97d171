from __future__ import annotations

import sys

from choreograph.studio.library import writable_suffixes


def test_films_are_offered_where_there_is_an_ffmpeg(monkeypatch, tmp_path):
    assert {".bvh", ".glb", ".mp4", ".gif", ".png"} <= set(writable_suffixes())
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert {".bvh", ".glb", ".gif", ".png"} <= set(writable_suffixes())
    assert ".mp4" not in writable_suffixes()
