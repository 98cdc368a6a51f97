"""Kernels in a shared library: how one is loaded, and how one is built (``python -m impinge.kernels.build``)."""
