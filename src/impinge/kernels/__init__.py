"""Kernels: the decorators, records, how they run (library, Numba, plain Python), eight lanes at once, interruptions."""
