"""Recipes for programs that use MPI, in C, C++ and Fortran."""
