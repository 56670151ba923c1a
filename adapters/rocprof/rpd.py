"""rpd databases (`runTracer.sh`): tables rocpd_api, rocpd_op and what joins them."""

from __future__ import annotations

from pathlib import Path

from chathpc.adapters.rocprof.intake import Intake
from chathpc.adapters.sqlite import Database, open_database
from chathpc.adapters.traced.recording import Facts, integer
from chathpc.profile.profile import Profile

#: What rpd calls a range of the program's own; its arguments are the name.
_MARKER = "UserMarker"
#: Calls that are given the grid in work items (HIP's manual: hipExtModuleLaunchKernel).
_IN_ITEMS = ("hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel")
_NO_WORK = ("barrier", "marker")
_SHAPE = ("gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ", "groupSegmentSize")


def read(path: Path) -> Profile:
    """Read the database at `path`."""
    intake = Intake(path)
    with open_database(path) as database:
        tags = database.select("rocpd_metadata", ("tag", "value"))
        schema = integer(next((value for tag, value in tags if tag == "schema_version"), None))
        strings = {
            number: text
            for key, text in database.select("rocpd_string", ("id", "string"))
            if (number := integer(key)) is not None and isinstance(text, str)
        }
        process_of, in_items = _calls(database, intake, strings)
        _operations(database, intake, strings, process_of, in_items)
    return intake.profile(format="rpd", tool="rpd", version="" if schema is None else f"schema {schema}")


def _calls(database: Database, intake: Intake, strings: dict[int, str]) -> tuple[dict[int, int], set[int]]:
    """Take the calls in; the process of each, and those that are given the grid in work items."""
    process_of: dict[int, int] = {}
    in_items: set[int] = set()
    columns = ("id", "pid", "tid", "start", "end", "apiName_id", "args_id")
    for row in database.select("rocpd_api", columns):
        number, pid, tid, start, end, name, arguments = map(integer, row)
        if number is None:
            intake.dropped += 1
            continue
        called = strings.get(name or 0, "[unnamed]")
        marker = called == _MARKER
        text = strings.get(arguments or 0, called) if marker else called
        intake.call(pid or 0, tid or 0, text, start, end, number, "MARKER" if marker else "API")
        if pid is not None:
            process_of[number] = pid
        if called in _IN_ITEMS:
            in_items.add(number)
    return process_of, in_items


def _operations(
    database: Database, intake: Intake, strings: dict[int, str], process_of: dict[int, int], in_items: set[int]
) -> None:
    call_of = {op: api for op, (api,) in _numbers(database, "rocpd_api_ops", "op_id", ("api_id",)).items()}
    sizes = _numbers(database, "rocpd_copyapi", "api_ptr_id", ("size",))
    shapes = _numbers(database, "rocpd_kernelapi", "api_ptr_id", _SHAPE)
    columns = ("id", "gpuId", "queueId", "start", "end", "description_id", "opType_id")
    for row in database.select("rocpd_op", columns):
        number, gpu, queue, start, end, description, kind = map(integer, row)
        what, name = strings.get(kind or 0, ""), strings.get(description or 0, "")
        if number is None:
            intake.dropped += 1
        elif not what.lower().startswith(_NO_WORK):
            call = call_of.get(number)
            process = process_of.get(call or 0, 0)
            if what.startswith(("Copy", "Fill")):
                (size,) = sizes.get(call or 0, (None,))
                intake.copy(process, gpu, queue, what, start, end, correlation=call, size=size)
            else:
                facts = _facts(shapes.get(call or 0), in_items=call in in_items)
                intake.kernel(process, gpu, queue, name or what, start, end, correlation=call, facts=facts)


def _numbers(database: Database, table: str, key: str, columns: tuple[str, ...]) -> dict[int, tuple[int | None, ...]]:
    """Numbers of a table by one of its columns."""
    return {
        number: tuple(map(integer, values))
        for of, *values in database.select(table, (key, *columns))
        if (number := integer(of)) is not None
    }


def _facts(shape: tuple[int | None, ...] | None, *, in_items: bool) -> Facts | None:
    """Launch facts: the grid is in blocks, for some calls in work items."""
    if shape is None or any(part is None or not 0 < part < 1 << 32 for part in shape[:6]):
        return None
    blocks = threads = 1.0
    for grid, group in zip(shape[:3], shape[3:6], strict=True):
        blocks *= -(-(grid or 1) // (group or 1)) if in_items else grid or 1
        threads *= group or 1
    shared = shape[6]
    return Facts(blocks, threads, -1.0, -1.0 if shared is None or shared < 0 else float(shared))
