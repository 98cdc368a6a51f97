"""What compiles kernels: all of the package that imports Numba to do so, and nothing else imports it for that."""
