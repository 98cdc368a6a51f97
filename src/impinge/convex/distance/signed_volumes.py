# mypy: allow-untyped-defs, allow-incomplete-defs
"""The point of a simplex that is nearest to the origin, by signed volumes.

Montanari, Petrinic and Barbieri (2017), "Improving the GJK algorithm for faster and more reliable distance queries
between convex objects".  Johnson's determinants of the first paper (Gilbert, Johnson and Keerthi 1988) cancel for
flat simplices; here faces are tried on whose far side the origin lies, from the whole simplex down to its edges, with
the origin dropped onto the plane of a face before areas are taken.

The weights need not be exact for GJK to be right: any weights give points of the bodies, hence an upper bound of
the distance, and any direction gives a lower one.  Where rounding spoils them the bounds do not meet, and the exact
walk takes over (convex.distance.gjk).
"""

from __future__ import annotations

from impinge.geometry.exact.predicates import cross, dot, subtract
from impinge.kernels.jit import inner


@inner
def combined2(p, q, a, b):
    return (p * a[0] + q * b[0], p * a[1] + q * b[1], p * a[2] + q * b[2])


@inner
def combined3(p, q, r, a, b, c):
    return (
        p * a[0] + q * b[0] + r * c[0],
        p * a[1] + q * b[1] + r * c[1],
        p * a[2] + q * b[2] + r * c[2],
    )


@inner
def segment_weights(a, b):
    """Weights of the point of ab nearest to the origin."""
    u = subtract(b, a)
    from_a = -dot(a, u)
    from_b = dot(b, u)
    if from_a <= 0.0:
        return 1.0, 0.0
    if from_b <= 0.0:
        return 0.0, 1.0
    total = from_a + from_b
    return from_b / total, from_a / total


@inner
def _squared(p, q, r, a, b, c):
    v = combined3(p, q, r, a, b, c)
    return dot(v, v)


@inner
def _best_edge(a, b, c):
    p, q = segment_weights(a, b)
    x, y, z = p, q, 0.0
    least = _squared(x, y, z, a, b, c)
    p, q = segment_weights(b, c)
    here = _squared(0.0, p, q, a, b, c)
    if here < least:
        x, y, z, least = 0.0, p, q, here
    p, q = segment_weights(c, a)
    if _squared(q, 0.0, p, a, b, c) < least:
        x, y, z = q, 0.0, p
    return x, y, z


@inner
def triangle_weights(a, b, c):
    """Weights of the point of the triangle abc nearest to the origin."""
    n = cross(subtract(b, a), subtract(c, a))
    squared = dot(n, n)
    if squared > 0.0:
        t = dot(n, a) / squared
        foot = (t * n[0], t * n[1], t * n[2])
        pa = subtract(a, foot)
        pb = subtract(b, foot)
        pc = subtract(c, foot)
        x = dot(cross(pb, pc), n)
        y = dot(cross(pc, pa), n)
        z = dot(cross(pa, pb), n)
        if x > 0.0 and y > 0.0 and z > 0.0:
            total = x + y + z
            return x / total, y / total, z / total
    return _best_edge(a, b, c)


@inner
def beyond(a, b, c, d):
    """Whether the origin is not strictly on the side of the plane abc on which d lies."""
    n = cross(subtract(b, a), subtract(c, a))
    ours = -dot(n, a)
    other = dot(n, subtract(d, a))
    return not ((ours > 0.0 and other > 0.0) or (ours < 0.0 and other < 0.0))


@inner
def tetrahedron_weights(a, b, c, d):
    """Weights of the nearest point, all zero where the origin is inside.

    d is the newest corner: the origin is known to be on its side of abc.
    """
    inside = True
    w = (0.0, 0.0, 0.0, 0.0)
    least = 0.0
    if beyond(a, b, d, c):
        x, y, z = triangle_weights(a, b, d)
        least = _squared(x, y, z, a, b, d)
        w = (x, y, 0.0, z)
        inside = False
    if beyond(b, c, d, a):
        x, y, z = triangle_weights(b, c, d)
        here = _squared(x, y, z, b, c, d)
        if inside or here < least:
            least = here
            w = (0.0, x, y, z)
        inside = False
    if beyond(c, a, d, b):
        x, y, z = triangle_weights(c, a, d)
        here = _squared(x, y, z, c, a, d)
        if inside or here < least:
            w = (y, 0.0, x, z)
    return w
