"""The commands about convex bodies in small: what they count and compare, never how long it takes."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numba.core import config
from rich.console import Console
from rich.table import Table

import impinge
from impinge.convex.search import METHODS
from impinge.lab import convex_oracle
from impinge.lab.bench import convex, convex_peers, tracker_accuracy, trackers
from impinge.lab.bench.__main__ import main as bench
from impinge.lab.hard_polytopes import FAMILIES, UNDERFLOWING, Encounter
from impinge.lab.papers import arithmetic, coherence, satellite
from impinge.lab.papers.counted_floats import CountedFloat, CountingMath, Tally, counted
from impinge.lab.papers.features_passed import features_passed
from impinge.lab.scenes.polytopes import ellipsoid, icosphere
from impinge.lab.scenes.poses import random_turns


def text_of(table: Table) -> str:
    console = Console(file=io.StringIO(), width=220)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


# ---------------------------------------------------------------- scenes


@pytest.mark.parametrize("subdivisions", [0, 1, 2])
def test_an_icosphere_has_triangles_only(subdivisions: int) -> None:
    sphere = icosphere(subdivisions)
    assert len(sphere.starts) - 1 == 20 * 4**subdivisions
    assert set(np.diff(sphere.starts).tolist()) == {3}
    assert np.allclose(np.linalg.norm(sphere.vertices, axis=1), 1.0)


def test_points_on_an_ellipsoid_are_all_vertices() -> None:
    assert len(ellipsoid(np.random.default_rng(0), 50, [1.0, 0.5, 0.2]).vertices) == 50


@pytest.mark.parametrize("family", [*FAMILIES, *UNDERFLOWING])
def test_families_are_seeded_and_within_their_size(family: str) -> None:
    one, two = ((FAMILIES | UNDERFLOWING)[family](np.random.default_rng(5), 40, 12) for _ in range(2))
    assert np.array_equal(one.poses_b, two.poses_b)
    assert np.array_equal(one.a.vertices, two.a.vertices)
    assert one.poses_a.shape == one.poses_b.shape == (40, 4, 4)
    assert max(len(one.a.vertices), len(one.b.vertices)) <= 16


# ---------------------------------------------------------------- the bench against peers


@pytest.mark.parametrize("motion", [convex.RANDOM, convex.SMOOTH])
def test_distances_are_asked_where_the_bodies_are_apart(motion: str) -> None:
    a, b = convex.bodies(20)
    assert not np.any(impinge.collides(a, b, *convex.path(motion, convex.DISTANCE, 30)))


def test_a_smooth_path_turns_by_a_degree_a_step() -> None:
    _, path = convex.path(convex.SMOOTH, convex.COLLIDES, 5)
    relative = path[1:, :3, :3] @ path[:-1, :3, :3].transpose(0, 2, 1)
    assert np.allclose(np.degrees(np.arccos((np.trace(relative, axis1=1, axis2=2) - 1.0) / 2.0)), 1.0)


def row(vertices: int, **seconds: float) -> convex.Row:
    names = {"ours": convex.CALL, "batch": convex.BATCH, "coal": convex.COAL, "cached": convex.COAL_CACHED}
    times = {names[name]: value for name, value in seconds.items()}
    return convex.Row(vertices, convex.RANDOM, convex.COLLIDES, times, 3, dict.fromkeys(times, 10), {}, {})


def test_goals_follow_the_figures() -> None:
    small, large = (
        row(50, ours=1.0, batch=0.3, coal=1.5, cached=1.9),
        row(1000, ours=1.0, batch=0.5, coal=3.0, cached=4.0),
    )
    assert [goal.held for goal in convex.goals(small)] == [False, True]
    assert [(goal.held, goal.reached) for goal in convex.goals(large)] == [(True, 3.0)]
    assert convex.goals(row(50, ours=1.0, batch=1.0)) == []
    assert convex.goals(row(8, ours=1.0, batch=1.0, cached=1.0)) == []
    assert "NO" in text_of(convex.goal_table([small]))
    assert convex.notes([small])[0] == "1 of 2 goals held."


def test_slow_peers_are_marked() -> None:
    slow = row(50, ours=1.0, batch=0.5, coal=3.0)
    slow = replace(slow, asked={**slow.asked, convex.COAL: 2})
    assert "3x*" in text_of(convex.speed_table([slow]))


def test_differences_of_a_peer_are_added_up() -> None:
    yes_no = replace(row(50, ours=1.0, coal=1.0), different={convex.COAL: 2})
    far = replace(row(50, ours=1.0, coal=1.0), off={convex.COAL: 0.25})
    told = text_of(convex.agreement_table([yes_no, far]))
    assert "2" in told
    assert "0.25" in told


def test_a_quaternion_turns_as_its_matrix() -> None:
    for turn in [np.eye(3), *(np.diag(signs) for signs in ([1, -1, -1], [-1, 1, -1], [-1, -1, 1]))] + list(
        random_turns(np.random.default_rng(0), 20)
    ):
        pose = np.eye(4)
        pose[:3, :3] = turn
        x, y, z, w = convex_peers.quaternion(pose)
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        assert np.allclose(np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross, turn)


def test_peers_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("coal", "fcl", "mujoco", "pybullet", "pydrake.geometry", "distance3d.colliders"):
        monkeypatch.setitem(sys.modules, module, None)
    assert convex_peers.ready(*convex.bodies(8)) == {}


class HalfDeaf:
    """A peer that takes everything for apart, at distance one."""

    def __init__(self, a: impinge.ConvexHull, b: impinge.ConvexHull) -> None:
        pass

    def collides(self, pose_a: object, pose_b: object) -> bool:
        return False

    def distance(self, pose_a: object, pose_b: object) -> float:
        return 1.0


def test_the_command_in_small(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    peers = {convex.COAL_CACHED: HalfDeaf}
    monkeypatch.setattr(convex_peers, "PEERS", peers)
    monkeypatch.setattr(convex, "PEERS", peers)
    assert bench(["convex", "--vertices", "12", "50", "--poses", "12", "--rounds", "1"]) == 0
    told = capsys.readouterr().out
    assert "50 vertices" in told
    assert "of 8 goals held" in told
    measured = convex.measure(50, convex.RANDOM, convex.COLLIDES, 12, 1)
    assert measured.different[convex.COAL_CACHED] == measured.meeting > 0


@pytest.mark.parametrize("arguments", [["--vertices", "3"], ["--poses", "0"], ["--rounds", "0"]])
def test_the_command_refuses_what_makes_no_sense(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        bench(["convex", *arguments])


# ---------------------------------------------------------------- the trackers against each other


@pytest.mark.nojit_slow
def test_a_sample_of_configurations(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--configurations", "1700", "--oracle", "12", "--approaches", "3"]
    assert bench(["trackers", *asked]) == 0
    told = capsys.readouterr().out
    assert "1,728 configurations, 12 of them checked; 3 approach paths" in told
    assert " 0 wrong" in told


def test_what_disagrees_is_counted_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    met = FAMILIES["random"](np.random.default_rng(1), 20, 10)
    right = impinge.distance

    def sometimes_wrong(*arguments: object, method: str = "auto") -> impinge.Distance:
        found = right(*arguments, method=method)  # type: ignore[arg-type]
        return replace(found, value=np.full(20, np.nan)) if method == "vclip" else found

    monkeypatch.setattr(trackers.impinge, "distance", sometimes_wrong)
    count = trackers.Count()
    trackers.check(count, met, 0.5, "here")
    assert (count.configurations, count.different, count.not_finite, count.contradictions) == (20, 20, 20, 0)
    assert "here, pose 0" in count.offences[0]


def test_a_distance_that_is_no_distance_is_refused_by_the_oracle() -> None:
    met = FAMILIES["boxes on a grid"](np.random.default_rng(1), 8, 8)
    values = np.asarray(impinge.distance(met.a, met.b, met.poses_a, met.poses_b).value)
    count = trackers.Count()
    for i in range(8):
        trackers.check_exactly(count, met, values, i, "here")
    assert (count.checked, count.wrong) == (8, 0)
    trackers.check_exactly(count, met, values + 1e-10, 0, "here")
    assert count.wrong == 1


def test_an_approach_ends_in_touching() -> None:
    met = trackers.approach(np.random.default_rng(2))
    for method in METHODS:
        answers = np.asarray(impinge.Pair(met.a, met.b, method).collides(met.poses_a, met.poses_b))
        assert not answers[0]
        assert answers[-1]


# ---------------------------------------------------------------- accuracy


def test_square_roots_of_fractions() -> None:
    assert tracker_accuracy.root(Fraction(9, 4)) == Fraction(3, 2)
    tiny = Fraction(2) / Fraction(10) ** 600
    assert abs(tracker_accuracy.root(tiny) ** 2 / tiny - 1) < Fraction(1, 2**150)
    assert tracker_accuracy.root(Fraction(0)) == 0


def test_errors_are_in_ulps_of_the_largest_coordinate() -> None:
    a, b = np.array([[8.0, 0.0, 0.0]]), np.array([[5.0, 0.0, 0.0]])
    off = 3.0 + 2.0 * np.spacing(8.0)
    assert tracker_accuracy.distance_error(off, Fraction(9), a, b) == 2.0
    assert tracker_accuracy.distance_error(float("nan"), Fraction(9), a, b) == np.inf


def test_facets_and_rationals_agree_on_depths() -> None:
    met = FAMILIES["random"](np.random.default_rng(4), 12, 6)
    deep = [i for i in range(12) if convex_oracle.meets(*met.posed(i))][:2]
    assert deep
    for i in deep:
        exact = tracker_accuracy.exact_depth(*met.posed(i))
        assert exact is not None
        assert tracker_accuracy.depth_by_facets(*met.posed(i)) == pytest.approx(float(exact), rel=1e-13, abs=1e-15)


def test_accuracy_in_small(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracker_accuracy, "_SMALL", 5)
    monkeypatch.setattr(trackers, "FAMILIES", {name: FAMILIES[name] for name in ("grid", "needles")})
    assert bench(["trackers", "--accuracy", "4"]) == 0
    told = capsys.readouterr().out
    assert "Held" in told
    assert "needles" in told


def test_errors_beyond_what_is_asked_are_not_held() -> None:
    assert not tracker_accuracy.Errors("any", distance=9.0).held
    assert not tracker_accuracy.Errors("any", depth=1e-11).held
    assert "NO" in text_of(tracker_accuracy.table_of_errors([tracker_accuracy.Errors("any", distance=9.0)]))


# ---------------------------------------------------------------- the papers' experiments


def test_a_sphere_turns_at_rest_above_the_cube() -> None:
    path = coherence.turning(1.0, 360)
    found = impinge.distance(icosphere(1), coherence.cube(), path).value
    assert np.all(found > 0.0)
    assert np.all(found < 0.5)


def test_coherence_in_small(tmp_path: Path) -> None:
    cells = coherence.measure((0, 2), (1, 5), 40, rounds=1)
    assert len(cells) == 12
    assert "Lin-Canny" in text_of(coherence.table(cells))
    assert coherence.picture(cells, tmp_path / "coherence.png").stat().st_size > 1000
    # A finer sphere has more features to pass.
    passed = {(cell.method, cell.facets, cell.degrees): cell.passed for cell in cells}
    for method in coherence.TRACKERS:
        assert passed[method, 320, 5] > passed[method, 20, 5]


def cell(method: str, facets: int, seconds: float) -> coherence.Cell:
    return coherence.Cell(method, facets, 1, seconds, 0.0)


def test_verdicts_on_coherence_follow_the_figures() -> None:
    cells = [cell(method, facets, 1.0) for method in coherence.METHODS for facets in (320, 5120)]
    assert all("held" in line and "NOT" not in line for line in coherence.findings(cells)[:2])
    slower = [replace(one, seconds=1.2) if one.facets == 5120 else one for one in cells]
    assert all("NOT held" in line for line in coherence.findings(slower)[:2])


@pytest.mark.nojit_slow
def test_the_satellite_passes_features_in_orbit_only(tmp_path: Path) -> None:
    rows = satellite.measure((1, 2, 3), 400, falls=2)
    for method in satellite.METHODS:
        assert satellite.exponent(rows, method) == pytest.approx(0.5, abs=0.1)
    assert all(one.fall <= 2.0 for one in rows)
    assert "grow like" in satellite.findings(rows)[0]
    assert "features an orbit" in text_of(satellite.table(rows))
    assert satellite.picture(rows, tmp_path / "satellite.png").stat().st_size > 1000


def test_nothing_is_passed_at_rest() -> None:
    still = np.broadcast_to(satellite.orbit(1)[0], (5, 4, 4)).copy()
    for method in satellite.METHODS:
        assert features_passed(impinge.Pair(icosphere(1), satellite.satellite(), method), None, still) == 0


def test_counted_floats_count(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = Tally()
    monkeypatch.setattr("impinge.lab.papers.counted_floats.tally", tally)
    x = CountedFloat(2.0)
    found = 1.0 + x * 3.0 - x / CountingMath.sqrt(x * x)
    assert found == 6.0
    assert isinstance(-abs(found), CountedFloat)
    assert tally.counts == {"+": 2, "*": 2, "/": 1, "sqrt": 1, "<": 1}
    assert (tally.arithmetic, tally.comparisons) == (6, 1)
    assert isinstance(counted(np.ones((2, 2)))[1, 0], CountedFloat)


def test_arithmetic_in_small() -> None:
    rows = arithmetic.measure(4)
    assert len(rows) == 4
    for one in rows:
        assert all(count > 0.0 for count, _ in one.operations.values())
        assert one.walks > one.trackers > 0.0
    assert "GJK takes" in arithmetic.findings(rows)[0]
    assert "placement" in text_of(arithmetic.table(rows))


def test_counting_needs_plain_python() -> None:
    from impinge.lab.papers.arithmetic_count import count

    if not config.DISABLE_JIT:
        with pytest.raises(RuntimeError, match="NUMBA_DISABLE_JIT"):
            count("boxes", 2)


def test_an_encounter_poses_its_vertices() -> None:
    cube = coherence.cube()
    aside = np.eye(4)
    aside[0, 3] = 5.0
    _, b = Encounter(cube, cube, np.eye(4)[None], aside[None]).posed(0)
    assert np.array_equal(b, cube.vertices + [5.0, 0.0, 0.0])
