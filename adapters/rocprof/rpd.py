"""rpd databases (`runTracer.sh`): tables rocpd_api, rocpd_op and what joins them."""

from __future__ import annotations

from pathlib import Path

from chathpc.adapters.rocprof.intake import Intake, integer
from chathpc.adapters.rocprof.outcome import profile_of
from chathpc.adapters.sqlite import Database, open_database
from chathpc.adapters.traced.recording import Facts
from chathpc.profile.profile import Profile

#: What rpd calls a range of the program's own; its arguments are the name.
_MARKER = "UserMarker"
#: Calls that are given the grid in work items (HIP's manual: hipExtModuleLaunchKernel).
_IN_ITEMS = ("hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel")
_NO_WORK = ("barrier", "marker")


def read(path: Path) -> Profile:
    """Read the database at `path`."""
    intake = Intake(path)
    with open_database(path) as database:
        version = _version(database)
        strings = {
            number: text
            for key, text in database.each("SELECT id, string FROM rocpd_string")
            if (number := integer(key)) is not None and isinstance(text, str)
        } if database.has("rocpd_string", "id", "string") else {}  # fmt: skip
        _calls(database, intake, strings)
        _operations(database, intake, strings)
    return profile_of(path, intake, format="rpd", tool="rpd", version=version)


def _version(database: Database) -> str:
    if not database.has("rocpd_metadata", "tag", "value"):
        return ""
    rows = database.rows("SELECT value FROM rocpd_metadata WHERE tag = 'schema_version' LIMIT 1")
    return f"schema {integer(rows[0][0])}" if rows and integer(rows[0][0]) is not None else ""


def _calls(database: Database, intake: Intake, strings: dict[int, str]) -> None:
    if not database.has("rocpd_api", "id", "pid", "tid", "start", "end", "apiName_id", "args_id"):
        return
    for row in database.each("SELECT id, pid, tid, start, end, apiName_id, args_id FROM rocpd_api"):
        number, pid, tid, start, end, name, arguments = (integer(value) for value in row)
        if number is None or start is None or end is None:
            intake.dropped += 1
            continue
        called = strings.get(name or 0, "[unnamed]")
        marker = called == _MARKER
        text = strings.get(arguments or 0, called) if marker else called
        intake.call(pid or 0, tid or 0, text, start, end, number, "MARKER" if marker else "API")


def _operations(database: Database, intake: Intake, strings: dict[int, str]) -> None:
    if not database.has("rocpd_op", "id", "gpuId", "queueId", "start", "end", "description_id", "opType_id"):
        return
    call_of: dict[int, int] = {}
    if database.has("rocpd_api_ops", "api_id", "op_id"):
        for api, op in database.each("SELECT api_id, op_id FROM rocpd_api_ops"):
            one, other = integer(api), integer(op)
            if one is not None and other is not None:
                call_of[other] = one
    process_of: dict[int, int] = {}
    in_items: set[int] = set()
    if database.has("rocpd_api", "id", "pid", "apiName_id"):
        for api, pid, named in database.each("SELECT id, pid, apiName_id FROM rocpd_api"):
            one, other = integer(api), integer(pid)
            if one is not None and other is not None:
                process_of[one] = other
                if strings.get(integer(named) or 0, "") in _IN_ITEMS:
                    in_items.add(one)
    sizes = _column(database, "rocpd_copyapi", ("size",))
    shapes = _column(
        database,
        "rocpd_kernelapi",
        ("gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ", "groupSegmentSize"),
    )
    for row in database.each("SELECT id, gpuId, queueId, start, end, description_id, opType_id FROM rocpd_op"):
        number, gpu, queue, start, end, description, kind = (integer(value) for value in row)
        if number is None or start is None or end is None:
            intake.dropped += 1
            continue
        what, name = strings.get(kind or 0, ""), strings.get(description or 0, "")
        call = call_of.get(number)
        process = process_of.get(call or 0, 0)
        lane = -1 if queue is None else queue
        if what.lower().startswith(_NO_WORK):
            continue
        if what.startswith(("Copy", "Fill")):
            size = (sizes.get(call or 0) or [None])[0]
            intake.copy(process, gpu or 0, lane, what, start, end, correlation=call, size=-1 if size is None else size)
        else:
            facts = _facts(shapes.get(call or 0), in_items=call in in_items)
            intake.kernel(process, gpu or 0, lane, name or what, start, end, correlation=call, facts=facts)


def _column(database: Database, table: str, columns: tuple[str, ...]) -> dict[int, list[int | None]]:
    """Numbers of a table by the call that they belong to."""
    if not database.has(table, "api_ptr_id", *columns):
        return {}
    return {
        number: [integer(value) for value in row[1:]]
        for row in database.each(f"SELECT api_ptr_id, {', '.join(columns)} FROM {table}")  # noqa: S608  our own names
        if (number := integer(row[0])) is not None
    }


def _facts(shape: list[int | None] | None, *, in_items: bool) -> Facts | None:
    """Launch facts: the grid is in blocks, for some calls in work items."""
    if shape is None or any(part is None or not 0 < part < 1 << 32 for part in shape[:6]):
        return None
    blocks = threads = 1.0
    for grid, group in zip(shape[:3], shape[3:6], strict=True):
        blocks *= -(-(grid or 1) // (group or 1)) if in_items else grid or 1
        threads *= group or 1
    shared = shape[6]
    return Facts(blocks, threads, -1.0, -1.0 if shared is None or shared < 0 else float(shared))
