"""Applications: the clash check of an assembly and its report."""
