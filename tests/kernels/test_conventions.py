"""Conventions of kernels that no compiler checks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import impinge

SOURCES = Path(impinge.__file__).parent
MOST_PARAMETERS = 8
KERNEL_DECORATORS = ("kernel", "inner", "inlined", "generic")


def decorator_name(decorator: ast.expr) -> str:
    """``kernel`` of ``@kernel``; ``of`` of ``@visit.of(Nearest)``."""
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
        return decorator.attr if isinstance(decorator, ast.Attribute) else ""
    return decorator.id if isinstance(decorator, ast.Name) else ""


def kernels_with_too_many_parameters(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            names = {decorator_name(decorator) for decorator in node.decorator_list}
            count = len(node.args.posonlyargs) + len(node.args.args)
            if names & {*KERNEL_DECORATORS, "of"} and count > MOST_PARAMETERS:
                yield node.name


def sources() -> Iterator[tuple[str, str]]:
    """The files of the library, by their path, and what is in them."""
    for path in sorted(SOURCES.rglob("*.py")):
        place = path.relative_to(SOURCES)
        if place.parts[0] != "lab":
            yield place.as_posix(), path.read_text(encoding="utf-8")


def test_no_kernel_takes_more_than_eight_parameters() -> None:
    """A caller of more mixes them up: nothing tells one integer or array from the next.  Records have names.

    The scalar predicates, which take the coordinates of up to six points, are ``@cold`` and exempt.
    """
    found = {place: list(kernels_with_too_many_parameters(source)) for place, source in sources()}
    assert {place: names for place, names in found.items() if names} == {}


@pytest.mark.parametrize("decorator", ["kernel", "inner", "inlined", "generic", "visit.of(Nearest)"])
def test_a_kernel_with_nine_parameters_is_found(decorator: str) -> None:
    for count, found in ((8, []), (9, ["many"])):
        names = ", ".join(f"x{i}" for i in range(count))
        source = f"class Made:\n    @{decorator}\n    def many({names}, *, option=0):\n        pass\n"
        assert list(kernels_with_too_many_parameters(source)) == found
