"""Recipes for free-form Fortran, also with OpenMP."""
