"""The program that opens a log with Darshan's library: a process of its own, because native code may crash on damaged files.

Run as a script, it reads one request (JSON) from standard input and writes one JSON value a line: the job first, then one for
each record of a file, `{"end": n}` last; `{"error": "…"}` if the library raises something, `{"missing": true}` without it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from types import ModuleType
from typing import Any

_BACKEND = "darshan.backend.cffi_backend"
#: Lustre stripes a file over no more targets (LOV_MAX_STRIPE_COUNT); a record that tells of millions is damaged.
_MOST_TARGETS = 2000


def main() -> None:
    """Answer one request."""
    request = json.loads(sys.stdin.buffer.read())
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what native code prints is no answer
    sys.path[:] = request["import_path"]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        backend = import_backend()
    except (ImportError, OSError, RuntimeError):
        out.write('{"missing": true}\n')
        out.flush()
        return
    try:
        answer(backend, request, out)
    except Exception as error:  # noqa: BLE001  whatever the library raises is the answer
        out.write(json.dumps({"error": f"{type(error).__name__}: {error}"[:300]}) + "\n")
    out.flush()
    os._exit(0)  # the library's own way out has been seen to crash


def import_backend() -> Any:
    """The module darshan.backend.cffi_backend, imported without pandas, which takes longer than reading most logs.

    It only names the types of pandas; a version of it that does more with them gets pandas after all.
    """
    stand_in = ModuleType("pandas")
    stand_in.__getattr__ = lambda name: object  # type: ignore[method-assign]
    sys.modules["pandas"] = stand_in
    try:
        return importlib.import_module(_BACKEND)
    except (AttributeError, TypeError):
        for name in [name for name in sys.modules if name.split(".")[0] in ("pandas", "darshan")]:
            del sys.modules[name]
        return importlib.import_module(_BACKEND)


def answer(backend: Any, request: dict[str, Any], out: Any) -> None:
    """The job and the records of the wanted modules, with the wanted counters that the log's version has."""
    log = backend.log_open(request["path"])
    if not log.get("handle"):
        raise ValueError("cannot be opened")
    job = backend.log_get_job(log)
    modules = backend.log_get_modules(log)
    names = backend.log_get_name_records(log)
    ids = {name: number for number, name in names.items()}
    wanted = {
        "job": {key: float(job[key]) for key in ("nprocs", "run_time") if key in job},
        "version": str(job.get("log_ver", "")),
        "modules": [[name, bool(facts.get("partial_flag"))] for name, facts in modules.items()],
    }
    out.write(json.dumps(wanted) + "\n")
    count = 0
    for module in request["modules"]:
        if module not in modules:
            continue
        lustre = module == "LUSTRE"
        counters = list(backend.counter_names("LUSTRE_COMP" if lustre else module))
        times = [] if lustre else list(backend.fcounter_names(module))
        number = {name: counters.index(name) for name in request["counters"] if name in counters}
        time = {name: times.index(name) for name in request["counters"] if name in times}
        before = count
        while count < request["records"]:
            record = backend.log_get_record(log, module)
            if record is None:
                break
            name = str(names.get(record["id"], ""))
            row = {"module": module, "rank": int(record["rank"]), "id": int(record["id"]), "file": name}
            if "file_rec_id" in record:  # a data set of a file, which logs before 3.41 only tell by its name
                row["file"] = str(names.get(record["file_rec_id"], "")) or name.rpartition(":")[0]
                row["id"] = int(ids.get(row["file"], record["file_rec_id"]))
                row["part"] = name.removeprefix(row["file"] + ":")
            if lustre:
                row["components"] = [
                    {"osts": [int(one) for one in part["ost_ids"][:_MOST_TARGETS]]}
                    | {name: float(part["counters"][index]) for name, index in number.items()}
                    for part in record["components"]
                ]
            else:
                row["values"] = {name: float(record["counters"][index]) for name, index in number.items()}
                row["values"] |= {name: float(record["fcounters"][index]) for name, index in time.items()}
            out.write(json.dumps(row) + "\n")
            count += 1
        if count == before < request["records"]:  # a log lists modules with records alone
            raise ValueError(f"no record of its module {module} can be read: it was cut off")
    out.write(json.dumps({"end": count}) + "\n")


if __name__ == "__main__":
    main()
