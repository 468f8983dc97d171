"""Progress bars and Ctrl-C, as the verbs share them."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator

import pytest
from rich.console import Console

from choreograph.base.errors import Cancelled
from choreograph.base.progress import Recorder
from choreograph.cli import common
from choreograph.cli.common import progress_bar, stop_well


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Ctrl-C as a terminal's command hears it, whatever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_control_c_ends_the_work_at_its_next_word_and_the_second_the_command() -> None:
    kept = Recorder()
    with pytest.raises(KeyboardInterrupt), stop_well(kept) as told:
        told("searching", 1, 9)
        press()
        with pytest.raises(Cancelled):
            told("searching", 2, 9)
        press()
    assert [done for _, done, _ in kept.calls] == [1, 2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_control_c_after_the_last_word_counts() -> None:
    with pytest.raises(Cancelled), stop_well(Recorder()) as told:
        told("searching", 9, 9)
        press()


def test_control_c_before_the_work_began_ends_the_command() -> None:
    with pytest.raises(KeyboardInterrupt), stop_well(Recorder()):
        press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_control_c_that_was_turned_off_stays_off() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with stop_well(Recorder()) as told:
        told("searching", 1, 9)
        press()
        told("searching", 2, 9)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_bars_say_amounts_in_their_own_units(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(common, "err_console", Console(file=screen, force_terminal=True, width=120))

    def amount(stage: str, done: float, total: float) -> str | None:
        return f"{done / 1000:.1f} of {total / 1000:.1f} s" if stage == "searching" else None

    with progress_bar(amount) as told:
        told("searching", 3225, 30_000)
        told("reading", 20_000, 30_000)
    assert "3.2 of 30.0 s" in screen.getvalue()
    assert "20.0k/30.0k" in screen.getvalue()
