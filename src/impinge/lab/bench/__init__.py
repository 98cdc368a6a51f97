"""Benchmarks: ``python -m impinge.lab.bench NAME``.  They print costs and ratios of one interleaved run."""
