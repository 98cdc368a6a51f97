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

from impinge.arrays import Floats, read_only, shown
from impinge.errors import MissingExtra
from impinge.geometry.pose import as_pose, posed_vertices
from impinge.io.rigid import first_same, split
from impinge.io.scene import MICROMETRES, FileScene, Geometry, Instance, joined
from impinge.io.source import MAX_EXPANDED, MAX_SECONDS, Source, read_regular
from impinge.mesh.assembly import Assembly, Part
from impinge.mesh.mesh import Mesh

Reader = Callable[[bytes, Source], FileScene]
"""(content of the file, the file) -> scene."""

_READERS = {
    ".stl": ("stl", "read_stl"),
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

_ONE = read_only(np.eye(3))
_NO_FACTORS = read_only(np.empty((0, 9)))
_REMEMBERED_FACTORS = 100
"""Scalings of one geometry that share their meshes; of more, only the latest do."""

_CORNER = 5_000
"""Bytes for each corner of a large polygon.

It is time rather than memory: the default allows 400,000 corners, which are cut into triangles in some seconds.
"""

SUFFIXES = (*_READERS, *_CAD)
"""The file name endings that can be read, in small letters."""


def load(
    path: str | PathLike[str],
    solid: bool = False,
    *,
    unit: str | None = None,
    linear_tolerance: float = 0.01,
    angular_tolerance: float = 0.5,
    allow_outside: bool = False,
    max_expanded: int = MAX_EXPANDED,
    max_seconds: float = MAX_SECONDS,
) -> Mesh:
    r"""Read one Mesh of everything in a file, instances placed by their transforms.

    STL, OBJ, OFF, PLY, glTF/GLB, 3MF, DAE/ZAE and 3DXML; STEP and IGES with the
    extra ``cad``.  Vertices and faces are as in the file: nothing is merged,
    cleaned or dropped, and polygons are kept (see ``Mesh.polygon``).  Points and
    lines are skipped.

    Parameters
    ----------
    path
        The file; the ending of its name tells the format.
    solid
        Whether the mesh is a solid: then it must be closed.
    unit, linear_tolerance, angular_tolerance, allow_outside, max_expanded, max_seconds
        As for ``load_assembly``.

    Returns
    -------
    Mesh
        All triangles and polygons of the file.

    Raises
    ------
    ValueError
        If the file cannot be read; the message names the file and the place in it.
    FileNotFoundError
        If there is no such file.
    MissingExtra
        If it is a STEP or IGES file, and the extra ``cad`` is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from impinge import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "square.obj")
    ...     _ = path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")
    ...     load(path)
    Mesh(4 vertices, 2 triangles, surface)
    """
    source = Source(Path(path), True, allow_outside, max_expanded, max_seconds)
    with _naming(source.path):
        scene = _in_unit(_read(source, linear_tolerance, angular_tolerance), unit)
        _account_for_copies(scene, source)
        whole = joined([_placed(instance) for instance in scene.instances])
        return Mesh(whole.vertices, whole.faces, solid=solid)


def load_assembly(
    path: str | PathLike[str],
    *,
    solid: bool | None = None,
    unit: str | None = None,
    linear_tolerance: float = 0.01,
    angular_tolerance: float = 0.5,
    allow_outside: bool = False,
    max_expanded: int = MAX_EXPANDED,
    max_seconds: float = MAX_SECONDS,
) -> Assembly:
    r"""Read the named part instances of a file, each with a rigid pose.

    Instances of one geometry share one Mesh.  A scaled, sheared or mirrored
    instance gets a mesh with that factor baked in, shared by all instances that
    have the same factor; a transform that is rigid but for the rounding of the
    file becomes the nearest rotation.  Parts of the same name are told apart by
    the assemblies around them, ``left/bolt`` and ``right/bolt``, then by a number:
    ``bolt``, ``bolt_1``, ``bolt_2``.

    Parameters
    ----------
    path
        The file; the ending of its name tells the format.
    solid
        ``None``: closed parts are solids, open ones surfaces.  ``True``: every
        part must be closed.  ``False``: all are surfaces.
    unit
        ``"um"``, ``"mm"``, ``"cm"``, ``"m"``, ``"in"`` or ``"ft"``: convert to this
        unit.  By default, coordinates stay in the unit of the file, which
        ``Assembly.unit`` reports.  STL, OBJ, OFF and PLY name no unit: theirs is
        taken to be this one, if given.
    linear_tolerance, angular_tolerance
        For STEP and IGES: the largest distance between surface and triangles, in
        millimetres, and the largest angle between neighbouring ones, in radians.
    allow_outside
        Whether the file may name other files (the buffers of glTF) that lie outside
        its own folder.  Say yes only to a file that you trust: what it names is read.
    max_expanded
        How many bytes the content may take once archives are unpacked and instances
        copied, by default 2 GiB, some ten million triangles.  More is a ValueError,
        before the memory is taken: a small file can announce any amount.  A member of an
        archive that unpacks to more than 16 MB and 100 times its size is refused, unless
        this is more than the default.  Open CASCADE,
        which reads STEP and IGES, may take four times as much and 1 GiB more while it
        works; only Linux keeps this limit.
    max_seconds
        For STEP and IGES: how long Open CASCADE may work, by default ten minutes; ``inf``
        is no limit.  Then its process is ended, with a ValueError.

    Returns
    -------
    Assembly
        The parts in the order of the file.

    Raises
    ------
    ValueError
        If the file cannot be read; the message names the file and the place in it.
    FileNotFoundError
        If there is no such file.
    MissingExtra
        If it is a STEP or IGES file, and the extra ``cad`` is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from impinge import load_assembly
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "plates.obj")
    ...     square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
    ...     _ = path.write_text(square + "o front\nf 1 2 3 4\n" + "o back\nf 4 3 2 1\n")
    ...     assembly = load_assembly(path, unit="mm")
    >>> assembly
    Assembly(2 parts of 2 meshes, 4 triangles, unit mm)
    >>> [part.name for part in assembly]
    ['front', 'back']
    """
    source = Source(Path(path), False, allow_outside, max_expanded, max_seconds)
    with _naming(source.path):
        scene = _in_unit(_read(source, linear_tolerance, angular_tolerance), unit)
        return Assembly(tuple(_parts(scene, solid, source)), scene.unit or unit)


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


def _read(source: Source, linear_tolerance: float, angular_tolerance: float) -> FileScene:
    path = source.path
    suffix = path.suffix.lower()
    if path.is_dir():
        raise ValueError("it is a directory, not a file")
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if suffix not in SUFFIXES:
        raise ValueError(f"files ending in {suffix!r} cannot be read; known are {' '.join(SUFFIXES)}")
    try:
        data = read_regular(path)
    except OSError as error:
        raise ValueError(f"it cannot be read ({error.strerror})") from error
    if not data:
        raise ValueError("it is empty")
    if suffix in _CAD:
        from impinge.io.formats.step import read_brep

        scene = read_brep(data, source, linear_tolerance, angular_tolerance)
    else:
        module, function = _READERS[suffix]
        read = cast(Reader, getattr(import_module(f"impinge.io.formats.{module}"), function))
        scene = read(data, source)
    shown = [instance for instance in scene.instances if len(instance.geometry.faces)]
    if not shown:
        raise ValueError("it holds no triangles")
    for geometry in {id(instance.geometry): instance.geometry for instance in shown}.values():
        source.take(_CORNER * geometry.corners_of_large_polygons, "what cuts its large polygons")
    return replace(scene, instances=shown)


def _in_unit(scene: FileScene, unit: str | None) -> FileScene:
    if unit is None:
        return scene
    if not isinstance(unit, str) or unit not in MICROMETRES:
        raise ValueError(f"the unit {shown(unit)} is not one of {' '.join(MICROMETRES)}")
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


def _account_for_copies(scene: FileScene, source: Source) -> None:
    """Every instance but the first of a geometry takes memory that no bytes of the file stand behind."""
    seen: set[int] = set()
    for instance in scene.instances:
        if id(instance.geometry) in seen:
            source.take(instance.geometry.size, "its instances")
        seen.add(id(instance.geometry))


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


def _parts(scene: FileScene, solid: bool | None, source: Source) -> Iterator[Part]:
    baked: dict[int, tuple[Floats, list[Mesh]]] = {}  # for each geometry, its latest factors and their meshes
    plain: dict[int, Mesh] = {}  # of geometries with several factors, the mesh without any
    for name, instance in zip(_unique_names(scene.instances, source), scene.instances, strict=True):
        try:
            pose, factor = split(instance.matrix)
            wanted = _ONE if factor is None else factor
            factors, meshes = baked.get(id(instance.geometry), (_NO_FACTORS, []))
            found = first_same(wanted, factors)
            if found is not None:
                mesh = meshes[found]
            else:
                if meshes:
                    source.take(instance.geometry.size, "its scaled instances")
                    if id(instance.geometry) not in plain:
                        plain[id(instance.geometry)] = _plain(instance.geometry, solid)
                mesh = _baked(plain.get(id(instance.geometry)) or _plain(instance.geometry, solid), factor, solid)
                factors = np.concatenate([factors[1 - _REMEMBERED_FACTORS :], wanted.reshape(1, 9)])
                baked[id(instance.geometry)] = factors, [*meshes[1 - _REMEMBERED_FACTORS :], mesh]
            yield Part(name, mesh, as_pose(pose))
        except ValueError as error:
            raise ValueError(f"part {name!r}: {error}") from error


def _unique_names(instances: list[Instance], source: Source) -> list[str]:
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
            source.take(len(name), "the names of its parts")
        unique = name
        while unique in used:
            numbers[name] += 1
            unique = f"{name}_{numbers[name]}"
        used.add(unique)
        names.append(unique)
    return names


def _plain(geometry: Geometry, solid: bool | None) -> Mesh:
    return Mesh(geometry.vertices, geometry.faces, solid=False if solid is None else solid)


def _baked(mesh: Mesh, factor: Floats | None, solid: bool | None) -> Mesh:
    """The mesh with a factor; where ``solid`` is None, a closed one is a solid."""
    becomes_solid = solid is None and mesh.is_closed
    if factor is None and not becomes_solid:
        return mesh
    matrix = np.eye(4)
    if factor is not None:
        matrix[:3, :3] = factor
    return mesh.transformed(matrix, solid=mesh.solid or becomes_solid)
