"""Cache lines that threads share without need: what different threads write gets room between."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chathpc.diagnosis.source.layout import type_size, value
from chathpc.diagnosis.source.model import Declaration
from chathpc.fix.recipes.analysis.edits import Edit
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.syntax import field, nodes, text_of
from chathpc.fix.recipes.analysis.types import is_arithmetic
from chathpc.fix.recipes.recipe import Change, Context

#: Bytes between what two threads write: two cache lines, for neighbours are fetched together (Intel optimisation manual, 2.1.5.4).
_APART = 128
_ZERO = ("{0}", "{}", "{0.0}", "{{0}}")


def padded_elements(context: Context, spot: Spot) -> Iterator[Change]:
    """Rows of threads that lie side by side in an array get room at their end, so that no two share a cache line."""
    program, procedure = context.program, spot.procedure
    if procedure.is_broken or not program.has_threads:
        return
    local = [one for one in procedure.model.declarations if one.name not in procedure.parameters]
    for one in (*local, *program.variables.values()):
        is_local = one in local
        homes = (procedure,) if is_local else program.procedures
        size = type_size(one.type, spot.source.file.unit)
        if size is None or not is_arithmetic(one.type) or len(one.dims) != 2 or one.name not in procedure.identifiers:
            continue
        if not any(_is_per_thread(one.name, each.source.text) for each in homes):
            continue
        edits = _longer_rows(one, _APART // size, homes, program, local=is_local)
        if edits:
            yield Change(
                edits,
                one.line or procedure.model.first,
                f"Pad the rows of {one.name}, to which different threads write, by {_APART} bytes",
            )


def _longer_rows(
    one: Declaration, width: int, homes: Sequence[Procedure], program: Program, *, local: bool
) -> dict[str, tuple[Edit, ...]] | None:
    """Rows of threads get room at their end, where the array is used by its single elements only."""
    row = value(one.dims[1], homes[0].source.file.unit.constants)
    if row is None or row >= 4 * width:
        return None
    edits: dict[str, tuple[Edit, ...]] = {}
    # Where the name may stand: the function of a local variable, or all files.
    files = {path: each.file.tree.root_node for path, each in program.sources.items() if not each.is_fortran}
    for path, root in ({homes[0].source.path: homes[0].node} if local else files).items():
        for node in nodes(root, "identifier"):
            parent = node.parent
            above = parent.parent if parent is not None else None
            if text_of(node) != one.name or parent is None or above is None:
                continue
            if parent.type == "array_declarator" and above.type == "array_declarator":
                size, whole = field(above, "size"), above.parent
                first = field(whole, "value") if whole is not None and whole.type == "init_declarator" else None
                if size is None or (first is not None and "".join(text_of(first).split()) not in _ZERO):
                    return None
                edits[path] = (*edits.get(path, ()), Edit(size.end_byte, size.end_byte, f" + {width}".encode()))
            elif (
                parent.type != "subscript_expression"
                or above.type != "subscript_expression"
                or field(above, "argument") != parent
            ):
                return None
    return edits if sum(map(len, edits.values())) == 1 else None


def _is_per_thread(name: str, text: bytes) -> bool:
    """True if an array is indexed by the number of a thread, by a parameter or capture of what a thread runs, or handed to threads by
    its elements.
    """
    label = re.escape(name).encode()
    if re.search(rb"\b%s\s*\[\s*omp_get_thread_num\s*\(\s*\)\s*\]" % label, text):
        return True
    if re.search(rb"(?:pthread_create|std::j?thread|emplace_back)\b[^;]*(?:&|ref\s*\()\s*%s\s*\[" % label, text):
        return True
    numbers = set(re.findall(rb"(\w+)\s*=\s*omp_get_thread_num\s*\(", text))
    starts = set(re.findall(rb"(?:emplace_back|std::j?thread\s+\w+)\s*\(\s*(\w+)", text))
    starts |= set(re.findall(rb"pthread_create\s*\([^,]*,[^,]*,\s*&?(\w+)", text))
    for start in starts:
        match = re.search(rb"\b%s\s*\(([^)]*)\)\s*\{" % start, text)
        numbers |= set(re.findall(rb"(\w+)\s*(?:,|$)", match[1])) if match else set()
    for match in re.finditer(rb"(?:emplace_back|push_back|std::j?thread)\b[^;\[]*\[([^\]]*)\]\s*(?:\(|\{)", text):
        numbers |= {each.strip(b"& ") for each in match[1].split(b",")} - {b"", b"=", b"this"}
    # What a number of a thread is handed on by: `long id = (long)arg;`.
    known = [each for each in numbers if each]
    for each in known:
        numbers |= set(re.findall(rb"\b(\w+)\s*=\s*\*?\s*\(\s*(?:\w+\s*)+\**\s*\)\s*%s\s*;" % each, text))
    return any(re.search(rb"\b%s\s*\[\s*%s\s*\]" % (label, each), text) for each in numbers if each)
