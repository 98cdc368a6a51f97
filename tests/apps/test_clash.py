"""Every kind of finding on small boxes, and the planted cases of the engine bay: all of them, nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.apps import clash
from impinge.apps.clash import Finding, FindingKind
from impinge.apps.clash import check as check_assembly
from impinge.apps.demo.engine_bay import CLEARANCE, PLANTED, engine_bay
from impinge.lab.scenes.shapes import blocks, box
from impinge.mesh.assembly import Assembly, Part
from impinge.mesh.mesh import Mesh

CUBE = box(1, 1, 1)
SMALL = blocks((0.25, 0.5), (0.25, 0.5), (0.25, 0.5))
SQUARE = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2, 3]])


def at(x: float, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def two(a: Mesh, b: Mesh, x: float, y: float = 0.0, z: float = 0.0) -> Assembly:
    return Assembly((Part("a", a, at(0)), Part("b", b, at(x, y, z))), unit="mm")


def check(assembly: Assembly, clearance: float = 0.0) -> tuple[Finding, ...]:
    return check_assembly(assembly, clearance).findings


def only(assembly: Assembly, clearance: float = 0.0) -> Finding:
    findings = check(assembly, clearance)
    assert len(findings) == 1
    return findings[0]


@pytest.mark.parametrize(
    ("other", "place", "kind", "words"),
    [
        (CUBE, (0.5, 0.25, 0.125), FindingKind.INTERFERENCE, "run through each other"),
        pytest.param(CUBE, (0.0, 0.0, 0.0), FindingKind.EQUAL, "placed twice", marks=pytest.mark.nojit_slow),
        (CUBE, (1.0, 0.0, 0.0), FindingKind.TOUCHING, "face on face"),
        (CUBE, (1.0, 1.0, 0.0), FindingKind.TOUCHING, "along edges"),
        (CUBE, (1.0, 1.0, 1.0), FindingKind.TOUCHING, "single point"),
        (SMALL, (0.0, 0.0, 0.0), FindingKind.NESTED, "b lies inside a"),
        (SMALL, (-0.25, 0.0, 0.0), FindingKind.NESTED, "touching the surface of"),
    ],
)
def test_kind_of_two_solids(other: Mesh, place: tuple[float, ...], kind: FindingKind, words: str) -> None:
    finding = only(two(CUBE, other, *place), clearance=0.25)
    assert finding.kind is kind
    assert finding.distance == 0.0
    assert words in finding.description
    assert finding.description.endswith(".")
    assert {finding.part_a, finding.part_b} == {"a", "b"}
    assert finding.where.shape == (3,)
    assert finding.segments.shape[1:] == (2, 3)
    assert (len(finding.segments) > 0) == (kind in (FindingKind.INTERFERENCE, FindingKind.TOUCHING))


def test_nested_names_the_inner_part_first() -> None:
    finding = only(two(CUBE, SMALL, 0.0))
    assert (finding.part_a, finding.part_b) == ("b", "a")
    assert finding.where.tolist() == [0.375, 0.375, 0.375]


def test_clearance_is_a_closed_limit() -> None:
    apart = two(CUBE, CUBE, 1.5)
    assert check(apart) == ()
    assert check(apart, np.nextafter(0.5, 0.0)) == ()
    finding = only(apart, 0.5)
    assert finding.kind is FindingKind.CLEARANCE
    assert finding.distance == 0.5
    assert sorted(finding.segments[0, :, 0]) == [1.0, 1.5]
    assert "0.5 mm apart" in finding.description


def test_clearance_looks_at_the_shapes_not_at_their_boxes() -> None:
    assert check(two(CUBE, CUBE, 1.4, 1.4, 1.4), 0.5) == ()


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_scale_does_not_matter(scale: float) -> None:
    size = 2.0 ** np.round(np.log2(scale))
    cube = box(size, size, size)
    assert only(two(cube, cube, size)).kind is FindingKind.TOUCHING
    assert check(two(cube, cube, np.nextafter(size, np.inf))) == ()


def test_open_surfaces_have_no_inside() -> None:
    assert only(two(CUBE, SQUARE, 0.5, 0.25, 0.5)).kind is FindingKind.INTERFERENCE
    assert only(two(SQUARE, SQUARE, 0.5)).kind is FindingKind.TOUCHING
    assert check(two(SQUARE, SQUARE, 0.0, 0.0, 2.0), 1.0) == ()
    assert only(two(SQUARE, SQUARE, 0.0, 0.0, 2.0), 2.0).distance == 2.0


def test_open_surface_inside_a_solid_is_nested() -> None:
    leaf = Mesh([[0.25, 0.25, 0.5], [0.5, 0.25, 0.5], [0.25, 0.5, 0.5]], [[0, 1, 2]])
    assert only(two(CUBE, leaf, 0.0)).kind is FindingKind.NESTED
    finding = only(two(leaf, CUBE, 0.0))
    assert (finding.kind, finding.part_a) == (FindingKind.NESTED, "a")


def test_the_same_open_surface_twice_is_equal() -> None:
    finding = only(two(SQUARE, SQUARE, 0.0))
    assert finding.kind is FindingKind.EQUAL
    assert "the same surface at the same place" in finding.description


def test_inside_out_is_a_solid_too() -> None:
    inside_out = Mesh(CUBE.vertices, CUBE.faces[:, ::-1])
    assert only(two(inside_out, SMALL, 0.0)).kind is FindingKind.NESTED
    assert only(two(inside_out, CUBE, 0.0)).kind is FindingKind.EQUAL


def test_a_void_is_outside() -> None:
    wall = box(0.9, 0.9, 0.9)
    points = np.concatenate([CUBE.vertices, wall.vertices + 0.05])
    hollow = Mesh(points, np.concatenate([CUBE.faces, wall.faces + 8]))
    assert check(two(hollow, SMALL, 0.0)) == ()


def test_distances_are_those_of_the_bodies_and_not_asked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the world has told the distance")

    monkeypatch.setattr(clash, "distance", refuse)
    monkeypatch.setattr(clash, "contacts", refuse)
    finding = only(two(CUBE, CUBE, 1.5, 0.25), 1.0)
    assert finding.distance == 0.5
    assert sorted(finding.segments[0, :, 0]) == [1.0, 1.5]
    assert finding.where[0] == 1.25


def test_closed_surfaces_count_as_solids() -> None:
    surface = Mesh(CUBE.vertices, CUBE.faces)
    assert only(two(surface, SMALL, 0.0)).kind is FindingKind.NESTED


def test_order_is_by_severity_then_distance_then_name() -> None:
    parts = [("far", 0.0), ("near", 1.25), ("touch", 2.25), ("cross", 3.0), ("gap", 4.375)]
    findings = check(Assembly(tuple(Part(name, CUBE, at(x)) for name, x in parts)), 0.5)
    assert [finding.kind.name for finding in findings] == ["INTERFERENCE", "TOUCHING", "CLEARANCE", "CLEARANCE"]
    assert [finding.distance for finding in findings] == [0.0, 0.0, 0.25, 0.375]


def test_progress_reaches_the_end() -> None:
    seen: list[tuple[int, int]] = []
    check_assembly(two(CUBE, CUBE, 0.5), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 1), (1, 1)]


def test_few_parts() -> None:
    assert check(Assembly(())) == ()
    assert check(Assembly((Part("alone", CUBE, at(0)),)), 1.0) == ()


@pytest.mark.parametrize("clearance", [-1.0, np.nan, np.inf, "wide", [1.0, 2.0]])
def test_bad_clearance_is_named(clearance: object) -> None:
    with pytest.raises(ValueError, match="clearance"):
        check(two(CUBE, CUBE, 3.0), clearance)  # type: ignore[arg-type]


@pytest.mark.nojit_slow
def test_engine_bay_has_the_planted_findings_and_no_others() -> None:
    findings = check(engine_bay(), CLEARANCE)
    found = {(item.kind.name.lower(), frozenset((item.part_a, item.part_b))): item for item in findings}
    planted = {(case.kind, frozenset((case.part_a, case.part_b))): case for case in PLANTED}
    assert set(found) == set(planted)
    assert len(findings) == len(PLANTED)
    for key, case in planted.items():
        assert found[key].distance == pytest.approx(case.distance, rel=1e-14)


@pytest.mark.nojit_slow
def test_engine_bay_answers_do_not_depend_on_the_order_of_parts() -> None:
    bay = engine_bay()
    turned = Assembly(bay.parts[::-1], bay.unit)
    forward, backward = check(bay, CLEARANCE), check(turned, CLEARANCE)
    names = [{(f.kind, frozenset((f.part_a, f.part_b)), f.distance) for f in found} for found in (forward, backward)]
    assert names[0] == names[1]


@pytest.mark.nojit_slow
def test_engine_bay_keeps_a_margin_around_its_clearance() -> None:
    """Small changes of the scene must not tip a case over: the same findings from 4 to 5.5 mm."""
    for clearance in (4.0, 5.5):
        assert len(check(engine_bay(), clearance)) == len(PLANTED)
