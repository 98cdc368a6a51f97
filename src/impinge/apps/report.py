"""The clash report: one HTML file that holds everything it shows, pictures included."""

from __future__ import annotations

import base64
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from importlib.resources import files
from pathlib import Path

import impinge
from impinge.apps.clash import ClashCheck, Finding, FindingKind
from impinge.apps.length_text import length_text, with_unit
from impinge.apps.picture import COLOUR_A, COLOUR_B, SIGNAL, finding_picture, overview_picture
from impinge.apps.scene import Scene
from impinge.apps.visible_text import visible
from impinge.apps.wording import notes
from impinge.mesh.assembly import Assembly

Progress = Callable[[int, int], None]
"""Called with (pictures done, pictures in all)."""

OVERVIEW_SIZE = (1200, 760)
PICTURE_SIZE = (760, 520)
_MOST_THREADS = 8
"""Each needs some 60 MB."""


def report(
    assembly: Assembly,
    result: ClashCheck,
    title: str,
    progress: Progress | None = None,
    *,
    remarks: Sequence[str] = (),
) -> str:
    """The text of a self-contained HTML page: nothing is fetched from anywhere.

    ``remarks`` are sentences about the input, to stand with those about the check.
    """
    from jinja2 import Environment, StrictUndefined

    findings, unit = result.findings, assembly.unit
    overview, *pictures = _pictures(assembly, findings, progress)
    cards = [
        {
            "finding": finding,
            "picture": picture,
            "size": PICTURE_SIZE,
            "distance": length_text(finding.distance, unit) if finding.kind is FindingKind.CLEARANCE else "",
            "place": with_unit("({:.5g}, {:.5g}, {:.5g})".format(*finding.where), unit),
        }
        for finding, picture in zip(findings, pictures, strict=True)
    ]
    counted = Counter(finding.kind for finding in findings)
    environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=_shown)
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
        clearance=length_text(result.clearance, unit),
        has_clearance=result.clearance > 0.0,
        notes=[*remarks, *notes(assembly, result)],
        unit=unit,
        welded=bool(result.welded),
        overview=overview,
        overview_size=OVERVIEW_SIZE,
        cards=cards,
    )


def write_report(
    path: str | Path,
    assembly: Assembly,
    result: ClashCheck,
    title: str,
    progress: Progress | None = None,
    *,
    remarks: Sequence[str] = (),
) -> None:
    """Write ``report(...)`` to a file."""
    page = report(assembly, result, title, progress, remarks=remarks)
    Path(path).write_text(page, encoding="utf-8", errors="backslashreplace")


def _pictures(assembly: Assembly, findings: Sequence[Finding], progress: Progress | None) -> list[str]:
    """The overview and a picture of each finding, drawn by as many threads as there are processors."""
    show = progress or (lambda done, total: None)
    total = 1 + len(findings)
    show(0, total)
    scene = Scene.of(assembly)
    pool = ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS))
    try:
        tasks = [pool.submit(overview_picture, scene, findings, *OVERVIEW_SIZE)]
        tasks += [pool.submit(finding_picture, scene, finding, *PICTURE_SIZE) for finding in findings]
        done, pending = 0, set(tasks)
        while pending:
            # With a limit: without one, Ctrl-C is not noticed on every system before the end.
            finished, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            for task in finished:
                task.result()
                done += 1
                show(done, total)
        return [_inline(task.result()) for task in tasks]
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C no further picture is begun


def _inline(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _shown(value: object) -> object:
    """What stands in the page for a value of the template."""
    return visible(value) if isinstance(value, str) else value


def _css(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
