from __future__ import annotations

from pathlib import Path

import pytest

from choreograph.formats.rates import assume_rate, cmu_subject, doubt_rate, snap_rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("0.0083333", 120), ("0.00833333", 120), ("0.008333", 120), ("0.033333", 30), ("0.0333333", 30), (".04", 25),
        ("0.01", 100), ("1", 1), ("0.016667", 60), ("0.0166667", 60), ("3.3333333e-2", 30), ("0.0416667", 24),
        ("0.0417083", 24 / 1.001), ("0.04170833", 24 / 1.001), ("0.0333667", 30 / 1.001), ("0.016683333", 60 / 1.001),
        ("0.0069444", 144), ("0.5", 2), ("0.05", 20),
        ("0.0123", 1 / 0.0123), ("0.03", 1 / 0.03), ("2.5", 0.4),
    ],
)  # fmt: skip
def test_rounded_frame_times(text: str, rate: float) -> None:
    assert snap_rate(text) == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize(
    "fps", [24, 25, 30, 48, 50, 60, 90, 100, 120, 144, 240, 24000 / 1001, 30000 / 1001, 23.976, 7 / 3]
)
def test_what_we_write_is_read_back(fps: float) -> None:
    assert snap_rate(f"{1 / fps:.16g}") == pytest.approx(fps, rel=1e-14)


def test_conversions_of_cmu_that_say_120_of_a_subject_at_60_are_doubted() -> None:
    assert "(fps)" in doubt_rate(Path("87_02.bvh"), 120.0)
    for name, fps in (("87_02.bvh", 60.0), ("16_02.bvh", 120.0), ("walk.bvh", 120.0), ("870_02.bvh", 120.0)):
        assert doubt_rate(Path(name), fps) == ""


def test_names_of_cmu() -> None:
    assert [cmu_subject(Path(f"{name}.amc")) for name in ("05_01", "144_34", "145_01", "00_01", "a16_01", "16_1")] == [
        5, 144, None, None, None, None,
    ]  # fmt: skip
    assert assume_rate(Path("60_01.amc"), Path("body.asf"))[0] == 120, "another body than CMU's"
