"""The torpedo at rest among the rollers of its pivot: Lin, Manocha, Cohen and Gottschalk (1996), section 5 and Fig. 6.

"There are multiple contacts along the length of the torpedo as it rests among the rollers.  A typical collision query
time for the scenario is 100 ms on a 200 MHz R4400."
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from rich.table import Table

import impinge
from impinge.arrays import Floats
from impinge.lab.bench.timing import interleaved
from impinge.lab.papers import drawing
from impinge.lab.papers.contenders import OURS, contenders
from impinge.lab.papers.printing import milliseconds, say, titled_console, verdict
from impinge.lab.scenes import torpedo
from impinge.mesh.mesh import Mesh
from impinge.results import ContactLoop, Contacts

PAPER_SECONDS = 0.1
_ROUNDS = 15


def times(mover: Mesh, fixed: Mesh, pose: Floats, rounds: int) -> dict[str, tuple[float, int]]:
    """Seconds of the fastest round and the number of contacts, for each contender."""
    asked = {name: partial(ask, pose) for name, ask in contenders(mover, fixed).items()}
    counts = {name: ask() for name, ask in asked.items()}
    seconds = interleaved(asked, rounds)
    return {name: (seconds[name], counts[name]) for name in asked}


def table(found: dict[str, tuple[float, int]]) -> Table:
    made = Table("all contacts at rest", "query time", "contacts")
    made.add_row("the paper, 200 MHz R4400", milliseconds(PAPER_SECONDS), "")
    for name, (seconds, contacts) in found.items():
        made.add_row(name, milliseconds(seconds), f"{contacts:,}")
    made.columns[1].justify = made.columns[2].justify = "right"
    return made


def findings(found: dict[str, tuple[float, int]], mover: Mesh, loops: list[ContactLoop]) -> list[str]:
    """What the paper says, and whether it holds for ours."""
    length = float(np.ptp(mover.bounds[:, 0]))
    along = float(np.ptp(np.concatenate([loop.points[:, 0] for loop in loops]))) if loops else 0.0
    regions = len({loop.region for loop in loops})
    seconds = found[OURS][0]
    return [
        f"A query takes {milliseconds(seconds)}; the paper's took {PAPER_SECONDS / seconds:.0f} times as long.",
        'The paper: "there are multiple contacts along the length of the torpedo". '
        f"This {verdict(regions > 1 and along > 0.5 * length)}: there are {regions} separate regions of contact over "
        f"{along:.1f} m of its {length:.1f} m.",
    ]


def picture(mover: Mesh, fixed: Mesh, pose: Floats, contacts: Contacts, loops: list[ContactLoop], path: Path) -> Path:
    """The torpedo in its pivot, and the pivot alone with the contacts."""
    canvas = drawing.figure(13.0, 7.0)
    above, below = canvas.subplots(2, 1)
    view = drawing.View(-20.0, 28.0)
    pivot = drawing.piece_of(fixed, np.eye(4), drawing.FIXED)
    drawing.draw_pieces(above, view, [pivot, drawing.piece_of(mover, pose, drawing.MOVER)])
    above.set_title(f"{len(mover.faces):,} triangles at rest among the rollers of {len(fixed.faces):,}")
    drawing.draw_pieces(below, view, [pivot])
    drawing.draw_loops(below, view, loops)
    below.set_title(f"the {len(contacts):,} contacts, in {len(loops)} loops")
    return drawing.save(canvas, path)


def run(steps: int | None, out: Path) -> None:
    """The command; ``steps`` is the number of rounds."""
    console = titled_console("Torpedo")
    mover, fixed, pose = torpedo.torpedo(), torpedo.pivot(), torpedo.at_rest()
    with console.status("asking"):
        found = times(mover, fixed, pose, min(steps or _ROUNDS, _ROUNDS))
        contacts = impinge.contacts(mover, fixed, pose)
        loops = contacts.loops(mover, fixed, pose)
    console.print(table(found))
    say(console, findings(found, mover, loops))
    with console.status("drawing"):
        path = picture(mover, fixed, pose, contacts, loops, out / "torpedo.png")
    say(console, [path])
