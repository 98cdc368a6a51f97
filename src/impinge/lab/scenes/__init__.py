"""Seeded scenes: one library serves the demo, the tests, the benchmarks and the viewer."""
