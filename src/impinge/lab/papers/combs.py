"""Comb polyhedra, the worst case of Ponamgi, Manocha and Lin (1997), Fig. 1 (b): every feature pair is in contact.

n teeth through n teeth make n * n separate regions of contact, so no algorithm that reports all of them takes
less than quadratic time.  What can be expected is that the time stays in proportion to what is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.progress import track
from rich.table import Table

import impinge
from impinge.bvh.search import TreeSearch
from impinge.bvh.volumes.obb import OBBTree
from impinge.lab.bench.timing import interleaved
from impinge.lab.papers import drawing
from impinge.lab.papers.contenders import OURS, contenders
from impinge.lab.papers.printing import milliseconds, say, titled_console, verdict
from impinge.lab.scenes.combs import comb, crossing

TEETH = (4, 8, 16, 32, 64, 128)
_ROUNDS = 3


@dataclass(frozen=True)
class Row:
    """Two combs that cross."""

    teeth: int
    triangles: int
    """Of each comb."""
    contacts: int
    regions: int
    box_tests: int
    triangle_tests: int
    seconds: dict[str, float]
    """Of each contender."""


def measure(teeth: int) -> Row:
    fixed, mover, pose = comb(teeth), comb(teeth), crossing(teeth)
    found = impinge.contacts(mover, fixed, pose)
    loops = found.loops(mover, fixed, pose)
    search = TreeSearch(OBBTree.of(mover), OBBTree.of(fixed))
    search.contact_pairs(pose[None].copy(), np.eye(4)[None].copy())
    asked = {name: partial(ask, pose) for name, ask in contenders(mover, fixed).items()}
    seconds = interleaved(asked, _ROUNDS)
    taken = search.statistics
    regions = len({loop.region for loop in loops})
    return Row(teeth, len(mover.faces), len(found), regions, taken.box_tests, taken.triangle_tests, seconds)


def growth(rows: list[Row], what: str) -> float:
    """The exponent of the number of teeth over the last doubling."""
    if len(rows) < 2:
        return float("nan")
    before, after = (row.seconds[OURS] if what == "seconds" else getattr(row, what) for row in rows[-2:])
    return float(np.log(after / before) / np.log(rows[-1].teeth / rows[-2].teeth))


def table(rows: list[Row]) -> Table:
    names = list(rows[0].seconds)
    made = Table(
        "teeth", "triangles", "contacts", "regions", "box tests", "triangle tests", *names, f"{OURS}, a contact"
    )
    for row in rows:
        made.add_row(
            f"{row.teeth} x {row.teeth}",
            f"{row.triangles:,}",
            f"{row.contacts:,}",
            f"{row.regions:,}",
            f"{row.box_tests:,}",
            f"{row.triangle_tests:,}",
            *(milliseconds(row.seconds[name]) for name in names),
            f"{1e9 * row.seconds[OURS] / row.contacts:.0f} ns",
        )
    for column in made.columns:
        column.justify = "right"
    return made


def findings(rows: list[Row]) -> list[str]:
    """What the paper says, and whether it holds for ours."""
    separate = all(row.regions == row.teeth**2 for row in rows)
    how = "n teeth through n teeth make n * n separate regions of contact" if separate else "some regions are missing"
    said = [f'The paper: with combs contact "can occur for all feature pairs". This {verdict(separate)}: {how}.']
    if len(rows) > 1:
        said.append(
            f"Over the last doubling contacts grow like n^{growth(rows, 'contacts'):.2f}, box tests like "
            f"n^{growth(rows, 'box_tests'):.2f} and our time like n^{growth(rows, 'seconds'):.2f}."
        )
    return said


def picture(rows: list[Row], path: Path) -> Path:
    canvas = drawing.figure(13.0, 5.8)
    scene, plot = canvas.subplots(1, 2)
    teeth = 8
    fixed, mover, pose = comb(teeth), comb(teeth), crossing(teeth)
    view = drawing.View(30.0, 40.0)
    pieces = [drawing.piece_of(fixed, np.eye(4), drawing.FIXED), drawing.piece_of(mover, pose, drawing.MOVER)]
    drawing.draw_pieces(scene, view, pieces)
    drawing.draw_loops(scene, view, impinge.contacts(mover, fixed, pose).loops(mover, fixed, pose))
    scene.set_title(f"{teeth} x {teeth} teeth, contacts in red")
    n = np.array([row.teeth for row in rows])
    plot.loglog(n, [row.contacts for row in rows], "o-", color=drawing.SIGNAL, label="contacts")
    plot.loglog(n, [row.box_tests for row in rows], "s-", color=drawing.MOVER, label="box tests")
    plot.loglog(n, [1e6 * row.seconds[OURS] for row in rows], "^-", color="0.3", label=f"time of {OURS}, microseconds")
    plot.loglog(n, rows[0].contacts * (n / n[0]) ** 2.0, "--", color="0.6", label="quadratic")
    plot.set_xlabel("teeth of each comb")
    plot.grid(visible=True, alpha=0.3)
    plot.legend()
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the number of rows."""
    console = titled_console("Combs")
    rows = [measure(teeth) for teeth in track(TEETH[: steps or len(TEETH)], "combs", transient=True)]
    console.print(table(rows))
    say(console, findings(rows))
    say(console, [picture(rows, out / "combs.png")])
