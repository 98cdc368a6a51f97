"""Lines on standard error never make anything fail, wherever it goes."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from impinge.kernels import messages


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_ends(capsys: pytest.CaptureFixture[str]) -> None:
    messages.say("one")
    messages.say("two")
    assert capsys.readouterr().err == "one\ntwo\n"


def test_on_a_terminal_a_line_replaces_one_that_was_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Terminal())
    assert messages.on_terminal()
    messages.say("one", end="")
    messages.say("two")
    assert sys.stderr.getvalue() == "\r\x1b[Kone\r\x1b[Ktwo\n"


def test_missing_or_closed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        assert not messages.on_terminal()
        messages.say("nobody reads this")
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device that is always full belongs to Linux")
def test_on_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    said = False
    with pytest.raises(OSError, match="space"), open("/dev/full", "w", buffering=1) as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        messages.say("no room for this")
        monkeypatch.undo()
        said = True
    assert said  # and failed only when the file was closed
