"""Recipes for serial programs of C and C++: work, memory, containers, files."""
