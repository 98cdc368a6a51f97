"""3DXML."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

import impinge


def changed(path: Path, builders: Any, old: str, new: str, more: dict[str, bytes] | None = None) -> Path:
    with zipfile.ZipFile(io.BytesIO(builders.threedxml())) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert any(old.encode() in content for content in files.values())
    files = {name: content.replace(old.encode(), new.encode()) for name, content in files.items()}
    path.write_bytes(builders.zipped({**files, **(more or {})}))
    return path


def test_different_parts_of_the_same_name(tmp_path: Path, builders: Any) -> None:
    """Each keeps its own geometry."""
    new = (
        '<Reference3D id="12" name="cube"/><Instance3D id="14" name="left"><IsAggregatedBy>1</IsAggregatedBy>'
        '<IsInstanceOf>12</IsInstanceOf></Instance3D><ReferenceRep id="16" format="TESSELLATED" '
        'associatedFile="urn:3DXML:flat.3DRep"/><InstanceRep id="17"><IsAggregatedBy>12</IsAggregatedBy>'
        "<IsInstanceOf>16</IsInstanceOf></InstanceRep></ProductStructure>"
    )
    flat = (
        b"<X><Rep><Faces><Face triangles='0 1 2'/></Faces><VertexBuffer><Positions>0 0 0,1 0 0,0 1 0</Positions>"
        b"</VertexBuffer></Rep></X>"
    )
    assembly = impinge.load_assembly(
        changed(tmp_path / "a.3dxml", builders, "</ProductStructure>", new, {"flat.3DRep": flat})
    )
    assert [(part.name, len(part.mesh.faces)) for part in assembly] == [("left", 12), ("right", 12), ("left_1", 1)]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("<Root>tree.3dxml", "<Root>tree.xml", "the archive holds no 'tree.xml'"),
        ("ProductStructure", "Nothing", "has no product structure"),
        ("<IsInstanceOf>2<", "<IsInstanceOf>1<", "'machine' contains itself"),
        ("XMLRepresentation", "V5 binary", "is binary or broken"),
        ("TESSELLATED", "TECHREP", "it holds no triangles"),
        ("1 0 0 0 1 0 0 0 1 0 0 0", "1 0 0 0 1", "reshape"),
    ],
)
def test_broken_files(tmp_path: Path, builders: Any, old: str, new: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        impinge.load(changed(tmp_path / "a.3dxml", builders, old, new))


def test_faces_keep_their_order_and_representations_without_any_are_left_out(tmp_path: Path, builders: Any) -> None:
    def rep(faces: str, x: int) -> str:
        positions = ",".join(f"{x} {k} {k * k}" for k in range(6))
        return f"<Rep><Faces>{faces}</Faces><VertexBuffer><Positions>{positions}</Positions></VertexBuffer></Rep>"

    content = (
        rep('<Face fans="0 1 2 3" triangles="3 4 5" strips="0 1 2 3 4,1 2,,2 3 4"/><Face triangles="5 4 3"/>', 1)
        + rep('<Face strips="0 1"/><Face/>', 2)
        + rep('<Face strips="0 1 2"/><Face fans="3 4 5"/>', 3)
    )
    path = tmp_path / "a.3dxml"
    path.write_bytes(builders.threedxml({"cube.3DRep": ("<Root>", f"<Root>{content}")}))
    mesh = impinge.load_assembly(path).parts[0].mesh
    first = [[3, 4, 5], [0, 1, 2], [3, 2, 1], [2, 3, 4], [2, 3, 4], [0, 1, 2], [0, 2, 3], [5, 4, 3]]
    assert mesh.faces[:10].tolist() == [*first, [6, 7, 8], [9, 10, 11]]
    assert mesh.vertices[:12, 0].tolist() == [1.0] * 6 + [3.0] * 6


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('fans="', 'triangles="0 1" fans="', "does not hold three integers"),
        ('fans="', 'triangles="0 1,2" fans="', "does not hold three integers"),
        ("<Positions>", "<Positions>7 ", "three numbers each"),
    ],
)
def test_broken_lists(tmp_path: Path, builders: Any, old: str, new: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        impinge.load(changed(tmp_path / "a.3dxml", builders, old, new))
