"""Figures in the documents, from the results files of benchmarks.

``python -m impinge.lab.bench figures [--check]``, in the root of the repository

What stands between ``<!-- figures: NAME -->`` and ``<!-- end of figures -->`` in README.md and in the pages of docs/ is
written by this command from ``docs/results``; a test compares them.  So no figure outlives its measurement.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from impinge.lab.bench import results
from impinge.lab.bench.pair_timing import BOOLEAN, BUILD, COAL, CONTACTS, DISTANCE, FCL, SCRATCH
from impinge.lab.bench.pairs import PATH_ROWS, PEER_ROWS, duration

RESULTS = Path("docs/results")
_BLOCK = re.compile(
    r"(?P<begin><!-- figures: (?P<name>[\w-]+) -->\n)(?P<body>.*?)(?P<end><!-- end of figures -->)", re.S
)
_WIDTH = 120

Results = dict[str, Any]


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def _cells(measured: Results, row: str) -> list[Results]:
    """A row of the benchmark ``pairs``, scene by scene, where it has poses."""
    return [scene["rows"][row] for scene in measured["scenes"] if row in scene["rows"]]


def _span(measured: Results, row: str) -> str:
    """The smallest and the largest ratio to a peer."""
    ratios = [cell["times_faster"][peer] for cell in _cells(measured, row) for peer in (COAL, FCL)]
    return f"{_ratio(min(ratios))} to {_ratio(max(ratios))}"


def _ratio(value: float) -> str:
    return f"{value:.1f}" if value < 10.0 else f"{value:.0f}"


def pairs_in_short(measured: Results) -> str:
    """For the README."""
    sizes = [count for scene in measured["scenes"] for count in scene["triangles"]]
    return _wrapped(
        f"Against coal and python-fcl, one thread, {len(measured['scenes'])} scenes of {min(sizes):,} to "
        f"{max(sizes):,} triangles ({measured['date']}): booleans {_span(measured, BOOLEAN)} times as fast, distances "
        f"{_span(measured, DISTANCE)} times, all contacts {_span(measured, CONTACTS)} times, building "
        f"{_span(measured, BUILD)} times, in the mean over the poses of a scene ([the table](docs/benchmarks.md))."
    )


def pairs_table(measured: Results) -> str:
    scenes = measured["scenes"]
    lines = [
        _wrapped(
            f"{measured['date']}, {measured['machine']}, one thread. Each cell: how many times faster than coal / than "
            "python-fcl, and our time; on a path how many times faster than our own answers from scratch."
        ),
        "| query | " + " | ".join(_column(scene) for scene in scenes) + " |",
        "|---|" + "---|" * len(scenes),
    ]
    lines += [f"| {row} | " + " | ".join(_peer_cell(scene, row) for scene in scenes) + " |" for row in PEER_ROWS]
    for row in PATH_ROWS:
        cells = (_ratio(scene["rows"][row]["times_faster"][SCRATCH]) for scene in scenes)
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n\n" + _wrapped(_losses(measured)) + "\n" + _wrapped(_rest(measured))


def _column(scene: Results) -> str:
    a, b = scene["triangles"]
    return f"{scene['name']}, {a:,} x {b:,}, {scene['poses']} poses, {scene['touching']} touch"


def _peer_cell(scene: Results, row: str) -> str:
    if row not in scene["rows"]:
        return "-"
    cell = scene["rows"][row]
    ratios = " / ".join(_ratio(cell["times_faster"][peer]) for peer in (COAL, FCL))
    return f"{ratios}, {duration(cell['seconds'])}"


def _losses(measured: Results) -> str:
    """Poses in which we are slower than the faster peer."""
    lost = asked = 0
    worst: tuple[float, str] = (0.0, "")
    for scene in measured["scenes"]:
        for row in PEER_ROWS:
            if row in scene["rows"]:
                cell = scene["rows"][row]
                lost += cell["slower"]
                asked += cell["poses"]
                worst = max(worst, (cell["worst"], f"{row}, {scene['name']}, pose {cell['worst_pose']}"))
    if lost == 0:
        return f"We were faster than either peer in all of {asked:,} measurements."
    return (
        f"In {lost:,} of {asked:,} measurements we were slower than the faster peer, at worst {worst[0]:.2f} times "
        f"({worst[1]})."
    )


def _rest(measured: Results) -> str:
    ours = [scene["bytes_of_tree"] for scene in measured["scenes"]]
    coal = max(scene["bytes_of_coal"] for scene in measured["scenes"])
    far = {name: f"{us:.2g} us" for name, us in measured["far_boxes_us"].items()}
    differ = sum(scene["answers_that_differ"] for scene in measured["scenes"])
    return (
        f"The trees take {min(ours):.0f} to {max(ours):.0f} bytes a triangle beyond the mesh, coal's models "
        f"up to {coal:.0f} with it. Two boxes far apart: {far['impinge.collides']} through "
        f"`impinge.collides`, {far['impinge.Pair.collides']} through `Pair`, {far[COAL]} through coal, {far[FCL]} "
        f"through python-fcl. {differ} answers of the peers differ from ours."
    )


def feeder_in_short(measured: Results) -> str:
    """For the README."""
    row = measured["feeder"][-1]
    ours = row["seconds"]["collides"]
    return _wrapped(
        f"A parts feeder with {row['parts']:,} moving parts of about 1,000 triangles runs at {1.0 / ours:.0f} frames a "
        f"second, {_ratio(row['seconds'][COAL] / ours)} times as fast as a loop over coal's manager "
        f"({measured['date']})."
    )


def feeder_table(measured: Results) -> str:
    rows = measured["feeder"]
    lines = [
        _wrapped(
            f"{measured['date']}, {measured['machine']}, one thread, milliseconds a frame (behind it how many times "
            "slower than `collides`):"
        ),
        "| | " + " | ".join(f"{row['parts']:,} parts" for row in rows) + " |",
        "|---|" + "---:|" * len(rows),
        "| pairs of boxes, collisions | "
        + " | ".join(f"{row['box_pairs']:,.0f}, {row['collisions']:,.0f}" for row in rows)
        + " |",
    ]
    for name in rows[-1]["seconds"]:
        cells = []
        for row in rows:
            seconds = row["seconds"].get(name)
            if seconds is None:
                cells.append("")
                continue
            ratio = f" {_ratio(seconds / row['seconds']['collides'])}x" if name in (COAL, FCL) else ""
            cells.append(f"{1e3 * seconds:.3g}{ratio}")
        shown = name if name in (COAL, FCL) else f"World, {name}"
        lines.append(f"| {shown} | " + " | ".join(cells) + " |")
    last = rows[-1]
    stages = ", ".join(f"{name} {1e3 * seconds:.2g}" for name, seconds in last["stages"].items())
    still = ", ".join(f"{row['seconds']['nothing moved'] / row['seconds']['collides']:.2%}" for row in rows)
    differ = sum(sum(row["different"].values()) for row in rows)
    told = (
        f"Milliseconds of the stages of a frame with {last['parts']:,} parts: {stages}. A frame in which nothing moved "
        f"takes {still} of one in which everything did. {differ} answers of the peers differ from ours."
    )
    return "\n".join(lines) + "\n\n" + _wrapped(told)


FIGURES: dict[str, tuple[str, Callable[[Results], str]]] = {
    "pairs-in-short": ("pairs.json", pairs_in_short),
    "pairs": ("pairs.json", pairs_table),
    "feeder-in-short": ("world.json", feeder_in_short),
    "feeder": ("world.json", feeder_table),
}
"""Name of the block -> results file, and how it is put into words."""


def pages(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def renewed(text: str, root: Path) -> str:
    """A page with all its figures from the results files."""

    def block(found: re.Match[str]) -> str:
        file, render = FIGURES[found["name"]]
        return found["begin"] + render(results.load(root / RESULTS / file)) + found["end"]

    return _BLOCK.sub(block, text)


def without_figures(text: str) -> str:
    """What is left of a page without its figures."""
    return _BLOCK.sub("", text)


def run(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m impinge.lab.bench figures", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say which pages are not what the results say")
    options = parser.parse_args(arguments)
    stale = 0
    for page in pages(Path()):
        text = page.read_text(encoding="utf-8")
        new = renewed(text, Path())
        if new != text:
            stale += 1
            print(f"{page}: {'other figures than in the results' if options.check else 'renewed'}")
            if not options.check:
                page.write_text(new, encoding="utf-8")
    return int(options.check and stale > 0)
