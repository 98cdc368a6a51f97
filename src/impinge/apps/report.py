"""The clash report: one HTML file that holds everything it shows, pictures included."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path

import impinge
from impinge.apps.clash import Finding, FindingKind
from impinge.apps.picture import COLOUR_A, COLOUR_B, SIGNAL, finding_picture, overview_picture
from impinge.geometry.assembly import Assembly

Progress = Callable[[int, int], None]
"""Called with (pictures done, pictures in all)."""

OVERVIEW_SIZE = (1200, 760)
PICTURE_SIZE = (760, 520)


def report(
    assembly: Assembly,
    findings: Sequence[Finding],
    clearance: float,
    title: str,
    progress: Progress | None = None,
) -> str:
    """The text of a self-contained HTML page: nothing is fetched from anywhere."""
    from jinja2 import Environment, StrictUndefined

    total = 1 + len(findings)

    def step(done: int) -> None:
        if progress is not None:
            progress(done, total)

    step(0)
    overview = _inline(overview_picture(assembly, findings, *OVERVIEW_SIZE))
    cards = []
    for number, finding in enumerate(findings, start=1):
        step(number)
        cards.append(
            {
                "finding": finding,
                "picture": _inline(finding_picture(assembly, finding, *PICTURE_SIZE)),
                "size": PICTURE_SIZE,
                "distance": _length(finding.distance, assembly) if finding.kind is FindingKind.CLEARANCE else "",
                "place": ", ".join(f"{value:.5g}" for value in finding.where),
            }
        )
    step(total)
    counted = Counter(finding.kind for finding in findings)
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(files("impinge.apps").joinpath("report.html.jinja").read_text("utf-8"))
    return template.render(
        title=title,
        version=impinge.__version__,
        colour_a=_css(COLOUR_A),
        colour_b=_css(COLOUR_B),
        signal=_css(SIGNAL),
        kinds=list(FindingKind),
        counts=sorted(counted.items()),
        part_count=len(assembly),
        triangle_count=sum(len(part.mesh.faces) for part in assembly),
        clearance=_length(clearance, assembly),
        has_clearance=clearance > 0.0,
        overview=overview,
        overview_size=OVERVIEW_SIZE,
        cards=cards,
    )


def write_report(
    path: str | Path,
    assembly: Assembly,
    findings: Sequence[Finding],
    clearance: float,
    title: str,
    progress: Progress | None = None,
) -> None:
    """Write ``report(...)`` to a file."""
    page = report(assembly, findings, clearance, title, progress)
    Path(path).write_text(page, encoding="utf-8", errors="backslashreplace")


def _inline(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _css(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _length(value: float, assembly: Assembly) -> str:
    return f"{value:.4g} {assembly.unit}" if assembly.unit else f"{value:.4g}"
