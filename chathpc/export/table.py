"""The call tree as a table of comma-separated values: one row a node, exclusive and inclusive values of each metric."""

from __future__ import annotations

import csv
import io

import numpy as np

from chathpc.profile.profile import Profile
from chathpc.profile.text import clean
from chathpc.profile.tree import NodeKind

#: A spreadsheet takes text that begins so for a formula (OWASP: CSV injection); an apostrophe before it makes it text.
_FORMULA = ("=", "+", "-", "@", "\t")


def export(profile: Profile, metric: str | None) -> str:
    """All nodes in preorder with node, parent (−1: root), depth, kind, name, file, line, module, then metrics in SI units.

    Columns `ID` hold exclusive, `ID (inc)` inclusive values; empty is not measured. `metric` chooses one metric.
    """
    chosen = [profile.metric(metric)] if metric else [one for one in profile.metrics.values() if one.has_values]
    tree = profile.tree
    columns = []
    for one in chosen:
        for values in (profile.exclusive(one.id), profile.inclusive(one.id)):
            columns.append(values.dense(len(tree), missing=np.nan).tolist())
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    heads = [f"{one.id}{suffix} [{one.unit}]" for one in chosen for suffix in ("", " (inc)")]
    writer.writerow(["node", "parent", "depth", "kind", "name", "file", "line", "module", *heads])
    for node in range(len(tree)):
        amounts = [column[node] for column in columns]
        writer.writerow(
            [
                node,
                int(tree.parent[node]),
                int(tree.depth[node]),
                NodeKind(int(tree.kind[node])).text,
                as_text(tree.label(node)),
                as_text(tree.file_name(node) or ""),
                int(tree.line[node]) or "",
                as_text(tree.module_name(node) or ""),
                *("" if amount != amount else repr(amount) for amount in amounts),
            ]
        )
    return file.getvalue()


def as_text(value: str) -> str:
    """`value` as a spreadsheet shows it and does not compute it."""
    value = clean(value)
    return f"'{value}" if value.startswith(_FORMULA) else value
