"""Recipes: transformations of the catalogue that are applied to the source by its syntax tree, each with a test of its legality."""
