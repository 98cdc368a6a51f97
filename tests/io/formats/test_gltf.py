"""glTF and GLB."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import impinge
from impinge.io.formats.gltf import _Reader


def saved(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def one_mesh(primitives: list[dict], arrays: list[tuple[np.ndarray, dict]]) -> tuple[dict, bytes]:
    """A document with one node that shows ``primitives`` over accessors made of ``arrays``."""
    codes = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
    views, accessors, binary = [], [], b""
    for index, (array, extra) in enumerate(arrays):
        binary += bytes(-len(binary) % 4)
        views.append({"buffer": 0, "byteOffset": len(binary), "byteLength": array.nbytes})
        kind = "SCALAR" if array.ndim == 1 else f"VEC{array.shape[1]}"
        accessors.append(
            {
                "bufferView": index,
                "componentType": codes[array.dtype.str[1:]],
                "count": len(array),
                "type": kind,
                **extra,
            }
        )
        binary += array.tobytes()
    return {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"name": "thing", "primitives": primitives}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(binary)}],
    }, binary


SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype="<f4")


def test_strips_fans_points_and_patches_without_material(tmp_path: Path, builders: Any) -> None:
    at = {"POSITION": 0}
    primitives = [
        {"attributes": at, "mode": 5, "indices": 1},
        {"attributes": at, "mode": 6},
        {"attributes": at, "mode": 0},
        {"attributes": at, "mode": 1},
    ]
    document, binary = one_mesh(primitives, [(SQUARE, {}), (np.array([0, 1, 3, 2], "<u1"), {})])
    (part,) = impinge.load_assembly(saved(tmp_path / "a.glb", builders.glb(document, binary)))
    assert part.name == "thing"
    assert part.mesh.faces.tolist() == [[0, 1, 3], [2, 3, 1], [4, 5, 6], [4, 6, 7]]
    assert part.mesh.area == 2.0


def test_normalised_and_sparse_accessors(tmp_path: Path, builders: Any) -> None:
    corners = np.array([[0, 0, 0], [32767, 0, 0], [0, -32768, 0]], dtype="<i2")
    changed = {"count": 1, "indices": {"bufferView": 1, "componentType": 5121}, "values": {"bufferView": 2}}
    document, binary = one_mesh(
        [{"attributes": {"POSITION": 0}}],
        [(corners, {"normalized": True, "sparse": changed}), (np.array([0], "<u1"), {}), (corners[1:2] // 2, {})],
    )
    document["extensionsRequired"] = ["KHR_mesh_quantization"]
    mesh = impinge.load(saved(tmp_path / "a.glb", builders.glb(document, binary)))
    assert mesh.vertices.tolist() == [[16383 / 32767, 0, 0], [1, 0, 0], [0, -1, 0]]


def test_interleaved_vertices(tmp_path: Path, builders: Any) -> None:
    document, binary = one_mesh(
        [{"attributes": {"POSITION": 0}}], [(np.hstack([SQUARE, SQUARE + 5])[:, :4].copy(), {})]
    )
    document["accessors"][0].update(type="VEC3", count=3)
    document["bufferViews"][0]["byteStride"] = 16
    mesh = impinge.load(saved(tmp_path / "a.glb", builders.glb(document, binary)))
    assert mesh.vertices.tolist() == SQUARE[:3].tolist()


def test_buffer_in_a_file_beside_it(tmp_path: Path, builders: Any) -> None:
    document, binary = builders.gltf_document()
    document["buffers"][0]["uri"] = "the%20cube.bin"
    path = saved(tmp_path / "a.gltf", json.dumps(document).encode())
    with pytest.raises(ValueError, match=r"a\.gltf: it names the file 'the%20cube\.bin', which cannot be read"):
        impinge.load(path)
    (tmp_path / "the cube.bin").write_bytes(binary)
    assert len(impinge.load(path).faces) == 24


def test_nested_transforms_and_names(tmp_path: Path, builders: Any) -> None:
    document, binary = builders.gltf_document()
    document["nodes"] = [
        {"name": "root", "children": [1, 2]},
        {"name": "front", "children": [3], "translation": [1, 0, 0]},
        {"name": "back", "children": [4], "rotation": [0, 0, 1, 0]},
        {"name": "wheel", "mesh": 0, "translation": [0, 2, 0]},
        {"name": "wheel", "mesh": 0, "translation": [0, 2, 0]},
    ]
    front, back = impinge.load_assembly(saved(tmp_path / "car.glb", builders.glb(document, binary)))
    assert (front.name, back.name) == ("front/wheel", "back/wheel")
    assert front.mesh is back.mesh
    assert front.pose[:3, 3].tolist() == [1, 2, 0]
    assert back.pose[:3, 3].tolist() == [0, -2, 0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"extensionsRequired": ["KHR_draco_mesh_compression"]}, "KHR_draco_mesh_compression, which is not supported"),
        ({"asset": {"version": "1.0"}}, "version 2"),
        ({"scene": 3}, "there is no scene 3"),
        ({"nodes": [{"children": [0]}]}, "node 0 has two parents"),
        ({"nodes": [{"mesh": 7}]}, "there is no mesh 7"),
        ({"nodes": [{"mesh": 0, "rotation": [0, 0, 0, 0]}]}, "not a unit quaternion"),
        ({"bufferViews": [{"buffer": 0, "byteLength": 5}] * 2}, "too short"),
        ({"buffers": []}, "there is no buffer 0"),
        ({"nodes": [{}]}, "it holds no triangles"),
    ],
)
def test_broken_documents(tmp_path: Path, builders: Any, change: dict, reason: str) -> None:
    document, binary = builders.gltf_document()
    document.update(change)
    with pytest.raises(ValueError, match=reason):
        impinge.load(saved(tmp_path / "broken.glb", builders.glb(document, binary)))


@pytest.mark.parametrize(
    ("children", "reason"),
    [
        ([[1, 1], []], "node 1 has two parents"),
        ([[1, 2], [2], []], "node 2 has two parents"),
        ([[1], [0]], "node 0 has two parents"),
        ([[k + 1] for k in range(5000)] + [[]], "nested more than 1,000 levels deep"),
        ([[9]], "there is no node 9"),
    ],
)
def test_node_graphs_that_are_no_trees(tmp_path: Path, builders: Any, children: list[list[int]], reason: str) -> None:
    document, binary = builders.gltf_document()
    document["nodes"] = [{"mesh": 0, "children": below} for below in children]
    with pytest.raises(ValueError, match=rf"a\.glb: .*{reason}"):
        impinge.load(saved(tmp_path / "a.glb", builders.glb(document, binary)))


def test_amounts_are_checked_before_memory_is_taken(tmp_path: Path, builders: Any) -> None:
    for change, reason in (
        ({"count": 10**12}, "bufferView 1 is too short"),
        ({"count": -1}, "accessor 1 has -1 values"),
        ({"bufferView": None, "count": 10**12, "sparse": {"count": 0}}, "accessor 1 would take more than"),
    ):
        document, binary = builders.gltf_document()
        accessor = {**document["accessors"][1], **change}
        document["accessors"][1] = {key: value for key, value in accessor.items() if value is not None}
        with pytest.raises(ValueError, match=rf"a\.glb: {reason}"):
            impinge.load(saved(tmp_path / "a.glb", builders.glb(document, binary)))
    document, binary = builders.gltf_document()
    document["meshes"][0]["primitives"] *= 1000  # each shows the same accessors
    path = saved(tmp_path / "a.glb", builders.glb(document, binary))
    assert len(impinge.load(path).faces) == 2 * 12 * 1000
    with pytest.raises(ValueError, match=r"a\.glb: accessor [01] would take more than 100,000 bytes"):
        impinge.load(path, max_expanded=100_000)


def test_many_accessors_of_the_same_bytes(tmp_path: Path, builders: Any) -> None:
    document, binary = builders.gltf_document()
    primitive = document["meshes"][0]["primitives"][0]
    document["accessors"] += [document["accessors"][primitive["attributes"]["POSITION"]]] * 1000
    first = len(document["accessors"]) - 1000
    document["meshes"][0]["primitives"] = [
        {**primitive, "attributes": {"POSITION": first + k}, "indices": primitive["indices"]} for k in range(1000)
    ]
    path = saved(tmp_path / "a.glb", builders.glb(document, binary))
    with pytest.raises(ValueError, match=r"a\.glb: accessor \d+ would take more than 400,000 bytes"):
        impinge.load(path, max_expanded=400_000)
    del primitive["indices"]
    triangle = {**document["accessors"][primitive["attributes"]["POSITION"]], "count": 3}
    document["accessors"] = [triangle] * 1000
    document["meshes"][0]["primitives"] = [{"attributes": {"POSITION": k}} for k in range(1000)]
    document["nodes"] = [{"mesh": 0}]
    path = saved(tmp_path / "a.glb", builders.glb(document, binary))
    assert len(impinge.load(path, max_expanded=1000 * 3 * (24 + 8)).faces) == 1000
    with pytest.raises(ValueError, match=r"a\.glb: .* accessor 999 would take more than"):
        impinge.load(path, max_expanded=1000 * 3 * (24 + 8) - 1)


@pytest.mark.parametrize("embedded", [False, True])
def test_many_buffers_of_the_same_bytes(tmp_path: Path, builders: Any, embedded: bool) -> None:
    document, binary = builders.gltf_document()
    (tmp_path / "a.bin").write_bytes(binary)
    uri = "data:;base64," + base64.b64encode(binary).decode() if embedded else "a.bin"
    primitive = document["meshes"][0]["primitives"][0]
    position = document["accessors"][primitive["attributes"]["POSITION"]]
    view = document["bufferViews"][position["bufferView"]]
    document["buffers"] = [{"uri": uri, "byteLength": len(binary)}] * 1000
    document["bufferViews"] = [{**view, "buffer": k} for k in range(1000)]
    document["accessors"] = [{**position, "bufferView": k, "count": 3} for k in range(1000)]
    document["meshes"][0]["primitives"] = [{"attributes": {"POSITION": k}} for k in range(1000)]
    path = saved(tmp_path / "a.gltf", json.dumps(document).encode())
    assert len(impinge.load(path).faces) == 2 * 1000
    with pytest.raises(ValueError, match=r"a\.gltf: .* would take more than"):
        impinge.load(path, max_expanded=1000 * (len(binary) + 95))


def test_primitives_are_looked_at_once_however_many_nodes_show_them(
    tmp_path: Path, builders: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """400 kilobytes, a mesh of 6,000 primitives that 6,000 nodes show, took 16 s."""
    looked_at = []
    geometry = _Reader._geometry
    monkeypatch.setattr(_Reader, "_geometry", lambda reader, mesh: looked_at.append(mesh) or geometry(reader, mesh))
    document, binary = builders.gltf_document()
    document["nodes"] += [{"mesh": 0}] * 100
    document["scenes"][0]["nodes"] += range(3, 103)
    (tmp_path / "a.glb").write_bytes(builders.glb(document, binary))
    assert len(impinge.load_assembly(tmp_path / "a.glb")) == 102
    assert len(looked_at) == 1
