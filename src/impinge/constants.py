"""Numbers that several packages share, each with its reason.

Change one of these only together with the derivation that it names: the exact
answers of the whole library stand on them.
"""

from typing import Final

UNIT_ROUNDOFF: Final = 2.0**-53
"""Largest relative error of one float64 operation, rounding to nearest."""

LARGEST_COORDINATE: Final = 2.0**150
"""Coordinates and translations beyond 1.4e45 are refused.

The kernels form products of up to six coordinate differences.  A posed
coordinate is below 2**153, so they stay below 2**930 and cannot overflow.
There is no lower limit: the exact stage of the predicates (geometry.exact.big_integers) works
on integers and is right for subnormal numbers too.
"""

ROTATION_TOLERANCE: Final = 1e-9
"""How far R^T R may be from the identity, entry by entry (a contract of the API)."""
