"""Compiled kernels: the decorators, their cache, memory at addresses, eight lanes at once, interruptions."""
