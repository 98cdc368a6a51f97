"""The code in the documentation runs, and prints what the page says.

Blocks marked ``pycon`` are sessions whose output is compared, blocks marked
``python`` are executed; all blocks of a page share one namespace and start in
an empty directory.  ``<!-- not run: reason -->`` on the line before a block
leaves it out.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^(?P<mark><!-- not run: .+ -->\n)?```(?P<language>python|pycon)\b[^\n]*\n(?P<code>.*?)^```$", re.M | re.S
)


def run_session(code: str, page: Path, line: int, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), line)
    test.globs = namespace
    failures: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(
        test, out=failures.append, clear_globs=False
    )
    assert not failures, "".join(failures)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        if block["mark"]:
            continue
        line = text.count("\n", 0, block.start("code"))
        if block["language"] == "pycon":
            run_session(block["code"], page, line, namespace)
        else:
            exec(compile("\n" * line + block["code"], str(page), "exec"), namespace)
