"""Seeded scenes, benchmarks and exactness runs."""
