"""The start of the command, before anything is loaded."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

SAY_WHEN_LOADING = """
import sys
class Say:
    def find_spec(self, name, *_):
        if name == "typer":
            print("loading", flush=True)
from impinge.cli.entry import run
assert not {"typer", "rich", "numpy", "impinge.cli.main"} & sys.modules.keys()
sys.meta_path.insert(0, Say())
sys.argv[1:] = ["--help"]
run()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal to send for Ctrl-C to one process")
def test_ctrl_c_while_the_command_is_loaded() -> None:
    command = subprocess.Popen(
        [sys.executable, "-c", SAY_WHEN_LOADING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert command.stdout is not None
    assert command.stdout.readline() == "loading\n"
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=60)
    assert said == "impinge: interrupted\n"
    assert command.returncode == 130
