"""Object files to a library: the table of its entries, the C compiler, and what may be missing in it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_SOURCES = Path(__file__).parent
_FEATURES = {
    "x86-64-v3": '__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi")'
    ' && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("popcnt")'
    ' && __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe")',
}
"""How a processor tells that it has a feature level, where not every one does."""
_MAY_BE_MISSING = re.compile(
    r"_?Py[A-Z_]\w*|_Py_\w+|_ITM_\w+|__gmon_start__|__cxa_finalize|__stack_chk_fail"
    r"|malloc|realloc|free|mem(cpy|move|set|cmp)|strcmp|frexp|ldexp|nextafter|floor|ceil|__tls_get_addr"
)
"""What the interpreter and the C library provide."""


def call_symbol(number: int) -> str:
    """The function by which ``entries.c`` calls a kernel."""
    return f"impinge_call_{number}"


def native_symbol(number: int) -> str:
    """The variable that holds the address of a kernel."""
    return f"impinge_native_{number}"


def table_of_entries(entries: Sequence[dict[str, Any]]) -> str:
    """The C source that names all kernels."""
    lines = [f"enum {{ MOST_WORDS = {max(entry['words'] for entry in entries)} }};"]
    for entry in entries:
        call, native = call_symbol(entry["number"]), native_symbol(entry["number"])
        lines.append(f"extern int32_t {call}(const int64_t *, int64_t *); extern void *{native};")
    lines.append("static const Entry entries[] = {")
    for entry in entries:
        call, native = call_symbol(entry["number"]), native_symbol(entry["number"])
        lines.append(f'    {{"{entry["name"]}", "{entry["takes"]}", "{entry["gives"]}", {call}, &{native}}},')
    return "\n".join([*lines, "};", ""])


def c_compiler() -> list[str]:
    """The command that compiles C: CC, the system's, or the one in the package ziglang."""
    if command := os.environ.get("CC"):
        return shlex.split(command)
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    return [sys.executable, "-m", "ziglang", "cc"]


def link(library: Path, objects: Sequence[Path], entries: Sequence[dict[str, Any]], level: str) -> None:
    """Make a library of object files.

    Raises
    ------
    RuntimeError
        It would need something that is not there where it is used.
    """
    work = objects[0].parent
    (work / "table.h").write_text(table_of_entries(entries))
    includes = [f"-I{folder}" for folder in (work, _SOURCES, np.get_include(), sysconfig.get_path("include"))]
    # For any processor of the architecture: these parts run before it is known which one it is.
    flags = ["-shared", "-fPIC", "-O2", "-s", "-fvisibility=hidden"]
    flags += [f"-DFEATURES={_FEATURES[level]}"] if level in _FEATURES else []
    if sys.platform == "darwin":  # not tried: there the interpreter provides its functions when the library is loaded
        flags += ["-undefined", "dynamic_lookup"]
    sources = [str(_SOURCES / name) for name in ("entries.c", "runtime.c")]
    command = [*c_compiler(), *flags, *includes, "-o", str(library), *sources, *map(str, objects), "-lm"]
    subprocess.run(command, check=True)
    if strange := sorted(name for name in undefined_symbols(library) if not _MAY_BE_MISSING.fullmatch(name)):
        library.unlink()
        raise RuntimeError(f"kernels need what a library cannot have: {', '.join(strange)}")


def undefined_symbols(library: Path) -> set[str]:
    """What a library expects from others, without versions."""
    on_mac = sys.platform == "darwin"  # whose names begin with an underscore
    command = ["nm", "-u", str(library)] if on_mac else ["nm", "-D", "-u", str(library)]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1].partition("@")[0] for line in found.splitlines() if line.strip()}
    return {name.removeprefix("_") for name in names} if on_mac else names
