# mypy: allow-untyped-defs, allow-incomplete-defs
"""Outward rounding to float32."""

from __future__ import annotations

import numpy as np

from impinge.kernels.jit import inner


@inner
def rounded_up(x):
    """A float32 number that is at least x >= 0, and at least 2**-149.

    The factor outweighs the rounding to float32 where the result is normal, the quantum where it is subnormal.
    """
    return np.float32(x * (1.0 + 2.0**-23) + 2.0**-149)
