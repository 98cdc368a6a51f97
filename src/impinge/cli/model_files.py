"""The parts of one or more files as one assembly: files, or folders of files, in one unit and with unique names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import impinge
from impinge.cli import terminal
from impinge.errors import MissingExtra
from impinge.io.files import SUFFIXES
from impinge.io.scene import MICROMETRES
from impinge.mesh.assembly import Assembly

Read = tuple[Path, Assembly]

NO_MODEL = "no model"
"""Why a file of another kind, or a folder inside a folder, is skipped."""


@dataclass(frozen=True)
class ModelFile:
    """A file that was read."""

    path: Path
    parts: tuple[str, ...]
    """The names of its parts in the assembly."""


@dataclass(frozen=True)
class Skipped:
    """A file of a folder that was not read."""

    path: Path
    reason: str


@dataclass(frozen=True, eq=False)
class Models:
    """Everything that was read."""

    title: str
    assembly: Assembly
    files: tuple[ModelFile, ...]
    skipped: tuple[Skipped, ...]
    remarks: tuple[str, ...]
    """Sentences about what was skipped, converted or taken once."""


def read_models(places: Sequence[Path], unit: str | None) -> Models:
    """Read files, and the files of folders, into one unit: ``unit``, or that of the first file.

    A file that cannot be read is an error where it was named, and skipped where it is one of a folder.
    """
    paths, skipped = _find_files(places)
    read: list[Read] = []
    for path in dict.fromkeys(paths):
        try:
            with terminal.spinner(f"reading {path.name}"):
                read.append((path, impinge.load_assembly(path, unit=unit)))
        except (ValueError, OSError, MissingExtra) as error:
            if path in places:
                raise
            skipped.append(Skipped(path, " ".join(str(error).removeprefix(f"{path}: ").split())))
    if not read:
        first = next(item for item in skipped if item.path in paths)
        raise ValueError(f"no file can be read; the first is {first.path}: {first.reason}")
    remarks = [*_about_repeated(paths), *_about_skipped(skipped)]
    read, converted = _in_one_unit(read)
    names = _unique_names(read)
    parts = tuple(
        replace(part, name=name)
        for (_, assembly), row in zip(read, names, strict=True)
        for part, name in zip(assembly, row, strict=True)
    )
    return Models(
        _title(places),
        Assembly(parts, read[0][1].unit),
        tuple(ModelFile(path, tuple(row)) for (path, _), row in zip(read, names, strict=True)),
        tuple(skipped),
        (*remarks, *converted),
    )


def _find_files(places: Sequence[Path]) -> tuple[list[Path], list[Skipped]]:
    """The files to read, by the first name that was given to each, and what else is in the folders."""
    files: list[Path] = []
    skipped: list[Skipped] = []
    for place in places:
        if not place.is_dir():
            files.append(place)
            continue
        inside = [file for file in sorted(place.iterdir()) if not file.name.startswith(".")]
        models = [file for file in inside if file.is_file() and file.suffix.lower() in SUFFIXES]
        if not models:
            raise ValueError(f"{place}: no file in this folder can be read; known are {' '.join(SUFFIXES)}")
        files += models
        skipped += [Skipped(file, NO_MODEL) for file in inside if file not in models]
    places_of = {file: _resolved(file) for file in files}
    known = {places_of[file]: file for file in reversed(files)}
    return [known[places_of[file]] for file in files], skipped


def _resolved(file: Path) -> Path:
    try:
        return file.resolve()
    except RuntimeError as error:  # as Python says it before 3.13, which returns the path; opening it fails then
        raise ValueError(f"{file}: it is a symbolic link that leads to itself") from error


def _about_repeated(paths: Sequence[Path]) -> list[str]:
    return [f"{path} is given more than once and taken once." for path, count in Counter(paths).items() if count > 1]


def _about_skipped(skipped: Sequence[Skipped]) -> list[str]:
    remarks = [f"Skipped {item.path}: {item.reason}." for item in skipped if item.reason != NO_MODEL]
    foreign = [item.path.name for item in skipped if item.reason == NO_MODEL]
    if foreign:
        remarks.append(f"Skipped what is no model: {', '.join(foreign)}.")
    return remarks


def _title(places: Sequence[Path]) -> str:
    return ", ".join(place.name or str(place) for place in places) if len(places) <= 3 else f"{len(places)} files"


def _in_one_unit(read: list[Read]) -> tuple[list[Read], list[str]]:
    """All files in the unit of the first, and remarks; those in another unit are read once more."""
    first, wanted = read[0][0], read[0][1].unit
    others = [(path, some.unit) for path, some in read if some.unit != wanted]
    if not others:
        return read, []
    if wanted not in MICROMETRES or None in (unit for _, unit in others):
        one, other = (
            f"{path.name} {f'is in {unit}' if unit else 'names no unit'}" for path, unit in ((first, wanted), others[0])
        )
        raise ValueError(
            f"{one} and {other}: say the unit of all with --unit; files in another one are converted to it"
        )
    converted = []
    for path, some in read:
        if some.unit == wanted:
            converted.append((path, some))
            continue
        with terminal.spinner(f"converting {path.name}"):
            converted.append((path, impinge.load_assembly(path, unit=wanted)))
    return converted, [
        f"{path.name} is converted from {unit} to {wanted}, the unit of {first.name}." for path, unit in others
    ]


def _unique_names(read: Sequence[Read]) -> list[list[str]]:
    """Names that several files use say which file they are of."""
    in_files = Counter(name for _, assembly in read for name in {part.name for part in assembly})
    labels = _labels([path for path, _ in read])
    used: set[str] = set()
    return [
        [_unused(part.name if in_files[part.name] == 1 else f"{label}/{part.name}", used) for part in assembly]
        for (_, assembly), label in zip(read, labels, strict=True)
    ]


def _labels(paths: Sequence[Path]) -> list[str]:
    """The names of the files; those that are not unique with their folders."""
    often = Counter(path.name for path in paths)
    return [path.name if often[path.name] == 1 else str(path) for path in paths]


def _unused(name: str, used: set[str]) -> str:
    unique, number = name, 0
    while unique in used:
        number += 1
        unique = f"{name}_{number}"
    used.add(unique)
    return unique
