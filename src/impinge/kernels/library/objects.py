"""Kernels to object files: what one process of the builder does.

Numba compiles a kernel into a module of LLVM.  Two things are added to it: a function that takes its arguments from
words and puts its results into words (``entries.c`` says how), and the address of the kernel itself for kernels that
call it.  Cold functions get the C function by whose name kernels call them.  All modules of a share of the kernels are
linked into one, of which only these names can be seen from outside, and LLVM writes an object file for the processor
that NUMBA_CPU_NAME names.
"""

from __future__ import annotations

import json
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import types
from numba.core import config
from numba.core.registry import cpu_target

from impinge.kernels import mode
from impinge.kernels.library.linking import call_symbol, native_symbol
from impinge.kernels.sources import PACKAGE
from impinge.kernels.with_numba.compiler import Declared, declared_cold, declared_kernels, for_library

_NOT_IN_A_LIBRARY = ("lab", "cli")
"""Experiments and benchmarks: their kernels are compiled where they are run."""

_INT64 = ir.IntType(64)
_KINDS = {types.int64: "q", types.float64: "d", types.float32: "f", types.boolean: "b", types.none: "n"}
_NUMBERS = {"f8", "f4", "i8", "i4", "i1", "u1", "b1"}
_MOST_PARTS = 16
"""Of a tuple; as in entries.c."""
_context = cpu_target.target_context


def import_all_kernels() -> list[str]:
    """Import all modules that may have kernels; return the names of these, sorted."""
    for info in pkgutil.walk_packages([str(PACKAGE)], "impinge."):
        if info.name.split(".")[1] not in _NOT_IN_A_LIBRARY and not info.name.endswith("__main__"):
            import_module(info.name)
    return sorted(declared_kernels)


# ------------------------------------------------------------------------------ words


def description(kind: types.Type, is_result: bool = False) -> str:
    """What ``entries.c`` has to know of an argument or a result."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.BaseTuple) and len(kind) <= _MOST_PARTS:
        return f"({''.join(description(part, is_result) for part in kind)})"
    if isinstance(kind, types.Array) and kind.layout == "C" and kind.ndim <= 8:
        number = numba.np.numpy_support.as_dtype(kind.dtype)
        if f"{number.kind}{number.itemsize}" in _NUMBERS:
            return f"A{number.kind}{number.itemsize}{kind.ndim}"
    if is_result and isinstance(kind, types.Integer) and kind.signed:
        return "q"  # smaller ones are extended to a word
    if kind in _KINDS and kind != (types.float32 if is_result else types.none):
        return _KINDS[kind]
    raise TypeError(f"no kernel of a library {'returns' if is_result else 'takes'} {kind}")


class _Words:
    """Words in memory, one after the other."""

    def __init__(self, builder: Any, first: Any) -> None:
        self._builder, self._first, self.count = builder, first, 0

    def _next(self, kind: Any) -> Any:
        place = self._builder.gep(self._first, [ir.Constant(_INT64, self.count)])
        self.count += 1
        return self._builder.bitcast(place, kind.as_pointer())

    def load(self, kind: Any = _INT64) -> Any:
        return self._builder.load(self._next(kind))

    def store(self, value: Any) -> None:
        if isinstance(value.type, ir.PointerType):
            value = self._builder.ptrtoint(value, _INT64)
        self._builder.store(value, self._next(value.type))


def _taken(builder: Any, words: _Words, kind: types.Type) -> Any:
    """The value of an argument."""
    if isinstance(kind, types.BaseTuple):
        return _context.make_tuple(builder, kind, [_taken(builder, words, part) for part in kind])
    if not isinstance(kind, types.Array):
        value_type = _context.get_value_type(kind)
        if kind == types.boolean:
            return builder.trunc(words.load(), value_type)
        return words.load(value_type)
    array = _context.make_array(kind)(_context, builder)
    for field in ("meminfo", "parent", "nitems", "itemsize", "data"):
        word = words.load()
        wanted = getattr(array, field).type
        setattr(array, field, builder.inttoptr(word, wanted) if isinstance(wanted, ir.PointerType) else word)
    for field in ("shape", "strides"):
        parts = getattr(array, field)
        for axis in range(kind.ndim):
            parts = builder.insert_value(parts, words.load(), axis)
        setattr(array, field, parts)
    return array._getvalue()


def _give(builder: Any, words: _Words, kind: types.Type, value: Any) -> None:
    """Store a result."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.BaseTuple):
        for i, part in enumerate(kind):
            _give(builder, words, part, builder.extract_value(value, i))
    elif isinstance(kind, types.Array):
        array = _context.make_array(kind)(_context, builder, value)
        for field in ("meminfo", "parent", "nitems", "itemsize", "data"):
            words.store(getattr(array, field))
        for field in ("shape", "strides"):
            for axis in range(kind.ndim):
                words.store(builder.extract_value(getattr(array, field), axis))
    elif kind == types.boolean:
        words.store(builder.zext(value, _INT64))
    elif isinstance(kind, types.Integer):
        words.store(builder.sext(value, _INT64) if value.type.width < 64 else value)
    elif kind != types.none:
        words.store(value)


# ----------------------------------------------------------------------------- modules

_OF_OUR_RUNTIME = {
    "NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor", "NRT_MemInfo_new_varsize_dtor", "NRT_MemInfo_varsize_realloc",
    "numba_frexp", "numba_ldexp", "numba_nextafter",
}  # fmt: skip
"""What runtime.c has of Numba's run time."""


def _module_of(compiled: Any) -> Any:
    """The code of a function; it may want nothing of Numba and Python that is not there when it runs.

    What does is mostly the message of an error: an assignment of slices that might not fit, a reshape.
    """
    module = compiled.library._get_module_for_linking()
    wanted = {each.name for each in module.functions if each.is_declaration} - _OF_OUR_RUNTIME
    if strange := sorted(name for name in wanted if name.startswith(("NRT_", "numba_", "Py", "_Py"))):
        raise RuntimeError(f"{compiled.fndesc.qualname} in {compiled.fndesc.modname} needs {', '.join(strange)}")
    return module


def _call(builder: Any, compiled: Any, arguments: list[Any]) -> tuple[Any, Any]:
    signature = compiled.signature
    kind = _context.call_conv.get_function_type(signature.return_type, signature.args)
    callee = ir.Function(builder.module, kind, compiled.fndesc.llvm_func_name)
    status, value = _context.call_conv.call_function(builder, callee, signature.return_type, signature.args, arguments)
    return status, value


def _parsed(module: Any) -> Any:
    return llvm.parse_assembly(str(module))


def _kernel_modules(number: int, declared: Declared, entry: dict[str, Any]) -> Iterator[Any]:
    """The modules of a kernel; what Python has to know of it goes to ``entry``."""
    compiled = for_library(declared)
    signature = compiled.signature
    module = _context.create_module(f"words of kernel {number}")
    words = _INT64.as_pointer()
    function = ir.Function(module, ir.FunctionType(ir.IntType(32), [words, words]), call_symbol(number))
    builder = ir.IRBuilder(function.append_basic_block())
    given, results = _Words(builder, function.args[0]), _Words(builder, function.args[1])
    status, value = _call(builder, compiled, [_taken(builder, given, kind) for kind in signature.args])
    with builder.if_then(status.is_error, likely=False):
        builder.ret(ir.Constant(ir.IntType(32), 1))
    _give(builder, results, signature.return_type, value)
    builder.ret(ir.Constant(ir.IntType(32), 0))
    pointer = ir.IntType(8).as_pointer()
    native = ir.GlobalVariable(module, pointer, native_symbol(number))
    native.initializer = module.get_global(compiled.fndesc.llvm_func_name).bitcast(pointer)
    entry["takes"] = "".join(description(kind) for kind in signature.args)
    entry["gives"] = description(signature.return_type, is_result=True)
    entry["words"] = max(given.count, results.count)
    # Numba's functions are taken from their module only where they are asked for: so what asks comes first.
    yield _parsed(module)
    yield _module_of(compiled)


def _cold_modules(symbol: str, declared: Declared) -> Iterator[Any]:
    """The modules of a cold function, which kernels call as C does."""
    arguments, result = declared.arguments, declared.result
    compiled = for_library(declared)
    module = _context.create_module(f"cold function {symbol}")
    models = _context.data_model_manager
    kinds = [models[kind].get_argument_type() for kind in arguments]
    function = ir.Function(module, ir.FunctionType(models[result].get_argument_type(), kinds), symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    values = [models[kind].from_argument(builder, value) for kind, value in zip(arguments, function.args, strict=True)]
    status, value = _call(builder, compiled, values)
    with builder.if_then(status.is_error, likely=False):  # its callers go on; entries.c tells whoever called them
        note = ir.FunctionType(ir.VoidType(), [])
        builder.call(ir.Function(module, note, "impinge_memory_is_short"), [])
        builder.ret(ir.Constant(function.function_type.return_type, 0))
    builder.ret(models[result].as_argument(builder, value))
    yield _parsed(module)
    yield _module_of(compiled)


def write_object(path: Path, share: int, shares: int) -> list[dict[str, Any]]:
    """Write the object file of every ``shares``-th kernel, with the cold functions if it is the first share.

    Each kernel is named on standard output when it is done.  Returns what Python has to know of the kernels.
    """
    mode.building = True
    names = import_all_kernels()
    whole = _parsed(_context.create_module("kernels"))
    entries = []
    visible = set()
    for number, name in list(enumerate(names))[share::shares]:
        entry: dict[str, Any] = {"name": name, "number": number}
        for module in _kernel_modules(number, declared_kernels[name], entry):
            whole.link_in(module)
        entries.append(entry)
        visible |= {call_symbol(number), native_symbol(number)}
        print(name, flush=True)
    if share == 0:
        for symbol in sorted(declared_cold):
            for module in _cold_modules(symbol, declared_cold[symbol]):
                whole.link_in(module)
            visible.add(symbol)
    for each in [*whole.functions, *whole.global_variables]:
        if not each.is_declaration:
            each.linkage = "external" if each.name in visible else "internal"
            if each.name in visible:
                each.visibility = "hidden"  # to whatever else is in the process
    target = llvm.Target.from_triple(whole.triple)
    machine = target.create_target_machine(cpu=config.CPU_NAME, features="", opt=3, reloc="pic", codemodel="default")
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(whole, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    whole.verify()
    path.write_bytes(machine.emit_object(whole))
    return entries


if __name__ == "__main__":
    _path = Path(sys.argv[1])
    _entries = write_object(_path, int(sys.argv[2]), int(sys.argv[3]))
    _path.with_suffix(".json").write_text(json.dumps(_entries))
