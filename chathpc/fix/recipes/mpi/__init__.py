"""Recipes for programs that use MPI, in C and C++."""
