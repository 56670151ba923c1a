"""The structures of HPCToolkit database files as tables: field, offset, type.

They read like FORMATS.md (HPCToolkit, database format 4.0), which names each structure, its fields and their minor
version. All integers are little-endian. "Expandable" structures may be longer in a file of a newer minor version, so
arrays are always read with the stride that the file states, which must be at least the size below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MAJOR = 4
#: The minor version of every file that this reader was written for.
MINOR = 0

MAGIC = b"HPCTOOLKIT"
#: file name → (format identifier, footer, number of sections in the header)
FILES = {
    "meta.db": (b"meta", b"_meta.db", 8),
    "profile.db": (b"prof", b"_prof.db", 2),
    "cct.db": (b"ctxt", b"__ctx.db", 1),
    "trace.db": (b"trce", b"trace.db", 1),
}


def structure(size: int, *fields: tuple[str, int, str]) -> np.dtype[Any]:
    """A structure of `size` bytes with `fields` (name, offset, little-endian type)."""
    names, offsets, types = zip(*fields, strict=True)
    return np.dtype({"names": names, "formats": types, "offsets": offsets, "itemsize": size})


# -- meta.db -------------------------------------------------------------------------------------------------

GENERAL = structure(0x10, ("pTitle", 0x00, "<u8"), ("pDescription", 0x08, "<u8"))
ID_NAMES = structure(0x10, ("ppNames", 0x00, "<u8"), ("nKinds", 0x08, "u1"))
METRICS = structure(
    0x20,
    ("pMetrics", 0x00, "<u8"),
    ("nMetrics", 0x08, "<u4"),
    ("szMetric", 0x0C, "u1"),
    ("szScopeInst", 0x0D, "u1"),
    ("szSummary", 0x0E, "u1"),
    ("pScopes", 0x10, "<u8"),
    ("nScopes", 0x18, "<u2"),
    ("szScope", 0x1A, "u1"),
)
METRIC = structure(
    0x20,
    ("pName", 0x00, "<u8"),
    ("pScopeInsts", 0x08, "<u8"),
    ("pSummaries", 0x10, "<u8"),
    ("nScopeInsts", 0x18, "<u2"),
    ("nSummaries", 0x1A, "<u2"),
)
SCOPE_INSTANCE = structure(0x10, ("pScope", 0x00, "<u8"), ("propMetricId", 0x08, "<u2"))
SUMMARY = structure(
    0x18, ("pScope", 0x00, "<u8"), ("pFormula", 0x08, "<u8"), ("combine", 0x10, "u1"), ("statMetricId", 0x12, "<u2")
)
SCOPE = structure(0x10, ("pScopeName", 0x00, "<u8"), ("type", 0x08, "u1"), ("propagationIndex", 0x09, "u1"))
MODULES = structure(0x10, ("pModules", 0x00, "<u8"), ("nModules", 0x08, "<u4"), ("szModule", 0x0C, "<u2"))
MODULE = structure(0x10, ("flags", 0x00, "<u4"), ("pPath", 0x08, "<u8"))
SOURCE_FILES = structure(0x10, ("pFiles", 0x00, "<u8"), ("nFiles", 0x08, "<u4"), ("szFile", 0x0C, "<u2"))
SOURCE_FILE = structure(0x10, ("flags", 0x00, "<u4"), ("pPath", 0x08, "<u8"))
FUNCTIONS = structure(0x10, ("pFunctions", 0x00, "<u8"), ("nFunctions", 0x08, "<u4"), ("szFunction", 0x0C, "<u2"))
FUNCTION = structure(
    0x28,
    ("pName", 0x00, "<u8"),
    ("pModule", 0x08, "<u8"),
    ("offset", 0x10, "<u8"),
    ("pFile", 0x18, "<u8"),
    ("line", 0x20, "<u4"),
    ("flags", 0x24, "<u4"),
)
CONTEXT_TREE = structure(
    0x10, ("pEntryPoints", 0x00, "<u8"), ("nEntryPoints", 0x08, "<u2"), ("szEntryPoint", 0x0A, "u1")
)
ENTRY_POINT = structure(
    0x20,
    ("szChildren", 0x00, "<u8"),
    ("pChildren", 0x08, "<u8"),
    ("ctxId", 0x10, "<u4"),
    ("entryPoint", 0x14, "<u2"),
    ("pPrettyName", 0x18, "<u8"),
)
#: {Ctx} is read word by word (see contexts.py): the number of 8-byte words before `flex`, and what each of them holds.
CONTEXT_WORDS = 4
CONTEXT_SIZE_WORD, CONTEXT_CHILDREN_WORD, CONTEXT_ID_WORD, CONTEXT_PROPAGATION_WORD = range(4)
HAS_FUNCTION, HAS_SRCLOC, HAS_POINT = 1, 2, 4
LEXICAL_FUNCTION, LEXICAL_LOOP, LEXICAL_LINE, LEXICAL_INSTRUCTION = range(4)

#: Propagation scope types.
SCOPE_EXECUTION, SCOPE_TRANSITIVE = 2, 3
COMBINE_SUM = 0

# -- profile.db ----------------------------------------------------------------------------------------------

PROFILES = structure(0x10, ("pProfiles", 0x00, "<u8"), ("nProfiles", 0x08, "<u4"), ("szProfile", 0x0C, "u1"))
PROFILE = structure(
    0x30,
    ("nValues", 0x00, "<u8"),
    ("pValues", 0x08, "<u8"),
    ("nCtxs", 0x10, "<u4"),
    ("pCtxIndices", 0x18, "<u8"),
    ("pIdTuple", 0x20, "<u8"),
    ("flags", 0x28, "<u4"),
)
IS_SUMMARY = 1
METRIC_VALUE = structure(0x0A, ("metricId", 0x00, "<u2"), ("value", 0x02, "<f8"))
CONTEXT_INDEX = structure(0x0C, ("ctxId", 0x00, "<u4"), ("startIndex", 0x04, "<u8"))
ID_TUPLE = structure(0x08, ("nIds", 0x00, "<u2"))
IDENTIFIER = structure(
    0x10, ("kind", 0x00, "u1"), ("flags", 0x02, "<u2"), ("logicalId", 0x04, "<u4"), ("physicalId", 0x08, "<u8")
)
IS_PHYSICAL = 1

# -- cct.db --------------------------------------------------------------------------------------------------

CONTEXTS = structure(0x10, ("pCtxs", 0x00, "<u8"), ("nCtxs", 0x08, "<u4"), ("szCtx", 0x0C, "u1"))
CONTEXT = structure(
    0x20, ("nValues", 0x00, "<u8"), ("pValues", 0x08, "<u8"), ("nMetrics", 0x10, "<u2"), ("pMetricIndices", 0x18, "<u8")
)
PROFILE_VALUE = structure(0x0C, ("profIndex", 0x00, "<u4"), ("value", 0x04, "<f8"))
METRIC_INDEX = structure(0x0A, ("metricId", 0x00, "<u2"), ("startIndex", 0x02, "<u8"))

# -- trace.db ------------------------------------------------------------------------------------------------

TRACES = structure(
    0x20,
    ("pTraces", 0x00, "<u8"),
    ("nTraces", 0x08, "<u4"),
    ("szTrace", 0x0C, "u1"),
    ("minTimestamp", 0x10, "<u8"),
    ("maxTimestamp", 0x18, "<u8"),
)
TRACE = structure(0x18, ("profIndex", 0x00, "<u4"), ("pStart", 0x08, "<u8"), ("pEnd", 0x10, "<u8"))
TRACE_ELEMENT = structure(0x0C, ("timestamp", 0x00, "<u8"), ("ctxId", 0x08, "<u4"))
