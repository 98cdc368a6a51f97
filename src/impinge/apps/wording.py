"""What a clash check says in sentences, the same on the terminal, in JSON and in the report."""

from __future__ import annotations

from collections import Counter

from impinge.apps.clash import ClashCheck, FindingKind
from impinge.apps.length_text import length_text
from impinge.mesh.assembly import Assembly

_MANY = {FindingKind.INTERFERENCE: "interferences", FindingKind.CLEARANCE: "within the clearance"}
_ONE = {FindingKind.CLEARANCE: "within the clearance"}


def summary(assembly: Assembly, result: ClashCheck) -> str:
    """The findings counted by kind, the number of parts and the clearance: half a sentence, to follow a name."""
    parts = f"{len(assembly)} parts, clearance {length_text(result.clearance, assembly.unit)}"
    if not result.findings:
        return f"no findings among {parts}"
    total = f"{len(result.findings)} finding{'s' * (len(result.findings) != 1)}"
    counted = sorted(Counter(finding.kind for finding in result.findings).items())
    return f"{total} among {parts}: {', '.join(count_text(kind, count) for kind, count in counted)}"


def count_text(kind: FindingKind, count: int) -> str:
    """A number of findings in words.

    Examples
    --------
    >>> count_text(FindingKind.INTERFERENCE, 2), count_text(FindingKind.TOUCHING, 1)
    ('2 interferences', '1 touching')
    """
    names = _ONE if count == 1 else _MANY
    return f"{count} {names.get(kind, kind.label.lower())}"


def notes(assembly: Assembly, result: ClashCheck, most_names: int | None = None) -> list[str]:
    """What one must know to read the findings; ``most_names`` shortens lists of parts."""
    said = [_about_welding(assembly, result), _about_open_parts(assembly, result, most_names), _about_units(assembly)]
    return [sentence for sentence in said if sentence]


def _about_units(assembly: Assembly) -> str:
    return "" if assembly.unit else "No unit is named: lengths are in the unit of the coordinates, whatever it is."


def _about_welding(assembly: Assembly, result: ClashCheck) -> str:
    if not result.welded:
        return ""
    vertices = sum(mesh.vertices for mesh in result.welded)
    parts = sum(len(mesh.parts) for mesh in result.welded)
    move = length_text(max(mesh.largest_move for mesh in result.welded), assembly.unit)
    closed = f"{parts} of {len(assembly)} parts {'is' if parts == 1 else 'are'} closed by welding"
    return (
        f"{closed} {vertices:,} vert{'ex' if vertices == 1 else 'ices'} by at most {move}; "
        "the answers are exact for the welded coordinates."
    )


def _about_open_parts(assembly: Assembly, result: ClashCheck, most_names: int | None) -> str:
    names = [f"{part.name} ({part.open_edges} open edge{'s' * (part.open_edges != 1)})" for part in result.open_parts]
    if not names:
        return ""
    shown = ", ".join(names[:most_names])
    more = "" if len(names[:most_names]) == len(names) else f", and {len(names[most_names:])} more"
    one = len(names) == 1
    what = f"{len(names)} of {len(assembly)} parts {'is an open surface' if one else 'are open surfaces'}"
    return f"{what}, so nothing was checked for lying inside {'it' if one else 'them'}: {shown}{more}."
