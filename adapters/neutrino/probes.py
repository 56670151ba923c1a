"""probe.toml: what each probe recorded, field by field."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from chathpc.adapters.content import read_text
from chathpc.errors import AdapterError
from chathpc.profile.text import clean

#: Type of a register → numpy's.
_TYPES = {
    "u64": "<u8",
    "b64": "<u8",
    "s64": "<i8",
    "u32": "<u4",
    "b32": "<u4",
    "s32": "<i4",
    "f32": "<f4",
    "f64": "<f8",
}
#: The older form of a probe: `datamodel = "warp:16"`, and `SAVE.u64 {%start, %end}` in its assembly.
_DATAMODEL = re.compile(r"(thread|warp):(\d+)(?::(\d+))?")
_SAVE = re.compile(r"SAVE\.([usbf]\d+)\s*\{([^}]*)\}")
#: Probes, and fields of one, beyond any that a person writes.
MOST_PROBES, MOST_FIELDS = 64, 64
LARGEST = 1 << 20

refused = partial(AdapterError, hint="Record it again: neutrino -t TOOL PROGRAM")


@dataclass(frozen=True, slots=True)
class Probe:
    """The records of one probe: one row of fields, or several, for each thread or warp."""

    name: str
    by_warp: bool
    record: np.dtype[Any]


def read_probes(path: Path) -> tuple[Probe, ...]:
    """The probes that save records, in the order of the sections of a result file; AdapterError for damage.

    Newer files describe maps (`[map.NAME]` with level and registers), older ones probes with a data model.
    """
    try:
        document = tomllib.loads(read_text(path, largest=LARGEST))
    except tomllib.TOMLDecodeError as error:
        raise refused(f"damaged TOML: {clean(str(error))}", path=path) from None
    except ValueError as error:  # a number with thousands of digits
        raise refused(f"damaged TOML: {clean(str(error))[:100]}", path=path) from None
    except RecursionError:
        raise refused("the TOML is nested too deeply", path=path) from None
    maps = document.get("map")
    found = []
    if isinstance(maps, Mapping):
        found = [_map(str(name), entry, path) for name, entry in maps.items() if isinstance(entry, Mapping)]
    else:
        tables = document.get("probe") if isinstance(document.get("probe"), Mapping) else document
        for name, entry in tables.items() if isinstance(tables, Mapping) else ():
            if isinstance(entry, Mapping) and isinstance(entry.get("datamodel"), str):
                found.append(_older(str(name), entry, path))
    if not found or len(found) > MOST_PROBES:
        what = "describes no probe that saves records" if not found else f"describes {len(found)} probes"
        raise refused(what, path=path)
    return tuple(found)


def _map(name: str, entry: Mapping[str, Any], path: Path) -> Probe:
    """One `[map.NAME]`: registers as a table or list of names and types."""
    registers = next((entry[key] for key in ("regs", "registers", "contents", "fields") if key in entry), None)
    pairs: list[tuple[str, Any]] = []
    if isinstance(registers, Mapping):
        pairs = [(str(key), value) for key, value in registers.items()]
    elif isinstance(registers, list):
        for one in registers:
            if isinstance(one, list) and len(one) >= 2:
                pairs.append((str(one[0]), one[1]))
            elif isinstance(one, Mapping) and "name" in one:
                pairs.append((str(one["name"]), one.get("dtype", one.get("type"))))
    level = entry.get("level")
    if level not in ("thread", "warp"):
        raise refused(f"map '{clean(name)}' has no level (thread or warp)", path=path)
    return Probe(name, level == "warp", _record(name, pairs, path))


def _older(name: str, entry: Mapping[str, Any], path: Path) -> Probe:
    """A probe with a data model: fields are what its assembly saves."""
    model = _DATAMODEL.fullmatch(entry["datamodel"].strip())
    if model is None:
        raise refused(f"probe '{clean(name)}' has an unknown data model", path=path)
    pairs = []
    for text in (entry.get("before"), entry.get("after")):
        for kind, names in _SAVE.findall(text) if isinstance(text, str) else ():
            pairs += [(field.strip().lstrip("%"), kind) for field in names.split(",") if field.strip()]
    return Probe(name, model[1] == "warp", _record(name, pairs, path))


def _record(name: str, pairs: list[tuple[str, Any]], path: Path) -> np.dtype[Any]:
    fields = []
    for field, kind in pairs:
        word = kind[0] if isinstance(kind, list) and kind else kind
        if word not in _TYPES:
            raise refused(f"field '{clean(field)}' of '{clean(name)}' has an unknown type", path=path)
        fields.append((field, _TYPES[word]))
    if not fields or len(fields) > MOST_FIELDS or len({field for field, _ in fields}) < len(fields):
        raise refused(f"the fields of '{clean(name)}' are none, too many, or not distinct", path=path)
    return np.dtype(fields)
