"""A sample of the exactness run, and proof that the run notices wrong answers."""

import numpy as np
import pytest

import impinge.geometry.triangles.distance
import impinge.geometry.triangles.intersection
from impinge.lab import exactness
from impinge.lab.hard_input import FAMILIES
from impinge.lab.hard_solids import SOLID_FAMILIES


@pytest.mark.nojit_slow
def test_sample_of_triangles():
    report = exactness.run(pairs=4000, seed=1)
    assert set(report.triangles) == set(FAMILIES)
    assert report.pairs >= 4000
    assert report.wrong == 0, "\n".join(report.offences[:3])
    assert all(family.distances > 0 for family in report.triangles.values())


@pytest.mark.nojit_slow
def test_sample_of_solids():
    report = exactness.run(pairs=0, solids=2 * len(SOLID_FAMILIES), seed=2)
    assert [report.solids[name].pairs for name in SOLID_FAMILIES] == [2] * len(SOLID_FAMILIES)
    assert report.wrong == 0, "\n".join(report.offences[:3])


def test_the_seed_alone_decides_the_pairs():
    whole = exactness.run(pairs=300, seed=5)
    again = exactness.run(pairs=300, seed=5)
    other = exactness.run(pairs=300, seed=6)
    meeting = [[family.meeting for family in report.triangles.values()] for report in (whole, again, other)]
    assert meeting[0] == meeting[1] != meeting[2]


def test_a_wrong_answer_is_found_and_printed(monkeypatch, capsys):
    honest = impinge.geometry.triangles.intersection.triangles_meet

    def one_lie(a, b):
        answer = honest(a, b).copy()
        answer[0] = not answer[0]
        return answer

    monkeypatch.setattr(impinge.geometry.triangles.intersection, "triangles_meet", one_lie)
    assert exactness.main(["--pairs", "60", "--solids", "0", "--workers", "1"]) == 1
    printed = capsys.readouterr().out
    assert "0x" in printed
    # Both directions of the first pair of each family.
    assert f"{2 * len(FAMILIES)} wrong answers" in printed


def test_wrong_distances_are_found(monkeypatch):
    honest = impinge.geometry.triangles.distance.triangle_distances

    def off_by_a_tenth(a, b):
        value, point_a, point_b = honest(a, b)
        return value * 1.1, point_a, point_b

    monkeypatch.setattr(impinge.geometry.triangles.distance, "triangle_distances", off_by_a_tenth)
    report = exactness.run(pairs=600, seed=3)
    assert max(family.distance_error for family in report.triangles.values()) > 1e6
    assert report.wrong > 5


def test_offending_pairs_can_be_read_back():
    triangle = np.array([[0.1, -2.0, 5e-324], [1e40, 0.0, -0.0], [1 / 3, 2 / 3, 1.0]])
    rows = eval(exactness._hex(triangle))
    assert np.array_equal([[float.fromhex(x) for x in row] for row in rows], triangle)


@pytest.mark.parametrize("arguments", [["--pairs", "-1"], ["--workers", "0"], ["--minutes", "x"]])
def test_bad_arguments_end_with_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        exactness.main(arguments)
    assert ended.value.code == 2
