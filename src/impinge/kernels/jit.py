"""The one way kernels are compiled: decorators and progress line.

What is compiled is kept on disk (``kernel_cache``).  Whenever something really has to
be compiled, one line on the terminal says what and why.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, TypeVar, cast

import numpy as np

from impinge.kernels.interruptible import out_of_reach, signals_deferred
from impinge.kernels.messages import on_terminal, say

with signals_deferred():  # Ctrl-C would leave Numba half imported, and the next try ends in an AttributeError
    import llvmlite.binding
    import numba
    from llvmlite import ir
    from numba import config, types
    from numba.core import cgutils, event, sigutils
    from numba.core.ccallback import CFunc
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.cpu import CPUContext
    from numba.core.pythonapi import EnvironmentManager, PythonAPI
    from numba.extending import intrinsic, overload

    from impinge.kernels.cache import KernelCache, is_writable

    # What callers need of the cache; they import it from here.
    from impinge.kernels.cache import cache_directory as cache_directory
    from impinge.kernels.cache import cache_was_empty as cache_was_empty
    from impinge.kernels.cache import why_not_kept as why_not_kept

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Function) -> Function:
    """Compile a module-level function: no GIL, cached on disk, IEEE arithmetic as written.

    Without ``fastmath`` LLVM neither re-associates nor contracts a product and a sum into a
    fused multiply-add, on which the exact predicates rely (a test looks for fused instructions in the
    machine code).
    """
    if config.DISABLE_JIT:
        return _as_plain_python(function)
    dispatcher = numba.njit(pipeline_class=_EntryCompiler, **_OPTIONS)(function)
    dispatcher._cache = KernelCache(function)  # as its enable_caching() does with Numba's own
    dispatcher.compile = _uninterrupted(dispatcher.compile)
    return dispatcher  # type: ignore[no-any-return]


def _as_plain_python(function: Function) -> Function:
    """Without the compiler: infinities and NaN come about silently, as in machine code."""

    @wraps(function)
    def silent(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return cast(Function, silent)


def _uninterrupted(compile_or_load: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Ctrl-C while LLVM works may leave objects in it that are freed twice: the process crashes, at once or later."""

    def compile_apart(signature: Any) -> Any:
        # Another thread would wait for ever: for the lock of a compilation that this one is part of, or
        # for a module that this thread is importing.
        if global_compiler_lock.is_locked() or _some_module_is_being_imported():
            with signals_deferred():
                return compile_or_load(signature)
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


class _EntryCompiler(Compiler):  # type: ignore[misc]
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


class _InnerCompiler(Compiler):  # type: ignore[misc]
    def __init__(self, typing_context: Any, target_context: Any, library: Any, *others: Any) -> None:
        if library is None:
            library = _ToBeLinked(target_context.codegen(), "inner")
            library.enable_object_caching()
        super().__init__(typing_context, target_context, library, *others)


_INNER_OPTIONS: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": _InnerCompiler, **_OPTIONS}


def inner(function: Function) -> Function:
    """Compile a function that only kernels call: it cannot be called from Python and is not cached by itself.

    LLVM decides where it is copied into its callers.  Numba would have it copied wherever the caller is itself: the
    kernel for distances took 5.1 s to compile instead of 3.0.
    """
    return _only_for_kernels(function, forceinline=False)


def inlined(function: Function) -> Function:
    """As ``inner``, and copied into every caller.

    In the loop of a traversal a call would cost more than what is done in it.
    """
    return _only_for_kernels(function, forceinline=True)


def _only_for_kernels(function: Function, **options: bool) -> Function:
    if config.DISABLE_JIT:
        return function
    dispatcher = numba.njit(**options, **_INNER_OPTIONS)(function)
    specialise = dispatcher.get_call_template

    def once_for_all_constants(args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> Any:
        # Numba would compile f(x, 0) and f(x, n) apart, because 0 has a type of its own.
        return specialise(tuple(types.unliteral(arg) for arg in args), kws)

    dispatcher.get_call_template = once_for_all_constants
    return dispatcher  # type: ignore[no-any-return]


def cold(signature: str) -> Callable[[Function], Function]:
    """Compile a rarely taken path on its own; kernels call it through its address.

    Numba links a callee into every caller and optimises it there again, level by level.
    For the exact arithmetic behind the predicates that made the first compile of one kernel
    take 31 s, and crowded the registers of the hot path.  An external symbol is resolved
    when the (cached) machine code is loaded, so callers stay small.  Arguments are scalars or
    pointers: the caller passes ``pointer_to(array)``, the function makes ``array_at(pointer, shape)``
    of it.  What it calls must stand above it: it is compiled, or loaded, when its module is imported.
    """

    def decorate(function: Function) -> Function:
        if config.DISABLE_JIT:
            return function
        arguments, result = sigutils.normalize_signature(signature)
        # As numba.cfunc does, which would put Numba's own cache in.
        compiled = CFunc(function, (arguments, result), locals={}, options={"error_model": "numpy"})
        compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
        symbol = f"{function.__module__}.{function.__name__}"
        with signals_deferred():  # an interrupt could leave llvmlite's lock held, and the next kernel waits for ever
            compiled.compile()
            llvmlite.binding.add_symbol(symbol, compiled.address)
        _keep_alive.append(compiled)
        return types.ExternalFunction(symbol, result(*arguments))  # type: ignore[no-any-return]

    return decorate


_keep_alive: list[Any] = []

POINTER = "CPointer(float64)"
"""The type of a pointer in the signature of a cold function."""

if config.DISABLE_JIT:

    def pointer_to(array: Any) -> Any:
        """In plain Python a pointer to an array is the array."""
        return array

    def array_at(pointer: Any, shape: tuple[int, ...]) -> Any:
        """The array behind a pointer."""
        return pointer.reshape(shape)

else:
    array_at = numba.carray

    @inner
    def pointer_to(array: Any) -> Any:
        """A pointer to the numbers of a contiguous array."""
        return array.ctypes


_THREE = (types.int64,) * 3


@cache
def address_of_kernel(function: Any) -> Any:
    """Where the machine code of a kernel of three integers begins; it is compiled, or loaded, for that.

    For kernels that call others many times (see ``call_kernel``).  In plain Python the function itself.
    """
    if config.DISABLE_JIT:
        return function
    function.compile(_THREE)
    compiled = function.overloads[_THREE]
    with signals_deferred():
        return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


if config.DISABLE_JIT:

    def call_kernel(address: Any, a: Any, b: Any, c: Any) -> Any:
        return address(a, b, c)

else:

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


def generic(stub: Function) -> Any:
    """A function that is chosen by the class of its first argument, a record or a NamedTuple.

    ``@name.of(Class)`` gives the version for one class.  Numba's disk cache keeps working with this,
    which it does not with functions as arguments.
    """
    versions: dict[type, Callable[..., Any]] = {}

    def of(kind: type) -> Callable[[Function], Function]:
        def register(function: Function) -> Function:
            versions[kind] = function
            return function

        return register

    def version_for(kind: type) -> Callable[..., Any]:
        if kind not in versions:
            name = stub.__name__
            raise TypeError(f"{name} has no version for {kind.__name__}: register one with @{name}.of({kind.__name__})")
        return versions[kind]

    if config.DISABLE_JIT:

        def choose(*arguments: Any) -> Any:
            return version_for(type(arguments[0]))(*arguments)

    else:

        def choose(*arguments: Any) -> Any:
            raise TypeError(f"{stub.__name__} can only be called from kernels")

        @overload(choose, strict=False, jit_options={**_INNER_OPTIONS, "forceinline": True})  # type: ignore[untyped-decorator]
        def chosen(*argument_types: Any) -> Callable[..., Any]:
            return version_for(argument_types[0].instance_class)

    choose.__name__ = stub.__name__
    choose.__doc__ = stub.__doc__
    choose.of = of  # type: ignore[attr-defined]
    return choose


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
        if self._depth > 1 or not self.visible:
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
