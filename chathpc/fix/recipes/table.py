"""All recipes, those for serial programs first: of recipes that promise the same the earlier one is tried first."""

from __future__ import annotations

from chathpc.fix.recipes.cuda import table as cuda
from chathpc.fix.recipes.fortran import table as fortran
from chathpc.fix.recipes.mpi import table as mpi
from chathpc.fix.recipes.recipe import Recipe
from chathpc.fix.recipes.serial import table as serial
from chathpc.fix.recipes.threads import table as threads

#: Recipes by what they are for, as the documentation lists them.
GROUPS: dict[str, tuple[Recipe, ...]] = {
    "C and C++: work, memory, containers, files": serial.RECIPES,
    "C and C++: OpenMP and threads": threads.RECIPES,
    "Fortran, also with OpenMP": fortran.RECIPES,
    "MPI": mpi.RECIPES,
    "CUDA": cuda.RECIPES,
}

RECIPES: tuple[Recipe, ...] = tuple(one for group in GROUPS.values() for one in group)
