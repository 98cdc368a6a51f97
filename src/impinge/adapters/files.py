"""Read mesh and CAD files: one Mesh of everything, or an Assembly of named parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import cast

import numpy as np

from impinge.adapters.rigid import same_factor, split
from impinge.adapters.scene import MICROMETRES, FileScene, Geometry, Instance, joined
from impinge.errors import MissingExtra
from impinge.geometry.assembly import Assembly, Part
from impinge.geometry.cast import Floats
from impinge.geometry.mesh import Mesh
from impinge.geometry.pose import as_pose, posed_vertices

Reader = Callable[[bytes, Path, bool], FileScene]
"""(content, path, whole) -> scene; ``whole`` says that the split into parts is not wanted."""

_READERS = {
    ".stl": ("trimesh_files", "read_stl"),
    ".obj": ("obj", "read_obj"),
    ".off": ("off", "read_off"),
    ".ply": ("ply", "read_ply"),
    ".gltf": ("gltf", "read_gltf"),
    ".glb": ("gltf", "read_gltf"),
    ".3mf": ("threemf", "read_3mf"),
    ".dae": ("collada", "read_dae"),
    ".zae": ("collada", "read_zae"),
    ".3dxml": ("threedxml", "read_3dxml"),
}
_CAD = (".step", ".stp", ".iges", ".igs")

SUFFIXES = (*_READERS, *_CAD)
"""The file name endings that can be read, in small letters."""


def load(
    path: str | PathLike[str],
    solid: bool = False,
    *,
    unit: str | None = None,
    linear_tolerance: float = 0.01,
    angular_tolerance: float = 0.5,
) -> Mesh:
    """One Mesh of everything in a file, instances placed by their transforms.

    STL, OBJ, OFF, PLY, glTF/GLB, 3MF, DAE/ZAE and 3DXML; STEP and IGES with the
    extra ``cad``.  Vertices and faces are as in the file: nothing is merged,
    cleaned or dropped, and polygons are kept (see ``Mesh.polygon``).  Points and
    lines are skipped.  The other arguments are those of :func:`load_assembly`.
    """
    place = Path(path)
    with _naming(place):
        scene = _in_unit(_read(place, True, linear_tolerance, angular_tolerance), unit)
        whole = joined([_placed(instance) for instance in scene.instances])
        return Mesh(whole.vertices, whole.faces, solid=solid)


def load_assembly(
    path: str | PathLike[str],
    *,
    solid: bool | None = None,
    unit: str | None = None,
    linear_tolerance: float = 0.01,
    angular_tolerance: float = 0.5,
) -> Assembly:
    """The named part instances of a file, each with a rigid pose.

    Instances of one geometry share one Mesh.  A scaled, sheared or mirrored
    instance gets a mesh with that factor baked in, shared by all instances that
    have the same factor; a transform that is rigid but for the rounding of the
    file becomes the nearest rotation.  Parts of the same name are told apart by
    the assemblies around them, ``left/bolt`` and ``right/bolt``, then by a number:
    ``bolt``, ``bolt_1``, ``bolt_2``.

    Parameters
    ----------
    solid
        ``None``: closed parts are solids, open ones surfaces.  ``True``: every
        part must be closed.  ``False``: all are surfaces.
    unit
        ``"um"``, ``"mm"``, ``"cm"``, ``"m"``, ``"in"`` or ``"ft"``: convert to this
        unit.  By default, coordinates stay in the unit of the file (STEP and IGES
        come in metres), which ``Assembly.unit`` reports.  STL, OBJ, OFF and PLY
        name no unit: theirs is taken to be this one, if given.
    linear_tolerance, angular_tolerance
        For STEP and IGES: the largest distance between surface and triangles, in
        millimetres, and the largest angle between neighbouring ones, in radians.
    """
    place = Path(path)
    with _naming(place):
        scene = _in_unit(_read(place, False, linear_tolerance, angular_tolerance), unit)
        return Assembly(tuple(_parts(scene, solid)), scene.unit or unit)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Every failure to read becomes one sentence that starts with the file."""
    try:
        with np.errstate(all="ignore"):  # what overflows is refused by Mesh and as_pose, in words
            yield
    except (MissingExtra, FileNotFoundError):
        raise
    except ValueError as error:
        raise ValueError(f"{path}: {_sentence(error)}") from error
    except Exception as error:  # readers of foreign formats fail in every way there is
        kind = path.suffix[1:].upper()
        reason = f"{type(error).__name__} {_sentence(error)}".strip()
        raise ValueError(f"{path}: it is not a readable {kind} file ({reason})") from error


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _read(path: Path, whole: bool, linear_tolerance: float, angular_tolerance: float) -> FileScene:
    suffix = path.suffix.lower()
    if path.is_dir():
        raise ValueError("it is a directory, not a file")
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if suffix not in SUFFIXES:
        raise ValueError(f"files ending in {suffix!r} cannot be read; known are {' '.join(SUFFIXES)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"it cannot be read ({error.strerror})") from error
    if not data:
        raise ValueError("it is empty")
    if suffix in _CAD:
        from impinge.adapters.step import read_brep

        scene = read_brep(data, path, linear_tolerance, angular_tolerance)
    else:
        module, function = _READERS[suffix]
        read = cast(Reader, getattr(import_module(f"impinge.adapters.{module}"), function))
        scene = read(data, path, whole)
    shown = [instance for instance in scene.instances if len(instance.geometry.faces)]
    if not shown:
        raise ValueError("it holds no triangles")
    return replace(scene, instances=shown)


def _in_unit(scene: FileScene, unit: str | None) -> FileScene:
    if unit is None:
        return scene
    if unit not in MICROMETRES:
        raise ValueError(f"the unit {unit!r} is not one of {' '.join(MICROMETRES)}")
    if scene.micrometres is None or scene.micrometres == MICROMETRES[unit]:
        return scene
    factor = scene.micrometres / MICROMETRES[unit]
    converted: dict[int, Geometry] = {}
    instances = []
    for instance in scene.instances:
        geometry = instance.geometry
        if id(geometry) not in converted:
            converted[id(geometry)] = Geometry(geometry.vertices * factor, geometry.faces)
        matrix = instance.matrix.copy()
        matrix[:3, 3] *= factor
        instances.append(replace(instance, geometry=converted[id(geometry)], matrix=matrix))
    return FileScene(instances, MICROMETRES[unit])


def _placed(instance: Instance) -> Geometry:
    """The instance in world coordinates, with its winding kept outward where the matrix mirrors."""
    matrix, geometry = instance.matrix, instance.geometry
    if (matrix == np.eye(4)).all():
        return geometry
    if (matrix[3] != (0.0, 0.0, 0.0, 1.0)).any():
        raise ValueError(f"part {instance.name!r} has a projective transform, last row {matrix[3]}")
    faces = geometry.faces
    if np.linalg.det(matrix[:3, :3]) < 0.0:
        faces = faces[:, ::-1] if isinstance(faces, np.ndarray) else [face[::-1] for face in faces]
    return Geometry(posed_vertices(matrix, geometry.vertices), faces)


def _parts(scene: FileScene, solid: bool | None) -> Iterator[Part]:
    baked: dict[int, list[tuple[Floats, Mesh]]] = {}  # for each geometry, its factors so far
    for name, instance in zip(_unique_names(scene.instances), scene.instances, strict=True):
        try:
            pose, factor = split(instance.matrix)
            wanted = np.eye(3) if factor is None else factor
            known = baked.setdefault(id(instance.geometry), [])
            mesh = next((mesh for old, mesh in known if same_factor(wanted, old)), None)
            if mesh is None:
                mesh = _mesh(instance.geometry, factor, solid)
                known.append((wanted, mesh))
            yield Part(name, mesh, as_pose(pose))
        except ValueError as error:
            raise ValueError(f"part {name!r}: {error}") from error


def _unique_names(instances: list[Instance]) -> list[str]:
    often = Counter(instance.name for instance in instances)
    outermost, innermost = min(i.inside for i in instances), max(i.inside for i in instances)
    shared = next((k for k, (a, b) in enumerate(zip(outermost, innermost, strict=False)) if a != b), len(outermost))
    names = []
    used: set[str] = set()
    numbers: Counter[str] = Counter()
    for instance in instances:
        name = instance.name
        if often[name] > 1:
            name = "/".join((*instance.inside[shared:], name))
        unique = name
        while unique in used:
            numbers[name] += 1
            unique = f"{name}_{numbers[name]}"
        used.add(unique)
        names.append(unique)
    return names


def _mesh(geometry: Geometry, factor: Floats | None, solid: bool | None) -> Mesh:
    mesh = Mesh(geometry.vertices, geometry.faces, solid=bool(solid))
    becomes_solid = solid is None and mesh.is_closed
    if factor is None and not becomes_solid:
        return mesh
    matrix = np.eye(4)
    if factor is not None:
        matrix[:3, :3] = factor
    return mesh.transformed(matrix, solid=mesh.solid or becomes_solid)
