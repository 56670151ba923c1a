"""Recipes for CUDA kernels, with the causes that they answer."""

from __future__ import annotations

from chathpc.fix.recipes.cuda import block_size
from chathpc.fix.recipes.recipe import Recipe

RECIPES: tuple[Recipe, ...] = block_size.RECIPES
