"""Tessellate a STEP or IGES file with Open CASCADE, in double precision.

This is the program of a child process (see ``step.py``): Open CASCADE ends with a
segmentation fault on some damaged files, and prints on the terminal.  What it finds
is written to a file: arrays, and the structure of the products as JSON.

A coordinate of a point in the file is, bit by bit, the coordinate of the vertex that
it becomes.  Open CASCADE's own tolerances are made for millimetres (a part of a few
centimetres in a file that counts kilometres comes out as nothing), so it works in the
file's unit divided by the power of two that comes closest to a millimetre: 32 for an
inch, 1024 for a metre.  Multiplying by a power of two rounds nothing.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from impinge.arrays import Floats
from impinge.geometry.pose import IDENTITY
from impinge.io.part_graph import Node, Use, check_number
from impinge.io.scene import Geometry

Integers = NDArray[np.int64]


def main(source: str, target: str, kind: str, linear: str, angular: str, memory: str) -> None:
    """Read ``source`` and write ``target``; tolerances are in millimetres and radians, ``memory`` in bytes."""
    _limit_memory(int(memory))
    from OCP.TCollection import TCollection_ExtendedString
    from OCP.TDocStd import TDocStd_Document

    document = TDocStd_Document(TCollection_ExtendedString("impinge"))
    read = _read_step if kind == "step" else _read_iges
    unit = read(source, document)
    scale = _scale(unit)
    products = _Products(document, scale, float(linear) * scale / unit, float(angular))
    description = {"millimetres": unit, "roots": products.roots, "nodes": products.nodes}
    arrays: dict[str, Any] = {"description": np.frombuffer(json.dumps(description).encode("ascii"), dtype=np.uint8)}
    for number, (vertices, faces) in enumerate(products.meshes):
        arrays[f"vertices {number}"] = vertices
        arrays[f"faces {number}"] = faces
    np.savez(target, **arrays)


def _limit_memory(size: int) -> None:
    """Let requests for more fail (a crash, often); Windows has no such limit, and macOS does not keep it."""
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if size < (sys.maxsize if most == resource.RLIM_INFINITY else most):
        resource.setrlimit(resource.RLIMIT_DATA, (size, most))


def _read_step(source: str, document: Any) -> float:
    """Transfer the file into the document; the file's unit of length, in millimetres."""
    from OCP.IFSelect import IFSelect_RetDone
    from OCP.STEPCAFControl import STEPCAFControl_Reader
    from OCP.STEPConstruct import STEPConstruct_ExternRefs

    reader = STEPCAFControl_Reader()
    reader.SetNameMode(True)
    for leave_out in (reader.SetColorMode, reader.SetLayerMode, reader.SetPropsMode, reader.SetGDTMode):
        leave_out(False)
    if reader.ReadFile(source) != IFSelect_RetDone:
        raise ValueError("Open CASCADE cannot read this STEP file")
    references = STEPConstruct_ExternRefs(reader.Reader().WS())
    references.LoadExternRefs()
    if references.NbExternRefs():
        # The transfer would open them, wherever they are.
        raise ValueError(f"it takes parts from other files ({references.FileName(1)!r}), which is not supported")
    model = reader.Reader().StepModel()
    entities = [model.Entity(number) for number in range(1, model.NbEntities() + 1)]
    _check_assemblies(entities)
    unit = _step_unit(entities)
    _set_working_unit(document, unit)
    if not reader.Transfer(document):
        raise ValueError("Open CASCADE finds no shape in this STEP file")
    return unit


def _check_assemblies(entities: list[Any]) -> None:
    """Refuse too many instances before the transfer, which visits each of them.

    An entity is its own key: as long as ``entities`` holds it, there is one Python object for it.
    """
    from OCP.StepRepr import StepRepr_MappedItem, StepRepr_NextAssemblyUsageOccurrence, StepRepr_Representation

    used: dict[Hashable, list[Use]] = {}

    def use(user: Any, part: Any) -> None:
        if user is not None and part is not None:
            used.setdefault(user, []).append(Use(part, IDENTITY))

    for entity in entities:
        if isinstance(entity, StepRepr_NextAssemblyUsageOccurrence):  # an assembly of products
            use(entity.RelatingProductDefinition(), entity.RelatedProductDefinition())
        elif isinstance(entity, StepRepr_Representation):  # a shape with copies of other shapes
            for number in range(1, entity.NbItems() + 1):
                item = entity.ItemsValue(number)
                if isinstance(item, StepRepr_MappedItem) and item.MappingSource() is not None:
                    use(entity, item.MappingSource().MappedRepresentation())
    shape = Geometry(np.empty((0, 3)), np.empty((0, 3), dtype=np.int64))  # which products have one is not known yet
    parts = {part.node for uses in used.values() for part in uses}
    outermost = [user for user in used if user not in parts] or list(used)  # none if all are parts of each other
    check_number(
        [Use(user, IDENTITY) for user in outermost],
        lambda key: Node("a product", [] if key in used else [("", shape)], used.get(key, [])),
    )


def _step_unit(entities: list[Any]) -> float:
    """The unit of the first context of the file; shapes in other units are converted to it."""
    from OCP.STEPConstruct import STEPConstruct_UnitContext
    from OCP.StepData import StepData_Factors
    from OCP.StepRepr import StepRepr_GlobalUnitAssignedContext

    for entity in entities:
        if hasattr(entity, "GlobalUnitAssignedContext"):  # one of several roles of the entity
            entity = entity.GlobalUnitAssignedContext()
        if isinstance(entity, StepRepr_GlobalUnitAssignedContext):
            factors = StepData_Factors()
            factors.SetCascadeUnit(1.0)
            found = STEPConstruct_UnitContext()
            found.ComputeFactors(entity, factors)
            if found.LengthDone() and 0.0 < found.LengthFactor() < math.inf:
                return float(found.LengthFactor())
    return 1.0


def _read_iges(source: str, document: Any) -> float:
    from OCP.IFSelect import IFSelect_RetDone
    from OCP.IGESCAFControl import IGESCAFControl_Reader

    reader = IGESCAFControl_Reader()
    reader.SetNameMode(True)
    reader.SetColorMode(False)
    reader.SetLayerMode(False)
    if reader.ReadFile(source) != IFSelect_RetDone:
        raise ValueError("Open CASCADE cannot read this IGES file")
    section = reader.IGESModel().GlobalSection()
    section.SetCascadeUnit(1.0)
    unit = float(section.UnitValue())
    if not 0.0 < unit < math.inf:
        raise ValueError(f"its unit is {unit} millimetres")
    _set_working_unit(document, unit)
    if not reader.Transfer(document):
        raise ValueError("Open CASCADE finds no shape in this IGES file")
    return unit


def _scale(millimetres: float) -> float:
    """How many working units make one unit of the file."""
    return 2.0 ** round(math.log2(millimetres))


def _set_working_unit(document: Any, millimetres: float) -> None:
    from OCP.UnitsMethods import UnitsMethods_LengthUnit
    from OCP.XCAFDoc import XCAFDoc_DocumentTool

    XCAFDoc_DocumentTool.SetLengthUnit_s(
        document, millimetres / _scale(millimetres), UnitsMethods_LengthUnit.UnitsMethods_LengthUnit_Millimeter
    )


class _Products:
    """The products of a document, in the unit of the file: each is tessellated once, however often it is used."""

    def __init__(self, document: Any, scale: float, linear: float, angular: float) -> None:
        from OCP.XCAFDoc import XCAFDoc_DocumentTool, XCAFDoc_ShapeTool

        self.tool = XCAFDoc_ShapeTool
        self.scale, self.linear, self.angular = scale, linear, angular
        self.nodes: dict[str, dict[str, Any]] = {}
        self.meshes: list[tuple[Floats, Integers]] = []
        top = XCAFDoc_DocumentTool.ShapeTool_s(document.Main()).Label()
        free = [label for label in _children(top) if self.tool.IsShape_s(label) and self.tool.IsFree_s(label)]
        self.roots = [_entry(label) for label in free]
        waiting = free
        while waiting:
            label = waiting.pop()
            if _entry(label) not in self.nodes:
                waiting.extend(self._add(label))

    def _add(self, label: Any) -> list[Any]:
        """Describe one product; the labels of those that it uses."""
        from OCP.TDF import TDF_Label

        node: dict[str, Any] = {"name": _name(label), "uses": [], "mesh": None}
        self.nodes[_entry(label)] = node
        if not self.tool.IsAssembly_s(label):
            mesh = tessellated(self.tool.GetShape_s(label), self.linear, self.angular)
            if mesh is not None:
                vertices, faces = mesh
                node["mesh"] = len(self.meshes)
                self.meshes.append((vertices / self.scale, faces))
            return []
        used = []
        for component in _children(label):
            product = TDF_Label()
            if self.tool.GetReferredShape_s(component, product):
                matrix = _matrix(self.tool.GetLocation_s(component).Transformation())
                matrix[:3, 3] /= self.scale
                node["uses"].append({"node": _entry(product), "name": _name(component), "matrix": matrix.tolist()})
                used.append(product)
        return used


def tessellated(shape: Any, linear: float, angular: float) -> tuple[Floats, Integers] | None:
    """Vertices and triangles of all faces of a shape; None without any."""
    from OCP.BRep import BRep_Tool
    from OCP.BRepMesh import BRepMesh_IncrementalMesh
    from OCP.TopAbs import TopAbs_FACE, TopAbs_REVERSED
    from OCP.TopExp import TopExp_Explorer
    from OCP.TopLoc import TopLoc_Location
    from OCP.TopoDS import TopoDS

    as_face = getattr(TopoDS, "Face_s", None) or TopoDS.Face  # its name before and since Open CASCADE 8
    BRepMesh_IncrementalMesh(shape, linear, False, angular, True)
    vertices: list[Floats] = []
    faces: list[Integers] = []
    count = 0
    explorer = TopExp_Explorer(shape, TopAbs_FACE)
    while explorer.More():
        face = as_face(explorer.Current())
        explorer.Next()
        location = TopLoc_Location()
        patch = BRep_Tool.Triangulation_s(face, location)
        if patch is None:
            continue
        nodes = np.array([patch.Node(i).Coord() for i in range(1, patch.NbNodes() + 1)], dtype=np.float64)
        corners = np.array([patch.Triangle(i).Get() for i in range(1, patch.NbTriangles() + 1)], dtype=np.int64)
        inward = face.Orientation() == TopAbs_REVERSED
        if not location.IsIdentity():
            matrix = _matrix(location.Transformation())
            nodes = nodes @ matrix[:3, :3].T + matrix[:3, 3]
            inward ^= bool(np.linalg.det(matrix[:3, :3]) < 0.0)
        vertices.append(nodes.reshape(-1, 3))
        faces.append(corners.reshape(-1, 3)[:, :: -1 if inward else 1] - 1 + count)
        count += len(nodes)
    return (np.concatenate(vertices), np.concatenate(faces)) if vertices else None


def _children(label: Any) -> list[Any]:
    from OCP.TDF import TDF_ChildIterator

    found = []
    iterator = TDF_ChildIterator(label, False)
    while iterator.More():
        found.append(iterator.Value())
        iterator.Next()
    return found


def _entry(label: Any) -> str:
    """The label's path in the document, for example ``0:1:1:2``."""
    from OCP.TCollection import TCollection_AsciiString
    from OCP.TDF import TDF_Tool

    text = TCollection_AsciiString()
    TDF_Tool.Entry_s(label, text)
    return str(text.ToCString())


def _name(label: Any) -> str:
    from OCP.TDataStd import TDataStd_Name

    name = TDataStd_Name()
    return str(name.Get().ToExtString()) if label.FindAttribute(TDataStd_Name.GetID_s(), name) else ""


def _matrix(transformation: Any) -> Floats:
    matrix = np.eye(4)
    for row in range(3):
        for column in range(4):
            matrix[row, column] = transformation.Value(row + 1, column + 1)
    return matrix


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ValueError as error:  # told by the parent
        Path(sys.argv[2]).with_suffix(".txt").write_text(str(error), encoding="utf-8")
        sys.exit(1)
