import runpy
import sys

import pytest

from choreograph._version import __version__


def test_python_runs_the_package_as_the_command_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["choreograph", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("choreograph", run_name="__main__")
    assert not ended.value.code and __version__ in capsys.readouterr().out
