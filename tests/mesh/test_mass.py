"""Mass properties of bodies with known answers."""

import numpy as np
import pytest

from impinge.errors import Unsupported
from impinge.mesh.mesh import Mesh

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
OUTWARD = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
INWARD = [quad[::-1] for quad in OUTWARD]


@pytest.mark.parametrize("scale", [1.0, 2.0**-300, 2.0**100])
@pytest.mark.parametrize("corner", [(0.0, 0.0, 0.0), (-7.0, 1000.0, 3.0), (1e8, 1e8, -1e8)])
def test_a_box_anywhere(scale, corner):
    size = np.array([1.0, 2.0, 4.0])
    mesh = Mesh((CUBE * size + corner) * scale, OUTWARD)
    assert mesh.area == 28.0 * scale**2
    assert mesh.volume == 8.0 * scale**3
    np.testing.assert_array_equal(mesh.centre_of_mass, (np.array(corner) + size / 2) * scale)
    expected = np.diag([4 + 16, 1 + 16, 1 + 4]) * (8.0 / 12.0) * scale**5
    np.testing.assert_allclose(mesh.inertia, expected, rtol=1e-14, atol=1e-15 * expected.max())
    assert not mesh.inertia.flags.writeable


def test_inward_winding_has_negative_volume_but_the_same_body():
    mesh = Mesh(CUBE, INWARD)
    assert mesh.volume == -1.0
    assert mesh.area == 6.0
    np.testing.assert_array_equal(mesh.centre_of_mass, [0.5, 0.5, 0.5])
    np.testing.assert_allclose(mesh.inertia, np.eye(3) / 6.0, rtol=1e-15, atol=1e-16)


def test_a_cavity_counts_as_empty():
    inner = CUBE * 0.5 + 0.25
    mesh = Mesh(np.concatenate([CUBE, inner]), [*OUTWARD, *([i + 8 for i in quad] for quad in INWARD)])
    assert mesh.volume == 1.0 - 0.125
    np.testing.assert_allclose(mesh.inertia, np.eye(3) / 6.0 * (1.0 - 0.5**5), rtol=1e-14, atol=1e-16)


def test_a_tetrahedron_against_its_integrals():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    assert mesh.volume == pytest.approx(1 / 6, rel=1e-15)
    np.testing.assert_allclose(mesh.centre_of_mass, [0.25] * 3, rtol=1e-15)
    # Second moments of the unit simplex: 1/60 and 1/120 about the corner, moved to the centre.
    moment = np.full((3, 3), 1 / 120) + np.eye(3) / 120 - np.full((3, 3), 1 / 16) / 6
    np.testing.assert_allclose(mesh.inertia, np.trace(moment) * np.eye(3) - moment, rtol=1e-13)


def test_rotation_turns_the_inertia():
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, -s, 0, 5], [s, c, 0, 6], [0, 0, 1, 7], [0, 0, 0, 1]])
    box = Mesh(CUBE * [1, 2, 3], OUTWARD)
    turned = box.transformed(turn)
    np.testing.assert_allclose(turned.inertia, turn[:3, :3] @ box.inertia @ turn[:3, :3].T, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(turned.centre_of_mass, turn[:3, :3] @ box.centre_of_mass + [5, 6, 7], rtol=1e-14)


def test_an_open_mesh_has_an_area_only():
    mesh = Mesh(CUBE, OUTWARD[:5])
    assert mesh.area == 5.0
    for name in ("volume", "centre_of_mass", "inertia"):
        with pytest.raises(Unsupported, match="open at 4 edges"):
            getattr(mesh, name)


def test_contradicting_windings_have_no_volume():
    with pytest.raises(Unsupported, match="wound against each other at 4 edges"):
        _ = Mesh(CUBE, [*OUTWARD[:5], INWARD[5]]).volume


@pytest.mark.parametrize("offset", [0.0, 0.1, 1e6])
def test_a_flat_pocket_encloses_nothing(offset):
    points = np.random.default_rng(0).normal(size=(3, 3)) + offset
    mesh = Mesh(points, [[0, 1, 2], [0, 2, 1]], solid=True)
    assert mesh.volume == 0.0
    for name in ("centre_of_mass", "inertia"):
        with pytest.raises(Unsupported, match="encloses no volume"):
            getattr(mesh, name)


def test_a_point_has_no_area():
    mesh = Mesh([[3.0, 4.0, 5.0]], [[0, 0, 0]])
    assert mesh.area == 0.0
    assert mesh.volume == 0.0
