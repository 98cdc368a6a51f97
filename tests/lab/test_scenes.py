"""The shapes are closed solids of the right volume; the engine bay is what it says."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.apps.demo.engine_bay import CLEARANCE, PLANTED, engine_bay
from impinge.geometry.pose import as_pose, posed_vertices
from impinge.lab.scenes import hollows, shapes
from impinge.mesh.mesh import Mesh

KNOTS = [(0, 0, 0), (50, 0, 10), (80, 30, 60), (80, 90, 60)]
SHAPES = {
    "box": shapes.box(1, 2, 3),
    "bored plate": shapes.blocks((0, 2), (0, 10, 20), (0, 10), bores={(0, 0, 0): 3.0, (0, 1, 0): 4.0}),
    "cylinder": shapes.cylinder(2, 5),
    "cone": shapes.lathe([(0, 0), (3, 6)]),
    "torus": shapes.torus(10, 2),
    "wheel": shapes.wheel(36, 36, 10, 26, 8),
    "bolt": shapes.bolt(16, 12, 5, 14),
    "prism": shapes.prism([(-1, 0), (1, 0), (2, 2), (-2, 2)], -3, 3),
    "fan": shapes.fan(130, 40, 24, 7, 0.2),
    "hose": shapes.hose(KNOTS, 8, 2),
    "belt": shapes.belt([(0, 0, 10), (60, 5, 5), (20, 50, 8)], 6, 2, 0),
    "golf ball": hollows.golf_ball(2),
    "nested shells": hollows.nested_shells(),
    "angle bar": hollows.angle_bar(),
    "channel": hollows.channel(),
    "spool": hollows.spool(),
    "pitted plate": hollows.pitted_plate([[1, 0, 1], [1, 1, 0]]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape_is_a_clean_solid_with_outward_winding(name: str) -> None:
    mesh = SHAPES[name]
    assert mesh.solid
    assert mesh.is_closed
    assert mesh.diagnose().is_clean, mesh.diagnose()
    assert mesh.volume > 0.0


def polygon_area(sides: int, radius: float) -> float:
    return sides / 2.0 * radius**2 * np.sin(2.0 * np.pi / sides)


@pytest.mark.parametrize(
    ("name", "volume"),
    [
        ("box", 6.0),
        ("bored plate", 2 * 200.0 - 2.0 * (polygon_area(16, 3.0) + polygon_area(16, 4.0))),
        ("cylinder", 5.0 * polygon_area(24, 2.0)),
        ("cone", 2.0 * polygon_area(24, 3.0)),
        ("prism", 6.0 * 6.0),
        ("angle bar", 10.0),
        ("channel", 28.0),
        ("spool", 2.0 * polygon_area(16, 3.0) + 2.0 * polygon_area(16, 1.0)),
        ("pitted plate", 6.0 - 4.0 * 0.5 / 3.0),
    ],
)
def test_volume_is_that_of_the_formula(name: str, volume: float) -> None:
    assert SHAPES[name].volume == pytest.approx(volume, rel=1e-12)


def test_circle_is_exact_at_quarter_turns_and_symmetric() -> None:
    circle = shapes.unit_circle(24)
    assert circle[[0, 6, 12, 18]].tolist() == [[1, 0], [0, 1], [-1, 0], [0, -1]]
    assert np.array_equal(circle[12:], -circle[:12])
    with pytest.raises(ValueError, match="multiple of four"):
        shapes.unit_circle(10)


def test_cone_has_a_single_vertex_at_its_tip() -> None:
    vertices = SHAPES["cone"].vertices
    assert np.count_nonzero((vertices == 0.0).all(axis=1)) == 1


def test_belt_encloses_its_wheels() -> None:
    mesh = shapes.belt([(0, 0, 10), (60, 5, 5), (20, 50, 8)], 6, 2, 0)
    for x, z, radius in ((0, 0, 10), (60, 5, 5), (20, 50, 8)):
        reach = np.hypot(mesh.vertices[:, 0] - x, mesh.vertices[:, 2] - z)
        assert reach.min() == pytest.approx(radius, rel=1e-9)


def test_engine_bay_is_a_small_machine() -> None:
    bay = engine_bay()
    assert 20 <= len(bay) <= 30
    assert bay.unit == "mm"
    names = [part.name for part in bay]
    assert len(set(names)) == len(names)
    assert len({id(part.mesh) for part in bay}) < len(bay)
    for part in bay:
        as_pose(part.pose)
        assert part.mesh.solid
        assert part.mesh.diagnose().is_clean, part.name
        assert 12 <= len(part.mesh.faces) < 1000


def test_engine_bay_is_the_same_every_time() -> None:
    for first, second in zip(engine_bay(), engine_bay(), strict=True):
        assert first.name == second.name
        assert np.array_equal(first.pose, second.pose)
        assert np.array_equal(first.mesh.vertices, second.mesh.vertices)
        assert np.array_equal(first.mesh.faces, second.mesh.faces)


def test_planted_cases_name_parts_and_cover_every_kind() -> None:
    names = {part.name for part in engine_bay()}
    for case in PLANTED:
        assert {case.part_a, case.part_b} <= names
        assert (case.kind == "clearance") == (0.0 < case.distance <= CLEARANCE)
    kinds = [case.kind for case in PLANTED]
    assert kinds.count("interference") >= 2
    assert kinds.count("clearance") >= 2
    assert {"nested", "touching", "equal"} <= set(kinds)
    assert len({frozenset((case.part_a, case.part_b)) for case in PLANTED}) == len(PLANTED)


def world(name: str) -> np.ndarray:
    part = engine_bay()[name]
    mesh: Mesh = part.mesh
    return posed_vertices(part.pose, mesh.vertices)


def test_touching_coordinates_are_exact() -> None:
    assert world("idler wheel")[:, 2].min() == world("tensioner arm")[:, 2].max() == 114.0
    assert world("dipstick")[:, 2].min() == world("engine block")[:, 2].max() == 260.0
    assert np.count_nonzero(world("bolt 1")[:, 0] == 160.0) == 24
    assert np.count_nonzero(world("bracket")[:, 0] == 160.0) > 24
