"""PLY: text, little and big endian."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import impinge

VERTICES = [(0.0, 0.0, 0.0), (4.0, 4.0, 0.0), (0.1, 1.0, 0.0), (-4.0, 4.0, 0.0), (9.0, 9.0, 9.0)]
FACES = [[1, 2, 3, 0], [0, 1, 4]]


def mixed(order: str) -> bytes:
    """A concave quadrangle and a triangle, with a list that is no face and an element behind them."""
    name = {"": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    header = (
        f"ply\nformat {name} 1.0\nobj_info none\nelement vertex 5\nproperty float64 x\nproperty float64 y\n"
        "property float64 z\nelement face 2\nproperty uchar flag\nproperty list uchar uint vertex_index\n"
        "property list uchar float texcoord\nelement edge 1\nproperty int a\nend_header\n"
    ).encode()
    if not order:
        rows = [" ".join(map(repr, vertex)) for vertex in VERTICES]
        rows += [" ".join(map(str, [1, len(face), *face, 2, 0.5, 0.5])) for face in FACES]
        return header + "\n".join([*rows, "3", ""]).encode()
    body = b"".join(struct.pack(order + "3d", *vertex) for vertex in VERTICES)
    body += b"".join(struct.pack(f"{order}BB{len(f)}IB2f", 1, len(f), *f, 2, 0.5, 0.5) for f in FACES)
    return header + body + struct.pack(order + "i", 3)


@pytest.mark.parametrize("order", ["", "<", ">"])
def test_mixed_polygons(tmp_path: Path, order: str) -> None:
    path = tmp_path / "mixed.ply"
    path.write_bytes(mixed(order))
    mesh = impinge.load(path)
    assert mesh.vertices.tolist() == [list(vertex) for vertex in VERTICES]
    assert mesh.polygon.tolist() == [0, 0, 1]
    assert mesh.area == impinge.Mesh(VERTICES, FACES).area


@pytest.mark.parametrize("order", ["", "<", ">"])
def test_every_truncation_is_refused(tmp_path: Path, order: str) -> None:
    path = tmp_path / "cut.ply"
    whole = mixed(order)
    for length in range(1, len(whole) - 4, 3):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"cut\.ply: "):
            impinge.load(path)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"float64 x", b"float64 q", "no vertices with x, y and z"),
        (b"float64 x", b"quad x", "unknown type 'quad'"),
        (b"vertex_index", b"something", "no faces with vertex_indices"),
        (b"obj_info", b"surprise", "unknown line 'surprise none'"),
        (b"float64 y", b"float64 x", "element 'vertex' two properties 'x'"),
        (b"list uchar uint vertex_index", b"uchar a\nproperty list uchar uint a", "element 'face' two properties 'a'"),
        (b"element face", b"element vertex", "two elements 'vertex'"),
        (b"list uchar uint vertex", b"list uchar float vertex", "not lists of integers|expected integers"),
    ],
)
def test_broken_headers(tmp_path: Path, old: bytes, new: bytes, reason: str) -> None:
    path = tmp_path / "broken.ply"
    path.write_bytes(mixed("").replace(old, new))
    with pytest.raises(ValueError, match=reason):
        impinge.load(path)


def test_two_cornered_faces_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "line.ply"
    path.write_text(
        "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n2 0 1\n"
    )
    with pytest.raises(ValueError, match="fewer than three corners"):
        impinge.load(path)


@pytest.mark.parametrize("order", ["", "<", ">"])
def test_announced_amounts_are_checked_before_memory_is_taken(tmp_path: Path, order: str) -> None:
    path = tmp_path / "huge.ply"
    for old in (b"element vertex 5", b"element face 2"):
        assert old in mixed(order)
        path.write_bytes(mixed(order).replace(old, old[:-1] + b"1000000000000"))
        with pytest.raises(ValueError, match=r"huge\.ply: it is truncated in element"):
            impinge.load(path)


def test_many_short_lists(tmp_path: Path) -> None:
    path = tmp_path / "many.ply"
    count = 100_000
    header = (
        "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        f"element face {count + 1}\nproperty list uchar int other\nelement last 1\nproperty uchar one\nend_header\n"
    )
    path.write_bytes(header.encode() + bytes(36) + b"\3" + bytes(12) + bytes(count) + b"\1")
    with pytest.raises(ValueError, match="no faces with vertex_indices"):
        impinge.load(path)


HEADER = (
    "ply\nformat {} 1.0\nelement junk 3\nproperty list uchar uchar a\nproperty uchar b\nelement vertex 3\n"
    "property float x\nproperty float y\nproperty float z\nelement face 1\n"
    "property list uchar uchar vertex_indices\nend_header\n"
)


def test_other_elements_are_skipped(tmp_path: Path) -> None:
    """Also where their lists differ in length; a file that ends in one of them is cut."""
    path = tmp_path / "a.ply"
    corners = "0 0 0\r\n1 0 0\r\n\r\n0 1 0\r\n3 0 1 2\r\n"
    path.write_bytes((HEADER.format("ascii") + "0 5\r\n2 7 7 5\r\n1 7 5\r\n" + corners).encode())
    assert impinge.load(path).faces.tolist() == [[0, 1, 2]]
    junk, rest = bytes([0, 5, 2, 7, 7, 5, 1, 7, 5]), struct.pack("<9f4B", 0, 0, 0, 1, 0, 0, 0, 1, 0, 3, 0, 1, 2)
    header = HEADER.format("binary_little_endian")
    path.write_bytes(header.encode() + junk + rest)
    assert impinge.load(path).faces.tolist() == [[0, 1, 2]]
    first, vertex, face = header.split("element junk 3\n")[0], header.index("element vertex"), header.index("end_h")
    last = first + header[vertex:face] + header[header.index("element junk") : vertex] + header[face:]
    path.write_bytes(last.encode() + rest + junk)
    assert impinge.load(path).faces.tolist() == [[0, 1, 2]]
    path.write_bytes(last.encode() + rest + junk[:-1])
    with pytest.raises(ValueError, match="truncated"):
        impinge.load(path)
