"""From a GPU operation to the call that launched it."""

from __future__ import annotations

import numpy as np

from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array

#: With more processes than this their tables are not kept apart.
FEW_PROCESSES = 64
#: A table by correlation id may have as many entries for each call.
SPARSE = 8


class Launches:
    """Finds the node of a launching call by process and correlation id: the id alone is unique in one process only."""

    def __init__(self, process: Int32Array, correlation: Int64Array, node: Int32Array) -> None:
        if len(correlation) and int(correlation.min()) < 0:
            known = correlation >= 0
            process, correlation, node = process[known], correlation[known], node[known]
        self._tables = _tables(process, correlation, node)
        if self._tables is None:
            self._ids = np.unique(correlation)
            key = process.astype(np.int64) * len(self._ids) + np.searchsorted(self._ids, correlation)
            order = np.argsort(key, kind="stable")
            self._keys, self._nodes = key[order], node[order]

    def find(self, process: Int32Array, correlation: Int64Array) -> Int32Array:
        """The node of the launching call of each operation, −1 if that call was not recorded."""
        result = np.full(len(process), -1, dtype=np.int32)
        if self._tables is None:
            at = np.minimum(np.searchsorted(self._ids, correlation), len(self._ids) - 1)
            key = process.astype(np.int64) * len(self._ids) + at
            place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
            found = (self._keys[place] == key) & (self._ids[at] == correlation)
            result[found] = self._nodes[place[found]]
            return result
        for number, (low, table) in self._tables.items():
            mine = process == number
            wanted = correlation.astype(np.int64) - low  # which may have 32 bits, and low more
            mine &= (wanted >= 0) & (wanted < len(table))
            if mine.all():
                return table[wanted]
            result[mine] = table[wanted[mine]]
        return result


def _tables(process: Int32Array, correlation: Int64Array, node: Int32Array) -> dict[int, tuple[int, Int32Array]] | None:
    """By process the lowest correlation id and the nodes of all from it on; None if the ids are too far apart for that."""
    tables: dict[int, tuple[int, Int32Array]] = {}
    if not len(process):
        return tables
    low, high = int(process.min()), int(process.max())
    numbers = [low] if low == high else np.unique(process).tolist()
    if len(numbers) > FEW_PROCESSES:
        return None
    for number in numbers:
        ids, nodes = correlation, node
        if len(numbers) > 1:
            mine = process == number
            ids, nodes = correlation[mine], node[mine]
        low, high = int(ids.min()), int(ids.max())
        if high - low >= max(SPARSE * len(ids), 1 << 16):
            return None
        table = np.full(high - low + 1, -1, dtype=np.int32)
        table[ids - low] = nodes
        tables[number] = low, table
    return tables
