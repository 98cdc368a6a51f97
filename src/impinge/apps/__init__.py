"""What an engineer runs: the clash check and its report."""
