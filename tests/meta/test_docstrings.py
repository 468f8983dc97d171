"""Every public function shows an example of its use, and all examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import choreograph

FUNCTIONS = [name for name in choreograph.__all__ if inspect.isfunction(getattr(choreograph, name))]
SOURCE = Path(choreograph.__file__).parent
MODULES = [
    ".".join(("choreograph", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    for path in sorted(SOURCE.rglob("*.py"))
    if re.search(r"^\s*>>> ", path.read_text("utf-8"), re.M)
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_an_example(name: str) -> None:
    assert ">>>" in (getattr(choreograph, name).__doc__ or ""), f"cg.{name} shows no example"


@pytest.mark.parametrize("module", MODULES)
def test_examples_are_true(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0 and found.failed == 0
