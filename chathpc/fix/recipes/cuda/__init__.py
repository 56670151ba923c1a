"""Recipes for CUDA kernels; what they write is compiled and timed only where there is a GPU."""
