"""Arithmetic: Mirtich (1997), section 3.3, says that enhanced GJK usually takes half as many floating-point operations
again as Lin-Canny or V-Clip, up to twice as many.

Both methods are run in plain Python, in a process of their own, on floats that count their operations
(``arithmetic_count`` says what is counted).  The figures are of impinge's versions of these algorithms.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from impinge.lab.papers.printing import say, titled_console, verdict

STEPS = 180
PAPER = 1.5, 2.0


@dataclass(frozen=True)
class Row:
    """Operations a pose along one path; each part as (arithmetic, comparisons)."""

    path: str
    steps: int
    unproved: int
    operations: dict[str, tuple[float, float]]

    def arithmetic(self, *parts: str) -> float:
        return sum(self.operations[part][0] for part in parts)

    @property
    def trackers(self) -> float:
        """GJK over V-Clip with its placement: what the paper compares."""
        return self.arithmetic("gjk") / self.arithmetic("placement", "vclip")

    @property
    def walks(self) -> float:
        """GJK over the walk of V-Clip alone."""
        return self.arithmetic("gjk") / self.arithmetic("vclip")

    @property
    def certified(self) -> float:
        """With the proofs of impinge."""
        return self.arithmetic("gjk", "gjk proof") / self.arithmetic("placement", "vclip", "vclip proof")


def measure(steps: int) -> list[Row]:
    """In a process without the compiler."""
    command = [sys.executable, "-m", "impinge.lab.papers.arithmetic_count", str(steps)]
    done = subprocess.run(command, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"counting failed: {done.stderr.strip()}")
    return [
        Row(one["path"], one["steps"], one["unproved"], {part: tuple(pair) for part, pair in one["operations"].items()})
        for one in json.loads(done.stdout.splitlines()[-1])
    ]


def table(rows: Sequence[Row]) -> Table:
    parts = list(rows[0].operations)
    ratios = ("GJK / (V-Clip + placement)", "GJK / V-Clip alone", "with proofs")
    made = Table("path, 1 degree a step", *parts, *ratios, "unproved", title="+ - * / sqrt a pose (comparisons)")
    for row in rows:
        cells = (f"{row.operations[part][0]:.0f} ({row.operations[part][1]:.0f})" for part in parts)
        made.add_row(
            row.path, *cells, f"{row.trackers:.2f}", f"{row.walks:.2f}", f"{row.certified:.2f}", f"{row.unproved}"
        )
    for column in made.columns[1:]:
        column.justify = "right"
    return made


def findings(rows: Sequence[Row]) -> list[str]:
    low, high = PAPER
    said = []
    for what, values in (
        ("V-Clip with its placement", [row.trackers for row in rows]),
        ("the walk of V-Clip alone", [row.walks for row in rows]),
    ):
        within = sum(low <= value <= high for value in values)
        said.append(
            f"GJK takes {min(values):.2f} to {max(values):.2f} times the arithmetic of {what}. The paper: enhanced GJK "
            f"usually takes {low} to {high} times as much. So it is on {within} of {len(rows)} paths: "
            f"this {verdict(2 * within > len(rows))}."
        )
    said.append(
        "Counted: additions, subtractions, multiplications, divisions and square roots, each as one; not comparisons "
        "(in brackets), changes of sign, magnitudes, whole numbers. Poses are rotation matrices. GJK includes posing "
        "its vertices, two climbs in each step and its bounds in floats; the proofs are impinge's own."
    )
    said.append(
        "Unproved: ends of either method, of twice the number of poses, that would have gone on with the careful walk, "
        "which is not counted."
    )
    return said


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the number of poses of each path.  Nothing is drawn."""
    console = titled_console("Arithmetic of V-Clip and GJK, Mirtich 1997, section 3.3")
    with console.status("counting"):
        rows = measure(max(2, min(steps or STEPS, STEPS)))
    console.print(table(rows))
    say(console, findings(rows))
