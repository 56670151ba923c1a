"""Functions with costs and the calls between them, as both kinds of file give them, as contexts of a tree."""

from __future__ import annotations

from dataclasses import dataclass, field

from chathpc.adapters.call_graph import below
from chathpc.adapters.stacks import Stacks


@dataclass(slots=True)
class Function:
    """A function: `own` is its exclusive cost, `calls` how often it was called where that is known."""

    name: str
    own: float = 0.0
    calls: int | None = None
    module: str = ""
    file: str = ""
    line: int = 0


@dataclass(slots=True)
class Functions:
    """Functions by the key that the file gives them, and (caller, callee) pairs of keys."""

    known: dict[str, Function] = field(default_factory=dict)
    arcs: list[tuple[str, str]] = field(default_factory=list)

    def contexts(self, stacks: Stacks, root: int) -> dict[str, int]:
        """The context of each function: below its dominator, or below `root`."""
        number = {key: index for index, key in enumerate(self.known)}
        arcs = ((number[a], number[b]) for a, b in self.arcs if a in number and b in number)
        functions = list(self.known.values())
        parent, order = below(len(functions), arcs, [function.own for function in functions])
        place = [root] * len(functions)
        for index in order:
            one = functions[index]
            frame = stacks.frame(one.name or "[unknown]", file=one.file, line=one.line, module=one.module)
            place[index] = stacks.step(root if parent[index] < 0 else place[parent[index]], frame)
        return {key: place[index] for key, index in number.items()}
