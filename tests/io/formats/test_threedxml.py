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
