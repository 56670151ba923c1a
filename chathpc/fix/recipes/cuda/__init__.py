"""Recipes for CUDA kernels and the host that starts them; what they write is compiled and timed only where there is a GPU."""
