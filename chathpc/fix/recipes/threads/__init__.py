"""Recipes for OpenMP and threads of C and C++."""
