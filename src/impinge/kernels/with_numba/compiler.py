"""How Numba compiles kernels: what stands behind the decorators of ``kernels.jit``, and the progress line.

What is compiled is kept on disk (``kernels.with_numba.cache``).  Whenever something really has to
be compiled, one line on the terminal says what and why.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np

from impinge.kernels import mode
from impinge.kernels.interruptible import out_of_reach, signals_deferred
from impinge.kernels.messages import on_terminal, say

with signals_deferred():  # Ctrl-C would leave Numba half imported, and the next try ends in an AttributeError
    import llvmlite.binding
    import numba
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils, event, sigutils
    from numba.core.ccallback import CFunc
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.cpu import CPUContext
    from numba.core.pythonapi import EnvironmentManager, PythonAPI
    from numba.core.registry import cpu_target
    from numba.extending import intrinsic, overload

    from impinge.kernels.with_numba.cache import KernelCache, is_writable

    if numba.__version__.startswith("0.68."):  # what it leaves out is the business of one version
        from impinge.kernels.with_numba.quick_compiler import QuickCompiler
    else:
        from numba.core.compiler import Compiler as QuickCompiler  # type: ignore[no-redef]

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """While something is compiled: the collector finds next to nothing, and takes 7 % of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def type_of(thing: Any) -> Any:
    """The type of something that Numba knows how to compile."""
    cpu_target.typing_context.refresh()  # it may have been made just now
    cpu_target.target_context.refresh()
    return cpu_target.typing_context.resolve_value_type(thing)


class Declared(NamedTuple):
    """A function and its types, as the decorator gives them."""

    function: Callable[..., Any]
    arguments: tuple[types.Type, ...]
    result: types.Type | None
    """Of cold functions; that of kernels follows from the rest."""


declared_kernels: dict[str, Declared] = {}
"""All kernels of the modules imported so far, by module and name;"""
declared_cold: dict[str, Declared] = {}
"""the same for cold functions."""


def _argument_types(parts: tuple[str | type, ...]) -> tuple[types.Type, ...]:
    found: list[types.Type] = []
    for part in parts:
        if isinstance(part, str):
            found += eval(f"[{part}]", dict(vars(types)))
        else:
            found.append(types.NamedTuple(_argument_types((part.signature(),)), part))  # type: ignore[attr-defined]
    return tuple(found)


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def kernel(signature: tuple[str | type, ...], function: Function) -> Function:
    """A function that Python calls, compiled at the first call."""
    declared = declared_kernels[_name(function)] = Declared(function, _argument_types(signature), None)
    dispatcher = numba.njit(pipeline_class=_EntryCompiler, **_OPTIONS)(function)
    dispatcher._cache = KernelCache(function)  # as its enable_caching() does with Numba's own
    dispatcher.compile = _as_declared(declared, _uninterrupted(dispatcher.compile))
    return dispatcher  # type: ignore[no-any-return]


def _as_declared(declared: Declared, compile_or_load: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Refuse other arrays than those that a library would take: Numba would compile a kernel for any."""

    def compile_for(signature: Any) -> Any:
        arguments, _ = sigutils.normalize_signature(signature)
        for place, (given, wanted) in enumerate(zip(arguments, declared.arguments, strict=False)):
            if isinstance(wanted, types.Array | types.BaseTuple) and writable(given) != wanted:
                raise TypeError(
                    f"argument {place} of the kernel {_name(declared.function)} is not {wanted}, but {given}"
                )
        return compile_or_load(signature)

    return compile_for


def writable(kind: Any) -> Any:
    """A type as kernels declare it: they do not say which arrays they leave as they are."""
    if isinstance(kind, types.NamedTuple):
        return types.NamedTuple([writable(part) for part in kind], kind.instance_class)
    if isinstance(kind, types.BaseTuple):
        return types.Tuple([writable(part) for part in kind])
    return kind.copy(readonly=False) if isinstance(kind, types.Array) else kind


def _uninterrupted(compile_or_load: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Ctrl-C while LLVM works may leave objects in it that are freed twice: the process crashes, at once or later."""

    def compile_apart(signature: Any) -> Any:
        # Another thread would wait for ever: for the lock of a compilation that this one is part of, or
        # for a module that this thread is importing.
        if global_compiler_lock.is_locked() or _some_module_is_being_imported():
            with signals_deferred():
                return compile_or_load(signature)
        with without_garbage_collection():
            return out_of_reach(lambda: compile_or_load(signature))

    return compile_apart


def _some_module_is_being_imported() -> bool:
    ours = [module for name, module in sys.modules.copy().items() if name.startswith("impinge.")]
    return any(getattr(getattr(module, "__spec__", None), "_initializing", False) for module in ours)


class _QuietPythonAPI(PythonAPI):  # type: ignore[misc]
    """Makes arrays of what a kernel returns without running Python code.

    Numba finds the class of an array by calling a Python function.  If Ctrl-C was pressed while the kernel worked, that
    raises KeyboardInterrupt, which is not looked at: a SystemError or a crash comes of it.  The constants of a
    kernel are already there; the type of the numbers comes from there anyway.
    """

    def get_env_manager(self, *arguments: Any) -> EnvironmentManager:
        self._environment = super().get_env_manager(*arguments)
        return self._environment

    def serialize_object(self, thing: Any) -> Any:
        return thing if thing is np.ndarray else super().serialize_object(thing)

    def unserialize(self, serialized: Any) -> Any:
        if serialized is np.ndarray:
            return self._environment.read_const(self._environment.add_const(np.ndarray))
        return super().unserialize(serialized)


class _EntryContext(CPUContext):  # type: ignore[misc]
    def get_python_api(self, builder: Any) -> PythonAPI:
        return _QuietPythonAPI(self, builder)


class _EntryCompiler(QuickCompiler):
    """Compiles what Python calls."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.targetctx.__class__ = _EntryContext  # a copy of Numba's, made for this kernel


class _ToBeLinked(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that only kernels call: it is optimised there, and only there.

    Numba would optimise it on its own and turn it into machine code that is never called, and then again
    together with each of its callers, level by level: the kernel for distances took 22 s to compile instead of 12.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> _ToBeLinked:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Python objects that belong to a function: there are none in kernels."""


class _ForLibrary(_ToBeLinked):
    """The code of a kernel for a library: optimised, and never turned into machine code of this process."""

    def _optimize_final_module(self) -> None:
        JITCodeLibrary._optimize_final_module(self)


class _LibraryCompiler(QuickCompiler):
    def __init__(self, typing_context: Any, target_context: Any, library: Any, *others: Any) -> None:
        library = _ForLibrary(target_context.codegen(), "kernel")
        library.enable_object_caching()
        super().__init__(typing_context, target_context, library, *others)


def for_library(declared: Declared) -> Any:
    """Compile a kernel or a cold function for a library."""
    function, arguments, result = declared
    dispatcher = numba.njit(no_cpython_wrapper=True, pipeline_class=_LibraryCompiler, **_OPTIONS)(function)
    dispatcher.compile(arguments if result is None else result(*arguments))
    return dispatcher.overloads[arguments]


class _InnerCompiler(QuickCompiler):
    def __init__(self, typing_context: Any, target_context: Any, library: Any, *others: Any) -> None:
        if library is None:
            library = _ToBeLinked(target_context.codegen(), "inner")
            library.enable_object_caching()
        super().__init__(typing_context, target_context, library, *others)


_INNER_OPTIONS: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": _InnerCompiler, **_OPTIONS}


def only_for_kernels(function: Function, forceinline: bool) -> Function:
    """A function that kernels call, compiled with them."""
    dispatcher = numba.njit(forceinline=forceinline, **_INNER_OPTIONS)(function)
    specialise = dispatcher.get_call_template

    def once_for_all_constants(args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> Any:
        # Numba would compile f(x, 0) and f(x, n) apart, because 0 has a type of its own.
        return specialise(tuple(types.unliteral(arg) for arg in args), kws)

    dispatcher.get_call_template = once_for_all_constants
    return dispatcher  # type: ignore[no-any-return]


def cold(signature: str, function: Function) -> Function:
    """A function that kernels call through its address, compiled or loaded now."""
    arguments, result = sigutils.normalize_signature(signature)
    symbol = _name(function)
    declared_cold[symbol] = Declared(function, arguments, result)
    if mode.building:  # the library will have it; here nothing is run, but Numba wants to know where it is
        llvmlite.binding.add_symbol(symbol, 1)
    else:
        # As numba.cfunc does, which would put Numba's own cache in.
        compiled = CFunc(function, (arguments, result), {}, {"error_model": "numpy"}, pipeline_class=QuickCompiler)
        compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
        # An interrupt could leave llvmlite's lock held, and the next kernel waits for ever.
        with signals_deferred(), without_garbage_collection():
            compiled.compile()
            llvmlite.binding.add_symbol(symbol, compiled.address)
        _keep_alive.append(compiled)
    return types.ExternalFunction(symbol, result(*arguments))  # type: ignore[no-any-return]


_keep_alive: list[Any] = []

array_at = numba.carray


def _pointer_to(array: Any) -> Any:
    """A pointer to the numbers of a contiguous array."""
    return array.ctypes


pointer_to = only_for_kernels(_pointer_to, forceinline=False)

_THREE = (types.int64,) * 3


def address_of_kernel(function: Any) -> int:
    """Where the machine code of a kernel of three integers begins; it is compiled, or loaded, for that."""
    function.compile(_THREE)
    compiled = function.overloads[_THREE]
    with signals_deferred():
        return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


@intrinsic  # type: ignore[untyped-decorator]
def call_kernel(typing_context: Any, address: Any, a: Any, b: Any, c: Any) -> Any:
    """Call the kernel at an address with three integers; it returns one.

    A kernel that names another one has it compiled into itself, which doubles what the first run takes.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = context.call_conv.get_function_type(types.int64, _THREE)
        callee = builder.inttoptr(values[0], kind.as_pointer())
        result = cgutils.alloca_once(builder, ir.IntType(64))
        error = cgutils.alloca_once(builder, kind.args[1].pointee)
        builder.call(callee, [result, error, *values[1:]])  # kernels raise nothing
        return builder.load(result)

    return types.int64(types.int64, *_THREE), generate


def overload_by_class(choose: Callable[..., Any], version_for: Callable[[type], Callable[..., Any]]) -> None:
    """Let kernels call the version of a function that is made for the class of its first argument."""

    @overload(choose, strict=False, jit_options={**_INNER_OPTIONS, "forceinline": True})  # type: ignore[untyped-decorator]
    def chosen(*argument_types: Any) -> Callable[..., Any]:
        return version_for(argument_types[0].instance_class)


class _ProgressLine(event.Listener):  # type: ignore[misc]
    """Shows which of our kernels is being compiled, on one line of the terminal."""

    def __init__(self) -> None:
        self.visible = True
        self._depth = 0
        self._shown = False

    @staticmethod
    def _is_ours(happening: event.Event) -> bool:
        module: str | None = happening.data["dispatcher"].py_func.__module__
        return module is not None and module.startswith("impinge.")

    def on_start(self, happening: event.Event) -> None:
        if not self._is_ours(happening):
            return
        self._depth += 1
        if self._depth > 1 or not self.visible or mode.building:
            return
        name = happening.data["dispatcher"].py_func.__name__.strip("_").replace("_", " ")
        if on_terminal():
            say(f"impinge: compiling for this machine{', once' if is_writable() else ''}: {name}", end="")
        elif not self._shown:
            kept = " (kept for the next)" if is_writable() else ""
            say(f"impinge: first run, compiling kernels for this machine{kept}")
        self._shown = True

    def on_end(self, happening: event.Event) -> None:
        if not self._is_ours(happening):
            return
        self._depth -= 1
        if self._depth == 0 and self.visible and on_terminal():
            say("", end="")


_progress_line = _ProgressLine()
event.register("numba:compile", _progress_line)


@contextmanager
def without_progress_line() -> Iterator[None]:
    """For callers that show the progress of compiling in their own way."""
    _progress_line.visible = False
    try:
        yield
    finally:
        _progress_line.visible = True
