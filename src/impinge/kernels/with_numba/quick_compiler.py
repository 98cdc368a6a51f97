"""Numba's compiler without what kernels do not need; the machine code is the same.

A function of a kernel takes Numba some 50 ms, most of it in Python; LLVM has a quarter.  Compiling the kernel for
distances takes three to four fifths of the time if

* the template that fits a call is remembered (``RememberingContext``): 12 %;
* passes for closures, comprehensions, ``with`` and inlining at the level of Python are left out, each of which
  computes anew where every variable is used: 9 %.

It was written for Numba 0.68; others compile as they come.
"""

from __future__ import annotations

import operator
from functools import cache
from typing import Any, NamedTuple

from numba.core import compiler, errors, typed_passes, types, untyped_passes, utils
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.target_extension import get_local_target
from numba.core.types.misc import unliteral
from numba.core.typing import Context
from numba.core.typing.templates import _OverloadFunctionTemplate

# ---------------------------------------------------------------------- typing


class _Fit(NamedTuple):
    template: Any
    literal: bool
    """Whether it was asked with the types of constants, such as Literal[int](0)."""
    signature: Any
    implementation: Any


class RememberingContext(Context):  # type: ignore[misc]
    """A view of Numba's typing context that remembers which template fits a call of a built-in function.

    For each ``a + b`` or ``rows[i]`` Numba asks the templates of the operator, some forty for an index, one after the
    other; each that does not fit writes an error message, and most compare all options of the compiler.  Which one
    fits depends on the types alone.  What others compile in this process goes through Numba's own context.
    """

    def __init__(self, context: Any) -> None:
        self.__dict__ = context.__dict__  # one context, seen twice
        self._fits: dict[tuple[Any, ...], _Fit] = {}

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if type(func) is types.Function and not kws:
            signature = self.fitting(func, args)
            if signature is not None:
                return signature
        return super().resolve_function_type(func, args, kws)

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        signature = self.fitting(self.resolve_value_type(operator.setitem), (target, index, value))
        return super().resolve_setitem(target, index, value) if signature is None else signature

    def fitting(self, function: Any, args: tuple[Any, ...]) -> Any:
        """The signature of a call; None if no template fits, and Numba shall say why."""
        fit = self._fits.get((function, args))
        if fit is None:
            fit = self._found(function, args)
            if fit is None:
                return None
            self._fits[function, args] = fit
        elif issubclass(fit.template, _OverloadFunctionTemplate):
            # What it compiles depends on the options of the caller, too.
            fit = self._asked(fit.template, fit.literal, args)
        function._impl_keys[fit.signature.args] = fit.implementation
        return fit.signature

    def _found(self, function: Any, args: tuple[Any, ...]) -> _Fit | None:
        """As ``types.Function.get_call_type`` does it, but for the messages, and with our own templates first.

        These fit nothing but tables and records, which no other fits.
        """
        target = get_local_target(self)
        order = utils.order_by_target_specificity(target, function.templates, fnkey=function.typing_key)
        for template in sorted(order, key=lambda template: not template.__module__.startswith("impinge.")):
            for literal in (True, False) if template.prefer_literal else (False, True):
                try:
                    fit = self._asked(template, literal, args)
                except errors.NumbaError:
                    continue
                if fit.signature is not None:
                    return fit
        return None

    def _asked(self, template: Any, literal: bool, args: tuple[Any, ...]) -> _Fit:
        asked = template(self)
        signature = asked.apply(args if literal else tuple(map(unliteral, args)), {})
        return _Fit(template, literal, signature, signature and asked.get_impl_key(signature))


@cache
def _remembering(context: Any) -> RememberingContext:
    """One view of a context: templates keep what they have compiled for each context apart."""
    return RememberingContext(context)


_get_call_type = types.Function.get_call_type


def _remembered_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """What lowering asks the function itself, and not the context."""
    if type(context) is RememberingContext and not kws:
        signature = context.fitting(function, tuple(args))
        if signature is not None:
            return signature
    return _get_call_type(function, context, args, kws)


types.Function.get_call_type = _remembered_call_type  # type: ignore[method-assign, assignment]

# ---------------------------------------------------------------------- passes

_LEFT_OUT = (
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.InlineOverloads,
)


@register_pass(mutates_CFG=True, analysis_only=False)
class _RewritesOfArrays(typed_passes.NopythonRewrites):  # type: ignore[misc]
    """Arithmetic on whole arrays, which few kernels have."""

    _name = "impinge_rewrites_of_arrays"

    def run_pass(self, state: Any) -> bool:
        with_arrays = any(isinstance(kind, types.Array) for kind in state.typemap.values())
        return bool(super().run_pass(state)) if with_arrays else False


class QuickCompiler(compiler.Compiler):  # type: ignore[misc]
    """Compiles what is written as kernels are: functions of this package, without closures."""

    def __init__(self, typing_context: Any, *others: Any) -> None:
        remembering = _remembering(typing_context)
        super().__init__(remembering, *others)
        self.state.targetctx.typing_context = remembering  # of a copy that Numba has made for this function

    def define_pipelines(self) -> list[PassManager]:
        (whole,) = super().define_pipelines()
        if not self.state.func_id.modname.startswith("impinge."):
            return [whole]  # what a user has written, who may write what Numba takes
        quick = PassManager(whole.pipeline_name)
        for one, description in whole.passes:
            if one is typed_passes.NopythonRewrites:
                one = _RewritesOfArrays
            if one not in _LEFT_OUT:
                quick.add_pass(one, description)
        quick.finalize()
        return [quick]
