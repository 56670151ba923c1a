"""A package `darshan` with the parts of its backend that our reader calls, fed from a file of our own: logs without the library.

A log of ours begins as a real one (version, magic number), so that it is recognised; a JSON document follows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BACKEND = """
import json, os, signal

NAMES = {names}


def log_open(path):
    text = open(path, "rb").read()[16:]
    if text.startswith(b"crash"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if text.startswith(b"exit"):
        os._exit(3)
    if text.startswith(b"closed"):
        return {{"handle": None}}
    log = json.loads(text)
    log["handle"] = 1
    log["next"] = {{name: 0 for name in log["records"]}}
    return log


def log_get_job(log):
    return log["job"]


def log_get_modules(log):
    return {{name: {{"partial_flag": name in log["partial"]}} for name in log["records"]}}


def log_get_name_records(log):
    return {{int(key): value for key, value in log["names"].items()}}


def counter_names(module):
    return [name for name in NAMES[module] if "_F_" not in name]


def fcounter_names(module):
    return [name for name in NAMES[module] if "_F_" in name]


def log_get_record(log, module):
    records = log["records"][module]
    at = log["next"][module]
    if at >= len(records):
        return None
    log["next"][module] = at + 1
    one = records[at]
    if module == "LUSTRE":
        parts = [{{"counters": part["counters"], "ost_ids": part["osts"]}} for part in one["components"]]
        return {{"id": one["id"], "rank": one["rank"], "components": parts}}
    of = {{"file_rec_id": one["of"]}} if "of" in one else {{}}
    return of | {{
        "id": one["id"],
        "rank": one["rank"],
        "counters": [one.get(name, 0) for name in counter_names(module)],
        "fcounters": [one.get(name, 0.0) for name in fcounter_names(module)],
    }}
"""


def install(folder: Path) -> Path:
    """Write the package into `folder`, which is then to be put on the path."""
    from chathpc.adapters.darshan.profile import _COUNTERS, _PREFIX, _STRIPES

    summed = ("MPI-IO", "H5D", "PNETCDF_VAR")  # whose sizes are those of whole accesses, as their names say
    names = {
        module: [
            f"{prefix}_{name}"
            for name in _COUNTERS
            if not name.startswith("SIZE") or ("AGG" in name) == (module in summed)
        ]
        for module, prefix in _PREFIX.items()
    }
    names["LUSTRE_COMP"] = [f"LUSTRE_COMP_{name}" for name in _STRIPES]
    backend = folder / "darshan" / "backend"
    backend.mkdir(parents=True)
    (folder / "darshan" / "__init__.py").touch()
    (backend / "__init__.py").touch()
    (backend / "cffi_backend.py").write_text(BACKEND.format(names=repr(names)))
    return folder


def write_log(
    path: Path,
    *,
    processes: int = 4,
    seconds: float = 100.0,
    partial: tuple[str, ...] = (),
    **modules: list[dict[str, Any]],
) -> Path:
    """A log; each record is `{"file": …, "rank": …, counters without the module's prefix …}`, of a data set with its name as `part`, of
    Lustre with `components` of the counters size, begin and end, and `osts`.
    """
    files: dict[str, int] = {}
    records: dict[str, list[dict[str, Any]]] = {}
    for name, rows in modules.items():
        module = {"MPIIO": "MPI-IO"}.get(name, name)
        records[module] = [
            {
                "id": files.setdefault(":".join(filter(None, (row["file"], row.get("part")))), len(files) + 1),
                "rank": row.get("rank", -1),
                **({"of": files.setdefault(row["file"], len(files) + 1)} if "part" in row else {}),
                **({"components": row["components"]} if "components" in row else {}),
                **{
                    f"{name}_{key}": value
                    for key, value in row.items()
                    if key not in ("file", "rank", "part", "components")
                },
            }
            for row in rows
        ]
    document = {
        "job": {
            "nprocs": processes,
            "run_time": seconds,
            "log_ver": "3.41",
            "uid": 1000,
            "metadata": {"exe": "/home/SECRET/a"},
        },
        "partial": list(partial),
        "names": {str(number): file for file, number in files.items()},
        "records": records,
    }
    path.write_bytes(b"3.41\0\0\0\0" + (6567223).to_bytes(8, "little") + json.dumps(document).encode())
    return path
