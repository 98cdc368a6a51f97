"""GJK, and the finish that makes its answers exact."""
