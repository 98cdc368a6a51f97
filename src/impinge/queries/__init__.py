"""Questions about two bodies: the verbs, Pair, Traversal, leaf operations."""
