"""What the interpreter wrote of a launch → its Counts: what was followed, and what that says of the rest."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from chathpc.diagnosis.sass.opcodes import MATRIX_COLUMNS, matrix_shape
from chathpc.diagnosis.sass.text import written
from chathpc.errors import AdapterError
from chathpc.predict.counts import Counts, Launch, Range
from chathpc.predict.kernel_time import KEPT
from chathpc.predict.lowering import Lowered
from chathpc.profile import numbers

SECTOR = 32
#: By opcode: class of an operation, how many operations an instruction of a thread is, and the pipe that takes it. Classes and numbers are what the
#: counters smsp__sass_thread_inst_executed_op_{fadd,fmul,ffma,dadd,…,integer}_pred_on count (Nsight Compute's metrics reference), pipes those
#: of the CUDA C++ Programming Guide, arithmetic throughput.
_OPCODES: Mapping[str, tuple[str, int, str]] = {
    name: (kind, operations, pipe)
    for names, kind, operations, pipe in (
        ("FADD FMUL", "fp32", 1, "fp32"), ("FFMA", "fp32", 2, "fp32"), ("FADD32I FMUL32I", "fp32", 1, "integer"),
        ("FSETP FSEL FMNMX FSET FCHK", "other", 1, "fp32"),
        ("DADD DMUL", "fp64", 1, "fp64"), ("DFMA", "fp64", 2, "fp64"), ("DSETP", "other", 1, "fp64"),
        ("HADD2 HMUL2", "fp16", 2, "fp16"), ("HFMA2", "fp16", 4, "fp16"), ("HSETP2 HSET2 HMNMX2", "other", 1, "fp16"),
        ("IADD3 IMAD ISETP LEA LOP3 SHF IMNMX IABS IDP VABSDIFF VABSDIFF4 BMSK SGXT VIADD VIMNMX IADD IMUL LOP", "integer", 1, "integer"),
        ("POPC FLO BREV", "integer", 1, "special"), ("MUFU", "special", 1, "special"),
        ("F2F F2I I2F FRND I2I", "conversion", 1, "special"), ("I2FP F2FP", "conversion", 1, "integer"),
        ("BRA EXIT CALL RET BSSY BSYNC BRX BREAK BAR WARPSYNC", "control", 1, "control"), ("NOP YIELD", "other", 1, "control"),
        ("HMMA IMMA DMMA BMMA", "tensor", 1, "tensor"),
    )
    for name in names.split()
}  # fmt: skip
_OTHER = ("other", 1, "other")
#: Compilers load constants by multiplying nothing by nothing on the pipe for halves: no arithmetic of the program.
_CONSTANT = re.compile(r"HFMA2\S* \w+, -?RZ, -?RZ,")
#: Space and way of a request.
_MEMORY = {
    "LDG": "global load", "STG": "global store", "LD": "global load", "ST": "global store", "LDGSTS": "global load",
    "LDS": "shared load", "STS": "shared store", "LDSM": "shared load", "ATOMS": "shared atomic", "LDL": "local load", "STL": "local store",
    "ATOMG": "global atomic", "ATOM": "global atomic", "RED": "global atomic", "LDC": "constant load", "TEX": "texture load",
    "TLD": "texture load", "TLD4": "texture load", "SULD": "texture load", "SUST": "texture store",
}  # fmt: skip
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "F64": 8, "U64": 8, "S64": 8}
#: Rows and depth of a matrix operation whose shape is not known.
_SHAPE = (16, 16)
#: Bytes that a launch reads beside its data: an empty kernel's (arguments, descriptors; median of seven measured), and its instructions.
_LAUNCH_BYTES, _INSTRUCTION_BYTES = 2700, 16
#: A cache writes back early: at most this share of it is dirty at the end, and this share of little data is written all the same
#: (32 development kernels of the labels that write between 60 kB and 130 MB).
_DIRTY, _EARLY = 0.1, 0.08
#: Factors by which counts may be off: nothing left out but another compiler's code; single blocks for all; cut off.
WHOLE, SAMPLED, _CUT = 1.05, 1.25, 4.0
#: The same for bytes that reach device memory: the model of the cache is one.
_WHOLE_BYTES, _SAMPLED_BYTES, _CUT_BYTES = 1.3, 1.6, 4.0


@dataclass(frozen=True, slots=True)
class Followed:
    """A launch that was followed, with the threads and warps that executed each instruction, by its place in the code."""

    launch: Launch
    counts: Counts
    by_instruction: Mapping[int, float]
    warps_by_instruction: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class _Word:
    """Class of an instruction and pipe, operations of a thread, kind of request, bytes of a thread."""

    kind: str
    operations: int
    pipe: str
    request: str
    width: int
    per_warp: bool


def _words(lowered: Lowered) -> list[_Word]:
    known: dict[str, _Word] = {}
    found = []
    for code in lowered.code:
        for line in code.lines:
            text = written(line.text).word
            word = known.get(text)
            if word is None:
                word = known[text] = _word(text)
            found.append(replace(word, kind="other", operations=1) if _CONSTANT.search(line.text) else word)
    return found


def _word(text: str) -> _Word:
    opcode, *modifiers = text.split(".")
    kind, count, pipe = _OPCODES.get(opcode, _OTHER)
    if opcode in _MEMORY:
        pipe = "memory"
    elif opcode[:1] == "U" and _OPCODES.get(opcode[1:], _OTHER)[0] != "other":
        pipe = "integer"  # that of uniform registers
    if kind == "tensor":
        rows, depth = matrix_shape(modifiers) or _SHAPE
        count = 2 * rows * MATRIX_COLUMNS * depth  # of the whole warp; a multiply and an add
    if kind == "conversion" and {"F64", "S64", "U64"} & set(modifiers):
        pipe = "fp64"  # of and to 64 bits: two a cycle on sm_86, a sixteenth of the others (CUDA C++ Programming Guide)
    if opcode == "HADD2" and "F32" in modifiers:
        kind, count, pipe = "conversion", 1, "fp16"
    width = next((_WIDTHS[each] for each in modifiers if each in _WIDTHS), 4)
    return _Word(kind, count, pipe, _MEMORY.get(opcode, ""), width, kind == "tensor")


def read(path: Path, lowered: Lowered, l2_bytes: int) -> tuple[list[Followed], tuple[str, ...]]:
    """The launches that the interpreter followed, and the names of what its stand-in for the runtime lacks.

    AdapterError if there is no such file, or it is damaged.
    """
    words = _words(lowered)
    found, missing = [], []
    try:
        for line in path.read_text().splitlines():
            one = json.loads(line)
            if "missing" in one:
                missing.append(str(one["missing"]))
            else:
                found.append(_followed(one, words, l2_bytes))
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise AdapterError(f"is no list of launches ({error})", path=path, hint="Run the prediction again.") from error
    return found, tuple(missing)


def _followed(one: Mapping[str, Any], words: Sequence[_Word], l2_bytes: int) -> Followed:
    grid, block = ((int(x), int(y), int(z)) for x, y, z in (one["grid"], one["block"]))
    launch = Launch(
        kernel=str(one["kernel"]), grid=grid, block=block, shared=int(one["shared"]) + int(one["dynamic_shared"]), registers=int(one["registers"]),
        local=int(one["local"]), occurrence=int(one["occurrence"]), arguments=tuple(map(str, one["parameters"])),
    )  # fmt: skip
    blocks, begun, sampled = launch.blocks, int(one["begun"]), int(one["sampled"])
    exact, cut = bool(one["complete"]), bool(one["cut"])
    # Cut off, and no counter tells the end of what it does: this and more.
    open_ = cut and not float(one["extrapolated"])
    scale = 1.0 if exact else blocks / (sampled or begun or blocks)
    operations, issued, requests, instructions, requested, sectors_of, passes_of = (
        defaultdict[str, float](float) for _ in range(7)
    )
    by_instruction, warps_by_instruction = {}, {}
    all_warps = 0.0
    for index, *followed in one["counts"]:
        warps, threads, sectors, passes, asked = (scale * value for value in followed)
        word = words[index]
        by_instruction[index], warps_by_instruction[index] = threads, warps
        operations[word.kind] += word.operations * (warps if word.per_warp else threads)
        issued[word.pipe] += warps
        all_warps += warps
        if word.request:
            # Of those that all lanes are switched off for nothing asks memory.
            instructions[word.request] += warps
            requests[word.request] += asked if word.request.startswith(("global", "local", "shared")) else warps
            requested[word.request] += threads * word.width
            sectors_of[word.request] += passes if word.request.startswith("shared") else sectors
            passes_of[word.request] += passes
    launched = float(blocks * -(-(launch.threads // blocks) // 32))
    # Where no warp that was seen is longer than their average, the others are as long.
    alike = float(one["longest"]) * launched <= WHOLE * all_warps
    spread = WHOLE if exact else _CUT if cut else WHOLE if alike else SAMPLED
    stored = sectors_of["global store"] + sectors_of["global atomic"]
    traffic = _traffic(one, all_warps, stored, l2_bytes, exact)
    read = traffic[0] + _LAUNCH_BYTES + _INSTRUCTION_BYTES * len(by_instruction)
    over = _WHOLE_BYTES if exact else _CUT_BYTES if cut else _SAMPLED_BYTES

    def about(value: float, factor: float, least: float = 0.0) -> Range:
        low = min(max(value / factor, least), value)
        return Range(value, value, inf) if open_ and value else Range(value, low, value * factor)

    # Caches are cold, so all distinct bytes are read; of those that were not seen as many as counts are sure of.
    seen = [SECTOR * float(one["touched"][at]) for at in (3, 4)]
    least_read, least_written = (
        known + (whole - known) / spread for known, whole in zip(map(min, seen, traffic[2:]), traffic[2:], strict=True)
    )

    counts = Counts(
        operations={name: about(value, spread) for name, value in operations.items()},
        issued=dict(issued), requests=dict(requests), requested=dict(requested), sectors=dict(sectors_of),
        footprint_read=traffic[2], footprint_written=traffic[3],
        dram_read=about(read, over, least_read),
        dram_written=about(traffic[1], over, least_written - l2_bytes),
        longest=float(one["longest"]), emulated=1.0 if exact else sampled / blocks,
        warps=launched,
        most_atomics=_most(one["meetings"], passes_of["global atomic"], min(begun + sampled, blocks)),
        passes=dict(passes_of), instructions=dict(instructions), assumptions=_assumptions(one, blocks, sampled),
    )  # fmt: skip
    return Followed(launch, counts, by_instruction, warps_by_instruction)


def _most(meetings: Sequence[float], passes: float, followed: int) -> float:
    """Passes of atomic operations at the place of L2 that has most, of all `passes` in the launch.

    `meetings`: those that were followed, and the most at a place that one, two, … of 64 groups of blocks went to: what all go to grows with the rest.
    """
    met, *most = meetings
    times = passes / met if met else 0.0
    groups = max(min(followed, len(most)) - 1, 1)
    return max(value * min(times, 1 + (times - 1) * min(other / groups, 1.0)) for other, value in enumerate(most))


def _traffic(
    one: Mapping[str, Any], warps: float, stored: float, l2_bytes: int, exact: bool
) -> tuple[float, float, float, float]:
    """Bytes read from and written to device memory, distinct bytes read and written, of all `warps` instructions.

    What was not followed goes on at the rate of the second half of what was; nothing grows beyond its allocations. Kernels write last:
    what they do is also told by those sectors of all `stored` ones that were distinct where single blocks were followed.
    """
    points = [[float(value) for value in point] for point in one["memory"]]
    last = points[-1]
    read, written, distinct_read, distinct_written = (SECTOR * last[at] for at in (1, 2, 3, 4))
    written = max(written, _written_back(distinct_written, l2_bytes))
    if exact or not last[0]:
        return read, written, distinct_read, distinct_written
    half = next((point for point in points if point[0] >= last[0] / 2), points[0])
    if half[0] >= last[0]:
        half = [0.0] * len(last)
    rest = max(warps - last[0], 0.0) / max(last[0] - half[0], 1.0)

    def at_end(column: int) -> float:
        return SECTOR * (last[column] + rest * (last[column] - half[column]))

    room_read, room_written = (float(sum(each[0] for each in one["allocations"] if each[at])) for at in (1, 2))
    again = at_end(1) - at_end(3)
    touched = [float(value) for value in one["touched"]]
    single = SECTOR * stored * touched[4] / touched[8] if touched[8] else 0.0
    distinct_read = min(at_end(3), max(room_read, distinct_read))
    distinct_written = min(max(at_end(4), single), max(room_written, distinct_written))
    # Where all has been read once, what would have gone on is read again, and L2 has lost the part of it that it does not hold.
    lost = max(1 - KEPT * l2_bytes / max(distinct_read + distinct_written, 1.0), 0.0)
    read = max(min(distinct_read + again + lost * (at_end(3) - distinct_read), at_end(7)), distinct_read * 0.999)
    written = max(at_end(2), _written_back(distinct_written, l2_bytes))
    return read, written, distinct_read, distinct_written


def _written_back(distinct: float, l2_bytes: int) -> float:
    """Bytes that reach device memory of those written once: all but what is dirty at the end (`_DIRTY`, `_EARLY`)."""
    return max(_EARLY * distinct, distinct - _DIRTY * l2_bytes)


def _assumptions(one: Mapping[str, Any], blocks: int, sampled: int) -> tuple[str, ...]:
    found = []
    if one["cut"]:
        rest = (
            "the rest follows from the counters of its loops"
            if sampled
            else "it does at least what was seen, and may do far more"
        )
        found.append(
            f"The launch was too long to be followed: {sampled:,} of {blocks:,} blocks were to their end; {rest}."
        )
    elif sampled:
        served = int(one["served"])
        where = "grid" if served == blocks else f"first {served:,} (what others read was not computed)"
        found.append(f"{sampled:,} of {blocks:,} blocks, spread over the {where}, stand for all.")
    for key, told in (
        ("skipped", "Launches before it that were not followed to their end: {}. If it reads what they compute, that is unfinished (longer: --seconds)."),
        ("faults", "{:,} accesses went to memory that nobody allocated."),
        ("unknown", "{:,} instructions are not known to the interpreter."),
    ):  # fmt: skip
        if count := int(one[key]):
            found.append(told.format(count))
    if unwritten := int(one.get("unwritten", 0)):
        found.append(f"It reads {numbers.size(unwritten)} of device memory that nothing wrote: zeros are taken.")
    return tuple(found)
