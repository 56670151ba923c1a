"""Nsight Systems: SQLite exports of 2021 and later, reports (through `nsys export`), folders with those of several ranks."""

from __future__ import annotations

from pathlib import Path

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance

#: How a report (.nsys-rep, .qdrep) begins.
REPORT = b"NVIDIA Tegra Profiler Report"
#: Tables of which an export has one at least; each alone is specific.
_TABLES = (
    "NVTX_EVENTS",
    "OSRT_API",
    "COMPOSITE_EVENTS",
    "TARGET_INFO_SESSION_START_TIME",
    "TARGET_INFO_SYSTEM_ENV",
    "META_DATA_CAPTURE",
    "EXPORT_META_DATA",
    "META_DATA_EXPORT",
)
#: Files of a folder that are looked at.
MOST_FILES = 1_000


def is_export(glance: Glance) -> bool:
    """True for an SQLite export: events of CUPTI or at least two tables of facts, beside the table of texts."""
    tables = glance.tables
    if not tables:
        return False
    own = sum(table in tables for table in _TABLES)
    cupti = any(table.startswith("CUPTI_ACTIVITY_KIND_") for table in tables)
    if cupti:
        return "StringIds" in tables or own > 0
    return own > 1 or ("StringIds" in tables and own > 0)


def is_report(glance: Glance) -> bool:
    """True for a report in Nsight Systems' own format."""
    return glance.head.startswith(REPORT)


def inputs(glance: Glance) -> list[Path]:
    """The exports and reports in a folder, sorted by name."""
    found = []
    for name in glance.names[:MOST_FILES]:
        if name.startswith(".") or not name.lower().endswith((".sqlite", ".sqlite3", ".db", ".nsys-rep", ".qdrep")):
            continue
        inside = glance.inside(name)
        if is_export(inside) or is_report(inside):
            found.append(glance.path / name)
    return found


def recognises(glance: Glance) -> bool:
    """True for an export, a report, and a folder that holds any and is no database of HPCToolkit."""
    if glance.is_folder:
        hpctoolkit = {"experiment.xml", "meta.db", "profile.db", "cct.db"} & set(glance.names)
        return not hpctoolkit and bool(inputs(glance))
    return is_export(glance) or is_report(glance)


def _needs() -> str:
    """What is missing to read all of the format."""
    from shutil import which

    if which("nsys") is not None:
        return ""
    return "reports (.nsys-rep, .qdrep) need 'nsys' of Nsight Systems on the PATH; SQLite exports need nothing"


ADAPTER = Adapter(
    name="nsight-systems",
    reads="Nsight Systems: SQLite exports of 2021 and later, .nsys-rep and .qdrep (through nsys), folders of several ranks",
    recognises=recognises,
    read=reader("chathpc.adapters.nsight_systems.report"),
    order=30,
    needs=_needs,
)
