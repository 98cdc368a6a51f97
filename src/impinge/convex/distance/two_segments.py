# mypy: allow-untyped-defs, allow-incomplete-defs
"""Closest points of two segments.

Lumelsky (1985), "On fast computation of distance between line segments"; in ratios that neither overflow nor underflow.
"""

from __future__ import annotations

from impinge.geometry.exact.predicates import dot
from impinge.kernels.jit import inner


@inner
def clamped(x):
    return min(max(x, 0.0), 1.0)


@inner
def nearest_places(u, v, r):
    """Where on the segments u and v, from 0 to 1, they are nearest; r leads from the tail of v to that of u.

    Of parallel segments any of the many nearest pairs: each place is the nearest one to the other.
    """
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    ru, rv = dot(r, u), dot(r, v)
    s = 0.0
    if uu > 0.0 and vv > 0.0:
        skew = 1.0 - (uv / uu) * (uv / vv)
        if skew > 0.0:
            s = clamped(((uv / uu) * (rv / vv) - ru / uu) / skew)
    t = clamped((rv + s * uv) / vv) if vv > 0.0 else 0.0
    s = clamped((t * uv - ru) / uu) if uu > 0.0 else 0.0
    return s, t
