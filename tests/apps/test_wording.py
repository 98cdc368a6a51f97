"""Sentences about a check, in the singular and the plural."""

from __future__ import annotations

import numpy as np

from impinge.apps.clash import ClashCheck, Finding, FindingKind
from impinge.apps.solids import OpenPart, WeldedMesh
from impinge.apps.wording import notes, summary
from impinge.lab.scenes.shapes import box
from impinge.mesh.assembly import Assembly, Part

CUBE = box(1, 1, 1)
PARTS = tuple(Part(name, CUBE, np.eye(4)) for name in "abcd")


def result(
    *kinds: FindingKind, welded: tuple[WeldedMesh, ...] = (), open_parts: tuple[OpenPart, ...] = ()
) -> ClashCheck:
    nowhere = np.zeros(3), np.empty((0, 2, 3))
    findings = tuple(Finding(kind, "a", "b", 0.0, *nowhere, "") for kind in kinds)
    return ClashCheck(findings, 0.5, "auto", welded, open_parts)


def test_summary() -> None:
    crossing, touching, near = FindingKind.INTERFERENCE, FindingKind.TOUCHING, FindingKind.CLEARANCE
    inches = Assembly(PARTS, "in")
    assert summary(inches, result()) == "no findings among 4 parts, clearance 0.5 in"
    assert summary(Assembly(PARTS), result(touching)) == "1 finding among 4 parts, clearance 0.5: 1 touching"
    assert summary(inches, result(near, crossing, touching, crossing)) == (
        "4 findings among 4 parts, clearance 0.5 in: 2 interferences, 1 touching, 1 within the clearance"
    )


def test_notes() -> None:
    assert notes(Assembly(PARTS, "mm"), result()) == []
    assert notes(Assembly(PARTS), result()) == [
        "No unit is named: lengths are in the unit of the coordinates, whatever it is."
    ]


def test_notes_about_welding() -> None:
    meshes = (WeldedMesh(("a", "b"), 1200, 1e-9), WeldedMesh(("c",), 3, 2e-9))
    assert notes(Assembly(PARTS, "mm"), result(welded=meshes)) == [
        "3 of 4 parts are closed by welding 1,203 vertices by at most 2e-09 mm; "
        "the answers are exact for the welded coordinates."
    ]


def test_notes_about_open_parts() -> None:
    parts = tuple(OpenPart(name, edges) for name, edges in (("a", 1), ("b", 12), ("c", 4)))
    inches = Assembly(PARTS, "in")
    assert notes(inches, result(open_parts=parts[:1])) == [
        "1 of 4 parts is an open surface, so nothing was checked for lying inside it: a (1 open edge)."
    ]
    assert notes(inches, result(open_parts=parts), most_names=2) == [
        "3 of 4 parts are open surfaces, so nothing was checked for lying inside them: "
        "a (1 open edge), b (12 open edges), and 1 more."
    ]
