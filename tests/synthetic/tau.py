"""Writes TAU's profile.N.C.T files from a call tree, for tests: small, deterministic, ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

#: Own microseconds and calls of each call path, outermost function first.
Tree = Mapping[tuple[str, ...], tuple[float, int]]


def rows_of(tree: Tree, *, depth: int = 100, groups: Mapping[str, str] | None = None) -> list[str]:
    """Flat rows, and rows of call paths cut to their last `depth` functions (0: none), as TAU adds them up."""
    whole = {path: sum(own for other, (own, _) in tree.items() if other[: len(path)] == path) for path in tree}
    sums: dict[tuple[str, ...], list[float]] = {}
    for path, (own, calls) in tree.items():
        below = sum(count for other, (_, count) in tree.items() if other[:-1] == path)
        keys = {path[-1:], path[-depth:] if depth > 1 else path[-1:]}
        for key in keys:
            entry = sums.setdefault(key, [0.0, 0.0, 0.0, 0.0])
            # The flat row of a function counts what is below its recursive calls once.
            outermost = path[-1] not in path[:-1] or len(key) > 1
            for index, value in enumerate((calls, below, own, whole[path] if outermost else 0.0)):
                entry[index] += value
    rows = []
    for key, entry in sums.items():
        calls_of, below_of, own_of, inclusive = entry
        group = (groups or {}).get(key[-1], "TAU_USER")
        group = group if len(key) == 1 else f"TAU_CALLPATH|{group}"
        rows.append(f'"{" => ".join(key)}" {calls_of:g} {below_of:g} {own_of:.16G} {inclusive:.16G} 0 GROUP="{group}" ')
    return rows


def text_of(rows: Sequence[str], *, metric: str = "TIME", events: Sequence[str] = (), metadata: str = "") -> str:
    """A whole file; `events` are rows `"name" numevents max min mean sumsqr`."""
    head = f"{len(rows)} templated_functions" + (f"_MULTI_{metric}" if metric else "")
    lines = [head, f"# Name Calls Subrs Excl Incl ProfileCalls # {metadata}", *rows, "0 aggregates"]
    if events:
        lines += [f"{len(events)} userevents", "# eventname numevents max min mean sumsqr", *events]
    return "\n".join(lines) + "\n"


def write_run(
    folder: Path,
    trees: Mapping[tuple[int, int, int], Tree],
    *,
    depth: int = 100,
    metric: str = "TIME",
    events: Sequence[str] = (),
    groups: Mapping[str, str] | None = None,
    metadata: str = "",
) -> Path:
    """A folder with a file for each (node, context, thread)."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, tree in trees.items():
        rows = rows_of(tree, depth=depth, groups=groups)
        name = "profile." + ".".join(map(str, place))
        (folder / name).write_text(text_of(rows, metric=metric, events=events, metadata=metadata))
    return folder
