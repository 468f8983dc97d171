"""Every public function shows an example of its use, and all examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest
from tests.meta.tree import modules

import choreograph

FUNCTIONS = [name for name in choreograph.__all__ if inspect.isfunction(getattr(choreograph, name))]


def test_every_public_function_has_an_example() -> None:
    wrong = [f"cg.{name}" for name in FUNCTIONS if ">>>" not in (getattr(choreograph, name).__doc__ or "")]
    assert not wrong, f"they show no example: {', '.join(wrong)}"


@pytest.mark.slow
def test_examples_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = []
    for module in modules():
        if re.search(r"^\s*>>> ", module.text, re.M):
            folder = tmp_path / module.name
            folder.mkdir()
            monkeypatch.chdir(folder)
            result = doctest.testmod(importlib.import_module(module.name), optionflags=doctest.ELLIPSIS)
            if result.failed or not result.attempted:
                wrong.append(f"{module}: {result.failed} of {result.attempted} fail")
    assert not wrong, "\n".join([*wrong, capsys.readouterr().out])
