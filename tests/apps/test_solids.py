"""Parts become solids where they are closed, by welding too; what stays open is named."""

from __future__ import annotations

import numpy as np
import pytest

from impinge.apps.clash import FindingKind, check
from impinge.apps.solids import as_bodies
from impinge.lab.scenes.shapes import blocks, box
from impinge.mesh.assembly import Assembly, Part
from impinge.mesh.mesh import Mesh

CUBE = box(1, 1, 1)
SMALL = blocks((0.25, 0.5), (0.25, 0.5), (0.25, 0.5))
LIDLESS = Mesh(CUBE.vertices, CUBE.faces[:-1])
"""One triangle is missing."""


def cracked(gap: float) -> Mesh:
    """A cube whose top has vertices of its own, higher by the gap."""
    top = (CUBE.triangles[:, :, 2] == 1.0).all(axis=1)
    points = np.concatenate([CUBE.vertices, CUBE.vertices + [0.0, 0.0, gap]])
    return Mesh(points, np.concatenate([CUBE.faces[~top], CUBE.faces[top] + 8]))


def assembly(*meshes: Mesh) -> Assembly:
    return Assembly(tuple(Part(f"part{i}", mesh, np.eye(4)) for i, mesh in enumerate(meshes)), "mm")


def test_an_open_part_is_named_and_nothing_is_inside_it() -> None:
    result = check(assembly(LIDLESS, SMALL))
    assert result.findings == ()
    assert [(part.name, part.open_edges) for part in result.open_parts] == [("part0", 3)]
    assert result.welded == ()


def test_welding_closes_what_is_equal_but_for_rounding() -> None:
    result = check(assembly(cracked(1e-9), SMALL))
    assert [finding.kind for finding in result.findings] == [FindingKind.NESTED]
    assert result.open_parts == ()
    (welded,) = result.welded
    assert (welded.parts, welded.vertices) == (("part0",), 4)
    assert welded.largest_move == pytest.approx(1e-9)


def test_welding_can_be_asked_for_and_turned_off() -> None:
    cube = cracked(1e-3)
    assert len(as_bodies(assembly(cube), "auto").open_parts) == 1
    assert len(as_bodies(assembly(cube), 0.01).open_parts) == 0
    assert len(as_bodies(assembly(cracked(1e-9)), None).open_parts) == 1
    with pytest.raises(ValueError, match="weld"):
        check(assembly(CUBE, SMALL), weld=-1.0)


def test_a_part_that_welding_does_not_close_keeps_its_coordinates() -> None:
    cube = cracked(1e-9)
    holed = Mesh(cube.vertices, cube.faces[1:])
    made = as_bodies(assembly(holed, CUBE), "auto")
    assert made.bodies[0] is holed
    assert made.bodies[1].solid
    assert made.welded == ()


def test_a_length_wider_than_a_part_leaves_it_open() -> None:
    rng = np.random.default_rng(1)
    soup = Mesh(rng.random((3000, 3)), np.arange(3000).reshape(-1, 3))
    assert [part.open_edges for part in as_bodies(assembly(soup), 10.0).open_parts] == [3000]


def test_instances_share_their_body_and_are_welded_once() -> None:
    cube = cracked(1e-9)
    made = as_bodies(assembly(cube, SMALL, cube), "auto")
    assert made.bodies[0] is made.bodies[2]
    assert [mesh.parts for mesh in made.welded] == [("part0", "part2")]


@pytest.mark.parametrize("turned", [False, True])
def test_a_part_whose_faces_are_there_twice_has_an_inside(turned: bool) -> None:
    copies = CUBE.faces[:, ::-1] if turned else CUBE.faces
    doubled = Mesh(CUBE.vertices, np.concatenate([CUBE.faces, copies]), solid=True)
    assert [finding.kind for finding in check(assembly(doubled, SMALL)).findings] == [FindingKind.NESTED]


def test_a_solid_is_used_as_it_is() -> None:
    assert as_bodies(assembly(CUBE), "auto").bodies[0] is CUBE
