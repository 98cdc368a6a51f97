"""GJK, EPA, and the finish that makes their answers exact."""
