"""Writes timemory's JSON output from trees, for tests: small, deterministic, ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Scope:
    """A measured scope; `value` is inclusive."""

    name: str
    value: float | list[float]
    children: Sequence[Scope] = field(default_factory=tuple)
    laps: int = 1
    threads: Sequence[int] = (0,)


def _node(scope: Scope, depth: int) -> dict[str, Any]:
    entry = {"laps": scope.laps, "value": 0, "repr_data": scope.value}
    node = {
        "hash": 0, "prefix": scope.name, "tid": list(scope.threads), "pid": [1], "depth": depth, "is_dummy": False,
        "inclusive": {"entry": entry, "stats": {}}, "exclusive": {"entry": entry, "stats": {}},
    }  # fmt: skip
    return {"node": node, "children": [_node(child, depth + 1) for child in scope.children]}


def component(
    ranks: Sequence[Sequence[Scope]], *, unit: str | list[str] = "sec", id: str = "wall_clock", **more: Any
) -> dict[str, Any]:
    """One component with a list of scopes for each process, below the dummy root that timemory writes."""
    lists = [[_node(Scope("unknown-hash=0", 0.0, scopes, laps=0), 0)] for scopes in ranks]
    return {"properties": {"id": id, "cereal_class_version": 0}, "type": id, "unit_repr": unit, "mpi": lists, **more}


def flat(
    ranks: Sequence[Sequence[tuple[int, str, float]]], *, unit: str = "sec", id: str = "wall_clock"
) -> dict[str, Any]:
    """One component as the list of (depth, name, inclusive value) that timemory writes without trees."""
    lists = [
        {
            "rank": rank,
            "graph_size": len(rows),
            "graph": [
                {
                    "hash": 1,
                    "prefix": f"|{rank}>>> {'  ' * depth}{'|_' if depth else ''}{name}",
                    "depth": depth,
                    "entry": {"laps": 1, "repr_data": value},
                }
                for depth, name, value in rows
            ],
        }
        for rank, rows in enumerate(ranks)
    ]
    return {"properties": {"id": id}, "type": id, "unit_repr": unit, "ranks": lists}


def write_timemory(path: Path, components: Mapping[str, Any]) -> Path:
    """A file of components."""
    path.write_text(json.dumps({"timemory": components}))
    return path
