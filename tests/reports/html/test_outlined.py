"""The tree that is drawn of a report's rows."""

from __future__ import annotations

import pytest

from chathpc.report import TreeRecord, TreeRow
from chathpc.reports.html.outlined import view_of_rows


def row(depth: int, label: str, inclusive: float, exclusive: float, total: float) -> TreeRow:
    return TreeRow(
        depth=depth, label=label, place="", inclusive=inclusive, exclusive=exclusive, share=inclusive / total
    )


def test_what_has_no_row_is_a_part_of_the_whole_on_both_sides() -> None:
    rows = [row(0, "main", 8.0, 1.0, 10.0), row(1, "f", 3.0, 2.0, 10.0), row(1, "g", 2.0, 2.0, 10.0)]
    before = TreeRecord(metric="cpu.time", unit="s", total=10.0, rows=rows)
    after = TreeRecord(metric="cpu.time", unit="s", total=2.0, rows=[row(0, "main", 2.0, 2.0, 2.0)])
    tree = view_of_rows(after, before).tree
    assert tree is not None
    assert sum(tree.before["cpu.time"]) == pytest.approx(10.0)
    assert sum(tree.values["cpu.time"]) == pytest.approx(2.0)
    assert tree.before["cpu.time"] == [1.0, 2.0, 1.0, 2.0, 2.0, 2.0]
    assert tree.parent == [-1, 0, 1, 0, 0, -1]
