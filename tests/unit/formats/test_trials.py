from __future__ import annotations

from pathlib import Path

import pytest

from choreograph.base.errors import FormatError
from choreograph.formats.trials import Trial, find_trial, read_trials, write_trials


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


def test_the_line_of_a_motion_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trials.tsv").write_text("\ufefftrial\tfps\tdescription\n16_01\t60\tjump \n16_02\t\tturn\n")
    (tmp_path / "16").mkdir()
    assert find_trial(tmp_path / "16" / "16_01.amc") == Trial("16_01", None, 60, "jump")
    assert find_trial(tmp_path / "16_02.amc") == Trial("16_02", None, None, "turn")
    assert find_trial(tmp_path / "16_03.amc") is None
    monkeypatch.chdir(tmp_path / "16")
    assert find_trial(Path("16_01.amc")) == Trial("16_01", None, 60, "jump")
    # The table is read again once it has changed.
    (tmp_path / "trials.tsv").write_text("trial\tfps\n16_03\t29.97\n")
    found = find_trial(tmp_path / "16_03.amc")
    assert found is not None and found.fps == 29.97


@pytest.mark.parametrize("fps", ["fast", "0", "-1", "nan", "inf", "1e9"])
def test_a_senseless_rate_is_an_error_only_for_its_own_trial(tmp_path: Path, fps: str) -> None:
    (tmp_path / "trials.tsv").write_text(f"trial\tfps\n16_01\t60\n16_02\t{fps}\n")
    assert find_trial(tmp_path / "16_01.amc") == Trial("16_01", None, 60)
    with pytest.raises(FormatError, match="make no sense for '16_02'") as caught:
        find_trial(tmp_path / "16_02.amc")
    assert caught.value.line == 3
