"""Texts of an export: only those that are used are read, as the table also holds environments and captured output."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from chathpc.adapters.nsight_systems.columns import Int32Array, Int64Array, encode
from chathpc.adapters.nsight_systems.paths import LONGEST_NAME, Names
from chathpc.adapters.sqlite import Database

#: Texts asked for in one query.
AT_ONCE = 500
#: What CUPTI appends to the name of a call: the version of the interface, the kind of default stream.
_VERSION = re.compile(r"(_ptsz|_ptds)?_v\d+(_ptsz|_ptds)?$|_ptsz$|_ptds$")
#: What PyTorch's emit_nvtx appends to the name of an operator: sequence number, operator's number, shapes.
_OPERATOR = re.compile(r",\s*(op_id|seq|sizes|input_op_ids)\s*=.*$", re.DOTALL)


def texts(database: Database, ids: Int64Array) -> dict[int, str]:
    """The texts with the given ids; those that are missing are not in it."""
    if not database.has("StringIds", "id", "value"):
        return {}
    wanted = np.unique(ids[ids >= 0]).tolist()
    found: dict[int, str] = {}
    for at in range(0, len(wanted), AT_ONCE):
        piece = wanted[at : at + AT_ONCE]
        marks = ",".join("?" * len(piece))
        statement = f"SELECT id, substr(value, 1, {LONGEST_NAME}) FROM StringIds WHERE id IN ({marks})"  # noqa: S608
        for key, value in database.rows(statement, piece):
            if isinstance(key, int) and isinstance(value, str):
                found.setdefault(key, value)
    return found


def numbered(
    database: Database, ids: Int64Array, names: Names, *, missing: str, short: Callable[[str], str] = str
) -> Int32Array:
    """For each id the number of its text in `names`, the text passed through `short`."""
    if not len(ids):
        return np.zeros(0, dtype=np.int32)
    known, index = encode(ids)
    found = texts(database, known)
    table = [names.number(short(found[key]) or missing if key in found else missing) for key in known.tolist()]
    return np.array(table, dtype=np.int32)[index]


def call_name(text: str) -> str:
    """`cudaLaunchKernel_v7000` → `cudaLaunchKernel`."""
    return _VERSION.sub("", text)


def range_name(text: str) -> str:
    """`aten::copy_, op_id = 990350` → `aten::copy_`."""
    return _OPERATOR.sub("", text).strip() if "," in text else text.strip()
