"""Bolt and nut: the paper's polygons, the profile within its tolerance, and ways in that do what they say."""

from __future__ import annotations

import numpy as np
import pytest

import impinge
from impinge.arrays import Floats
from impinge.geometry.pose import as_pose
from impinge.lab.papers.critical_points import beyond_nut, crest_points
from impinge.lab.scenes.screw import COARSE, DIAMETER, FINE, TOLERANCE, Screw, screw

RATIOS = pytest.mark.parametrize("ratio", [FINE, COARSE])


@RATIOS
@pytest.mark.parametrize(("threads", "bolt", "nut"), [(3, 562, 462), (6, 1024, 924), (9, 1486, 1386)])
def test_polygons_as_in_table_2(threads: int, bolt: int, nut: int, ratio: float) -> None:
    made = screw(threads, ratio)
    outer, inner = made.bolt(), made.nut()
    assert (len(outer.faces), len(inner.faces)) == (bolt, nut)
    assert outer.is_closed
    assert not inner.is_closed
    assert outer.component_count == inner.component_count == 1
    assert outer.volume > 0.0
    reach = np.hypot(inner.vertices[:, 0], inner.vertices[:, 1])
    assert reach.max() == pytest.approx(0.5 * DIAMETER)
    assert not outer.diagnose().degenerate_faces.size


def test_fine_threads_have_twice_the_ratio() -> None:
    assert screw(3, COARSE).pitch == 2.0 * screw(3, FINE).pitch


@RATIOS
def test_the_profile_is_round_and_steep(ratio: float) -> None:
    made = screw(3, ratio)
    along = np.linspace(0.0, made.pitch, 2001)
    high = made.height(along)
    assert high.min() == pytest.approx(0.0, abs=1e-12)
    assert high.max() == pytest.approx(made.depth)
    assert high == pytest.approx(high[::-1], abs=1e-12)
    slope = np.abs(np.diff(high) / np.diff(along))
    assert slope.max() == pytest.approx(np.sqrt(3.0), rel=1e-6)
    assert np.abs(np.diff(slope)).max() < 0.05  # no corners: arcs touch the flanks
    assert made.height(made.corners()[4]) == pytest.approx(made.depth)
    assert np.ptp(made.corners()[[0, -1]]) == pytest.approx(made.pitch)


def off_the_surface(made: Screw, radius: float, triangles: Floats) -> float:
    """How far places on triangles are from the true thread, in the plane through the axis."""
    shares = np.array([[1, 1, 1], [3, 3, 0], [0, 3, 3], [3, 0, 3], [4, 1, 1], [1, 4, 1], [1, 1, 4]]) / [[3], *[[6]] * 6]
    points = (shares @ triangles).reshape(-1, 3)
    reach, angle = np.hypot(points[:, 0], points[:, 1]), np.arctan2(points[:, 1], points[:, 0])
    place = (points[:, 2] - made.pitch * angle / (2.0 * np.pi)) % made.pitch
    along = np.linspace(-0.5, 1.5, 1001) * made.pitch
    true = radius - made.depth + made.height(along)
    gaps = np.hypot(reach[:, None] - true, place[:, None] - along)
    return float(gaps.min(axis=1).max())


@RATIOS
def test_the_polygons_keep_the_tolerance(ratio: float) -> None:
    made = screw(3, ratio)
    assert 0.7 * TOLERANCE < off_the_surface(made, 0.5 * DIAMETER, made.nut().triangles) <= TOLERANCE
    thread = made.bolt().triangles[: 3 * 154]
    assert off_the_surface(made, made.bolt_radius, thread) <= TOLERANCE


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 1, "pitch": 0.2}, "threads is 1"),
        ({"threads": 3, "pitch": 0.2, "allowance": 1.5}, "allowance is 1.5"),
        ({"threads": 3, "pitch": 0.2, "rounding": 0.1}, "rounding is 0.1"),
        ({"threads": 3, "pitch": 3.0}, "too deep"),
    ],
)
def test_what_is_no_screw(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Screw(**options)  # type: ignore[arg-type]


@RATIOS
def test_ways_are_smooth_and_end_in_place(ratio: float) -> None:
    made = screw(3, ratio)
    for way in (made.insertion(60), made.cross_threaded(60)):
        as_pose(way, "way")
        assert way.shape == (120, 4, 4)
        assert np.abs(np.diff(way, axis=0)).max() < 0.2
    home = made.insertion(60)[-1]
    assert np.abs(home[:3, 3]).max() <= made.clearance
    assert home[2, 2] == pytest.approx(1.0, abs=1e-3)
    assert np.degrees(np.arccos(made.cross_threaded(60)[0, 2, 2])) == pytest.approx(np.degrees(np.arctan(1.0 / ratio)))


def test_what_is_beyond_the_nut() -> None:
    made = screw(3, COARSE)
    nut = made.nut()
    angle = np.linspace(0.0, 2.0 * np.pi, 23)[:-1] + 0.1
    height = 1.7 * made.pitch + made.pitch * angle / (2.0 * np.pi)

    def on_circle(reach: float) -> Floats:
        return np.column_stack([reach * np.cos(angle), reach * np.sin(angle), height])

    radius = 0.5 * made.diameter - made.depth + float(made.height(0.7 * made.pitch))
    assert beyond_nut(made, nut, on_circle(radius + TOLERANCE * 2.0)).all()
    assert not beyond_nut(made, nut, on_circle(radius - TOLERANCE * 2.0)).any()
    assert not beyond_nut(made, nut, on_circle(9.0) + [0.0, 0.0, 9.0]).any()
    assert not beyond_nut(made, nut, on_circle(9.0) - [0.0, 0.0, 9.0]).any()
    inward, outward = nut.triangles.mean(axis=1) * [0.999, 0.999, 1.0], nut.triangles.mean(axis=1) * [1.001, 1.001, 1.0]
    assert beyond_nut(made, nut, outward).all()
    assert not beyond_nut(made, nut, inward).any()


def test_critical_points_lie_on_the_crest() -> None:
    made = screw(3, FINE)
    points = crest_points(made, made.bolt(), parts=3)
    assert len(points) == 3 * 33 + 1
    assert np.hypot(points[::3, 0], points[::3, 1]) == pytest.approx(np.full(34, made.bolt_radius))
    assert np.hypot(points[:, 0], points[:, 1]).min() > made.bolt_radius - TOLERANCE
    assert np.diff(points[:, 2]) == pytest.approx(np.full(99, made.pitch / 33.0))


@pytest.mark.nojit_slow
@RATIOS
def test_the_bolt_turns_freely_in_its_thread_but_not_beside_it(ratio: float) -> None:
    made = screw(3, ratio)
    bolt, nut = made.bolt(), made.nut()
    gap = impinge.distance(bolt, nut, made.screwed(np.linspace(-4.0 * np.pi, 0.0, 60))).value
    assert gap.min() > 0.0
    assert gap.max() < made.clearance
    beside = made.screwed(0.37)
    beside[2, 3] += made.pitch / 2.0
    assert impinge.collides(bolt, nut, beside)


@pytest.mark.nojit_slow
@RATIOS
def test_contacts_come_and_go(ratio: float) -> None:
    made = screw(3, ratio)
    bolt, nut = made.bolt(), made.nut()
    touching = impinge.collides(bolt, nut, made.insertion(60))
    assert 0.2 < np.mean(touching) < 0.8
    assert np.count_nonzero(np.diff(touching)) >= 4
    crossed = np.atleast_1d(impinge.collides(bolt, nut, made.cross_threaded(60)))
    assert not crossed[0]
    assert np.mean(crossed) > 0.5


@pytest.mark.nojit_slow
@RATIOS
def test_the_bolt_does_not_cross_itself(ratio: float) -> None:
    bolt = screw(3, ratio).bolt()
    found = impinge.contacts(bolt, bolt)
    shared = (bolt.faces[found.face_a][:, :, None] == bolt.faces[found.face_b][:, None]).any(axis=(1, 2))
    assert shared.all()  # only triangles with a common corner meet
