"""Cache lines and locks that threads share without need: padded records, sums of a thread's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import type_size, value
from chathpc.fix.recipes.edits import Edit, indent, line_start
from chathpc.fix.recipes.invariants import fresh_name
from chathpc.fix.recipes.loops import counted, loops_of
from chathpc.fix.recipes.program import Program, Spot
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.syntax import children, field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.types import field_of, type_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Bytes between what two threads write: two cache lines, for neighbours are fetched together (Intel optimisation manual, 2.1.5.4).
_APART = 128
#: What sends or stores records as bytes: their size must stay.
_BYTES = re.compile(rb"\b(?:fwrite|fread|write|read|send|recv|MPI_\w+|memcmp|mmap)\b")


def padded(context: Context, spot: Spot) -> Iterator[Change]:
    """Records of threads that lie side by side in an array get room at their end, so that no two share a cache line."""
    program, text = context.program, spot.source.text
    if len(program.sources) != 1 or not re.search(rb"omp_get_thread_num|std::thread|pthread_create", text):
        return
    for name, record in program.records.items():
        kind = next((each for each in _record_nodes(spot.source.file.tree.root_node) if _name_of(each) == name), None)
        arrays = [
            one
            for one in (
                *program.variables.values(),
                *(each for procedure in program.procedures for each in procedure.model.declarations),
            )
            if one.type.removeprefix("struct ") == name and (one.dims or one.pointers)
        ]
        size = type_size(name, spot.source.file.unit)
        atomics = any("atomic" in one.type for one in record.fields)
        if kind is None or not arrays or (size is None and not atomics) or (size or 8) >= 64 or record.aligned >= 64:
            continue
        if not any(_is_per_thread(one.name, text) for one in arrays):
            continue
        if any(
            re.search(rb"\bsizeof\b[^;]*\b%s\b" % name.encode(), each) and _BYTES.search(each)
            for each in text.split(b";")
        ):
            continue
        body = field(kind, "body")
        if body is None:
            continue
        last = children(body)[-1]
        label = fresh_name("padding", text)
        line = b"\n" + indent(text, last.start_byte) + f"char {label}[{_APART}];".encode()
        yield Change(
            {spot.source.path: (Edit(last.end_byte, last.end_byte, line),)},
            line_of(kind),
            f"puts {_APART} bytes between the records of type {name} of different threads",
        )


def _record_nodes(root: Node) -> Iterator[Node]:
    return (each for each in nodes(root, "struct_specifier", "class_specifier") if field(each, "body") is not None)


def _name_of(node: Node) -> str:
    parent = node.parent
    if parent is not None and parent.type == "type_definition":
        return text_of(field(parent, "declarator"))
    return text_of(field(node, "name"))


def _is_per_thread(name: str, text: bytes) -> bool:
    """True if an array is indexed by the number of a thread, or by a parameter of the function that a thread runs."""
    if re.search(rb"\b%s\s*\[\s*omp_get_thread_num\s*\(\s*\)\s*\]" % name.encode(), text):
        return True
    numbers = set(re.findall(rb"(\w+)\s*=\s*omp_get_thread_num\s*\(", text))
    starts = set(re.findall(rb"(?:emplace_back|std::thread\s+\w+)\s*\(\s*(\w+)", text))
    for start in starts:
        match = re.search(rb"\b%s\s*\(([^)]*)\)\s*\{" % start, text)
        numbers |= set(re.findall(rb"(\w+)\s*(?:,|$)", match[1])) if match else set()
    return any(re.search(rb"\b%s\s*\[\s*%s\s*\]" % (name.encode(), each), text) for each in numbers)


def own_counts(context: Context, spot: Spot) -> Iterator[Change]:
    """Relaxed atomic additions in a loop go to a variable of the thread's own, which is added once behind the loop."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if not spot.source.is_cpp or procedure.has_errors:
        return
    for loop in loops_of(procedure):
        header = counted(loop, procedure)
        if header is None or not header.own or loop.parent is None or loop.parent.type != "compound_statement":
            continue
        calls: dict[str, list[Node]] = {}
        for call in nodes(header.body, "call_expression"):
            match = re.fullmatch(r"([\w.\[\]]+)\.fetch_add\((.+), std::memory_order_relaxed\)", text_of(call))
            if match is not None and call.parent is not None and call.parent.type == "expression_statement":
                calls.setdefault(match[1], []).append(call)
        if not calls or any(
            True for _ in nodes(header.body, "return_statement", "goto_statement", "preproc_call", "lambda_expression")
        ):
            continue
        written = {
            text_of(field(each, "left") or field(each, "argument"))
            for each in nodes(loop, "assignment_expression", "update_expression")
        }
        start, blank = line_start(text, loop.start_byte), indent(text, loop.start_byte)
        edits: list[Edit] = []
        after = ""
        for target, found in calls.items():
            names = set(re.findall(r"[A-Za-z_]\w*", target))
            kind = _atomic_type(target, program)
            inside_uses = text[header.body.start_byte : header.body.end_byte].decode().count(target)
            if kind is None or names & written or inside_uses != len(found):
                edits = []
                break
            label = fresh_name("own_" + target.split(".")[-1].split("[")[0], text)
            edits.append(Edit(start, start, blank + f"{kind} {label} = 0;\n".encode()))
            for call in found:
                argument = children(field(call, "arguments"))[0]
                edits.append(
                    Edit(
                        call.start_byte,
                        call.end_byte,
                        f"{label} += ".encode() + text[argument.start_byte : argument.end_byte],
                    )
                )
            after += f"\n{blank.decode()}{target}.fetch_add({label}, std::memory_order_relaxed);"
        if edits and not text[start : loop.start_byte].strip():
            edits.append(Edit(loop.end_byte, loop.end_byte, after.encode()))
            yield Change(
                {spot.source.path: tuple(edits)},
                line_of(loop),
                f"counts {', '.join(calls)} in variables of the thread's own and adds them once behind the loop",
            )


def _atomic_type(target: str, program: Program) -> str | None:
    last = re.sub(r"\[.*\]\Z", "", target).split(".")[-1]
    found = [one for record in program.records.values() for one in record.fields if one.name == last]
    found = found or [one for one in program.variables.values() if one.name == last]
    match = re.fullmatch(r"(?:std::)?atomic<\s*([\w:\s]+?)\s*>", found[0].type) if len(found) == 1 else None
    return match[1] if match is not None and "float" not in match[1] and "double" not in match[1] else None


def locked_once(context: Context, spot: Spot) -> Iterator[Change]:
    """Sums that a loop adds under a lock are gathered in variables of the thread's own and added under the lock once, behind it."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if not spot.source.is_cpp or procedure.has_errors:
        return
    for loop in loops_of(procedure):
        header = counted(loop, procedure)
        listed = statements(field(loop, "body"))
        guards = [
            at
            for at, each in enumerate(listed)
            if re.fullmatch(
                r"(?:const )?std::(?:lock_guard|scoped_lock|unique_lock)<std::mutex> \w+[({][\w.>-]+[)}];",
                text_of(each),
            )
        ]
        if (
            header is None
            or not header.own
            or len(guards) != 1
            or loop.parent is None
            or loop.parent.type != "compound_statement"
        ):
            continue
        updates = listed[guards[0] + 1 :]
        change = _gathered(header.node, listed[guards[0]], updates, listed[: guards[0]], spot, program, text)
        if change is not None:
            yield change


def _gathered(
    loop: Node, guard: Node, updates: list[Node], before: list[Node], spot: Spot, program: Program, text: bytes
) -> Change | None:
    procedure = spot.procedure
    if not updates or any(
        True
        for each in (*before, *updates)
        for _ in nodes(
            each,
            "return_statement",
            "break_statement",
            "goto_statement",
            "throw_statement",
            "lambda_expression",
            "continue_statement",
        )
    ):
        return None
    blank, start = indent(text, loop.start_byte), line_start(text, loop.start_byte)
    edits: list[Edit] = []
    first, last, targets = "", "", []
    for each in updates:
        expr = next(iter(children(each)), None) if each.type == "expression_statement" else None
        target = field(expr, "left")
        if (
            expr is None
            or target is None
            or expr.type != "assignment_expression"
            or text_of(field(expr, "operator")) != "+="
        ):
            return None
        kind = type_of(target, procedure, program)
        if kind is None or not kind.is_integer:
            return None
        base = field(target, "argument") if target.type == "subscript_expression" else target
        if base is None or base.type != "field_expression":
            return None
        shown = text_of(base)
        label = fresh_name("own_" + text_of(field(base, "field")), text)
        if shown in targets:
            return None
        targets.append(shown)
        if target.type == "subscript_expression":
            own = field_of(base, procedure, program)
            extent = (
                value(own.dims[0], spot.source.file.unit.constants) if own is not None and len(own.dims) == 1 else None
            )
            if extent is None or extent > 4096:
                return None
            first += f"{blank.decode()}{kind.name} {label}[{extent}] = {{}};\n"
            last += f"\n{blank.decode()}  for (int at = 0; at < {extent}; at++) {shown}[at] += {label}[at];"
        else:
            first += f"{blank.decode()}{kind.name} {label} = 0;\n"
            last += f"\n{blank.decode()}  {shown} += {label};"
        edits.append(Edit(base.start_byte, base.end_byte, label.encode()))
    fields = {each.rsplit(".", 1)[-1].rsplit(">", 1)[-1] for each in targets}
    used = [text_of(each) for part in (*before, *updates) for each in nodes(part, "field_identifier")]
    if any(used.count(each) != 1 for each in fields) or any(
        text_of(each) in ("at",) for part in updates for each in nodes(part, "identifier")
    ):
        return None
    whole = text[guard.start_byte : guard.end_byte].decode()
    line = line_start(text, guard.start_byte)
    edits.append(
        Edit(line, guard.end_byte + 1, b"")
        if not text[line : guard.start_byte].strip() and text[guard.end_byte : guard.end_byte + 1] == b"\n"
        else Edit(guard.start_byte, guard.end_byte, b"")
    )
    edits.append(Edit(start, start, first.encode()))
    edits.append(
        Edit(
            loop.end_byte,
            loop.end_byte,
            f"\n{blank.decode()}{{\n{blank.decode()}  {whole}{last}\n{blank.decode()}}}".encode(),
        )
    )
    return Change(
        {spot.source.path: tuple(edits)},
        line_of(guard),
        f"gathers {', '.join(targets)} in variables of the thread's own and takes the lock once behind the loop",
    )
