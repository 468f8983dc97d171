from __future__ import annotations

from pathlib import Path

from choreograph.formats.trials import Trial, read_trials, write_trials


def test_round_trip_in_order(tmp_path: Path) -> None:
    rows = {name: Trial(name, 100, 60, f"walk {name}") for name in ("16_10", "16_02")}
    path = write_trials(tmp_path, rows)
    assert path.read_text().splitlines() == [
        "trial\tframes\tfps\tdescription",
        "16_02\t100\t60\twalk 16_02",
        "16_10\t100\t60\twalk 16_10",
    ]
    assert read_trials(tmp_path) == rows
    assert [file.name for file in tmp_path.iterdir()] == ["trials.tsv"]


def test_descriptions_cannot_break_the_table(tmp_path: Path) -> None:
    write_trials(tmp_path, {"16_01": Trial("16_01", 5, 120, "a\tb\nc")})
    assert read_trials(tmp_path)["16_01"].description == "a b c"


def test_damaged_rows_count_as_absent(tmp_path: Path) -> None:
    (tmp_path / "trials.tsv").write_text("trial\tframes\tfps\n16_01\t5\t120\n16_02\tfive\t120\n16_03\t5\t0\n\n16_04\n")
    assert list(read_trials(tmp_path)) == ["16_01"]


def test_no_table(tmp_path: Path) -> None:
    assert read_trials(tmp_path) == {}
