"""What the host of a CUDA program does in loops without need: waiting for the device, allocating its memory; and copies from pageable memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, indent, line_start, without_line
from chathpc.fix.recipes.analysis.loops import around
from chathpc.fix.recipes.analysis.program import Procedure, Spot
from chathpc.fix.recipes.analysis.syntax import children, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: What makes the host and the device work side by side on the same memory, or in an order that the source does not tell.
_SIDE_BY_SIDE = re.compile(
    rb"\b(?:cudaMallocManaged|__managed__|cudaHostAlloc|cudaHostGetDevicePointer|cudaHostRegister|cudaMallocHost|cudaStream\w*|cudaMemcpyAsync"
    rb"|cudaMemcpy\w*Async|cudaEvent\w+|cudaGraph\w*|cudaLaunchHostFunc|printf\s*\([^;]*threadIdx|hipStream\w*|hipMallocManaged|hipHostMalloc)\b"
)
_WAITING = re.compile(r"(?:\w+\s*\(\s*)?(?:cuda|hip)(?:DeviceSynchronize|ThreadSynchronize)\s*\(\s*\)\s*\)?\s*;")
#: Clocks in a loop measure what the waiting is for.
_CLOCKS = re.compile(r"\b(?:clock\w*|gettimeofday|omp_get_wtime|MPI_Wtime|std::chrono\S*|chrono)\b")
_MALLOC = re.compile(
    r"(?P<check>\w+\s*\(\s*)?(?:cuda|hip)Malloc\s*\(\s*(?:\(\s*void\s*\*\s*\*\s*\)\s*)?&\s*(?P<name>\w+)\s*,\s*(?P<size>.+?)\s*\)(?(check)\s*\))\s*;",
    re.DOTALL,
)
_FREE = r"(?:\w+\s*\(\s*)?(?:cuda|hip)Free\s*\(\s*%s\s*\)\s*\)?\s*;"


def fewer_waits(context: Context, spot: Spot) -> Iterator[Change]:
    """Waiting for the device in a loop goes behind the loop: what is started later waits for what was started before by itself."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.has_errors or any(_SIDE_BY_SIDE.search(source.text) for source in program.sources.values()):
        return
    found: dict[int, tuple[Node, list[Node]]] = {}
    for node in procedure.all("expression_statement"):
        loops = list(around(node, procedure))
        if not loops or not _WAITING.fullmatch(text_of(node)) or _CLOCKS.search(text_of(loops[-1])):
            continue
        if node.parent is None or node.parent.type != "compound_statement":
            continue
        found.setdefault(loops[-1].start_byte, (loops[-1], []))[1].append(node)
    for loop, waits in found.values():
        if loop.parent is None or loop.parent.type != "compound_statement":
            continue
        if any(True for _ in nodes(loop, "return_statement", "goto_statement")):
            continue
        blank = indent(text, loop.start_byte)
        behind = Edit(loop.end_byte, loop.end_byte, b"\n" + blank + text_of(waits[0]).encode())
        yield Change(
            {spot.source.path: (*(without_line(each, text) for each in waits), behind)},
            line_of(waits[0]),
            "waits for the device once behind the loop instead of in each iteration",
        )


def kept_device_memory(context: Context, spot: Spot) -> Iterator[Change]:
    """Memory of the device that a loop allocates and frees in each iteration is allocated once before it."""
    procedure = spot.procedure
    if procedure.has_errors:
        return
    for node in procedure.all("expression_statement"):
        match = _MALLOC.fullmatch(text_of(node))
        loop = next(around(node, procedure), None)
        if match is None or loop is None or node.parent != field(loop, "body") or loop.parent is None:
            continue
        frees = [
            each for each in procedure.all("expression_statement") if re.fullmatch(_FREE % match["name"], text_of(each))
        ]
        if len(frees) != 1 or frees[0].parent != node.parent or frees[0].start_byte < node.start_byte:
            continue
        change = _hoisted(node, frees[0], loop, match["name"], procedure)
        if change is not None:
            yield Change(
                {spot.source.path: change},
                line_of(node),
                f"allocates {match['name']} on the device once before the loop instead of in each iteration",
            )
    del context


def _hoisted(node: Node, free: Node, loop: Node, name: str, procedure: Procedure) -> tuple[Edit, ...] | None:
    text = procedure.source.text
    leaving = ("return_statement", "goto_statement", "throw_statement", "lambda_expression")
    if loop.parent is None or loop.parent.type != "compound_statement" or any(True for _ in nodes(loop, *leaving)):
        return None
    if any(
        node.end_byte < each.start_byte < free.start_byte and next(around(each, procedure), None) == loop
        for each in nodes(loop, "break_statement", "continue_statement")
    ):
        return None
    declaration = next(
        (
            each
            for each in procedure.all("declaration")
            if re.fullmatch(rf"(?:\w+\s+)+\*\s*{name}\s*(?:=\s*(?:NULL|nullptr|0)\s*)?;", text_of(each))
        ),
        None,
    )
    if declaration is None or sum(1 for each in procedure.all("declaration") if name in _declared(each)) != 1:
        return None
    for each in procedure.identifiers.get(name, ()):
        if inside(each, declaration) or inside(each, node) or inside(each, free):
            continue
        if not inside(each, loop) or not node.end_byte < each.start_byte < free.start_byte:
            return None
        parent = each.parent
        if parent is None or (parent.type == "assignment_expression" and field(parent, "left") == each):
            return None
        if parent.type == "pointer_expression":
            return None
    sizes = {text_of(each) for each in nodes(node, "identifier")} - {name}
    changed = {
        text_of(target)
        for part in nodes(loop, "assignment_expression", "update_expression", "init_declarator")
        for target in [field(part, "left") or field(part, "argument") or field(part, "declarator")]
        if target is not None
    }
    declared = {each for part in nodes(loop, "declaration") for each in _declared(part)}
    if sizes & (changed | declared) or sizes & procedure.addressed - {"cudaMalloc", "hipMalloc"}:
        return None
    if any(True for _ in nodes(node, "subscript_expression")):
        return None
    start, blank = line_start(text, loop.start_byte), indent(text, loop.start_byte)
    if text[start : loop.start_byte].strip():
        return None
    lines = blank + text_of(node).encode() + b"\n"
    edits = [without_line(node, text), without_line(free, text)]
    if inside(declaration, loop):
        edits.append(without_line(declaration, text))
        lines = blank + text_of(declaration).encode() + b"\n" + lines
    return (
        *edits,
        Edit(start, start, lines),
        Edit(loop.end_byte, loop.end_byte, b"\n" + blank + text_of(free).encode()),
    )


def _declared(node: Node) -> set[str]:
    return {text_of(each) for part in node.children_by_field_name("declarator") for each in nodes(part, "identifier")}


def pinned_buffers(context: Context, spot: Spot) -> Iterator[Change]:
    """Memory of the host that is copied to or from the device is allocated page-locked (CUDA C++ Best Practices Guide, "Pinned Memory")."""
    procedure = spot.procedure
    if procedure.has_errors or procedure.body is None:
        return
    edits: list[Edit] = []
    names: list[str] = []
    for node in procedure.all("init_declarator"):
        found = _allocated(node)
        if found is None or not _is_copied(found[0], procedure):
            continue
        more = _pinned(node, *found, procedure)
        if more:
            edits += more
            names.append(found[0])
    if edits:
        yield Change(
            {spot.source.path: tuple(edits)},
            procedure.model.first,
            f"allocates {', '.join(names)} in page-locked memory, from which the device copies by itself",
        )
    del context


def _allocated(node: Node) -> tuple[str, str, str] | None:
    """Name, bytes and how it is freed, of `T *x = (T *)malloc(bytes)` and `T *x = new T[n]`."""
    pointer, value = field(node, "declarator"), field(node, "value")
    if pointer is None or pointer.type != "pointer_declarator" or value is None:
        return None
    name = field(pointer, "declarator")
    if name is None or name.type != "identifier":
        return None
    while value is not None and (value.type == "cast_expression" or _is_cast(value)):
        value = field(value, "value") or next(iter(children(field(value, "arguments"))), None)
    if value is None:
        return None
    if value.type == "call_expression" and text_of(field(value, "function")) in ("malloc", "std::malloc"):
        listed = children(field(value, "arguments"))
        return (text_of(name), text_of(listed[0]), "free") if len(listed) == 1 else None
    if value.type == "new_expression" and field(value, "arguments") is None:
        size = field(field(value, "declarator"), "length")
        kind = text_of(field(value, "type"))
        return (text_of(name), f"({text_of(size)}) * sizeof({kind})", "delete") if size is not None else None
    return None


def _is_cast(node: Node) -> bool:
    return node.type == "call_expression" and text_of(field(node, "function")).startswith(
        ("static_cast<", "reinterpret_cast<")
    )


def _is_copied(name: str, procedure: Procedure) -> bool:
    return any(
        re.fullmatch(r"(?:cuda|hip)Memcpy(?:Async)?", text_of(field(call, "function")))
        and name in [text_of(each) for each in children(field(call, "arguments"))[:2]]
        for call in procedure.all("call_expression")
    )


def _pinned(node: Node, name: str, size: str, how: str, procedure: Procedure) -> list[Edit]:
    text = procedure.source.text
    declaration = node.parent
    frees = [
        each
        for each in procedure.all("expression_statement")
        if (how == "free" and re.fullmatch(rf"(?:std::)?free\s*\(\s*{name}\s*\)\s*;", text_of(each)))
        or (how == "delete" and re.fullmatch(rf"delete\s*\[\s*\]\s*{name}\s*;", text_of(each)))
    ]
    if len(frees) != 1 or declaration is None or declaration.type != "declaration":
        return []
    if (
        declaration.parent is None
        or declaration.parent.type != "compound_statement"
        or "static" in text_of(declaration).split()
    ):
        return []
    for each in procedure.identifiers.get(name, ()):
        parent = each.parent
        if parent is None or (parent.type == "pointer_expression" and text_of(field(parent, "operator")) == "&"):
            return []
        if parent.type == "assignment_expression" and each in (field(parent, "left"), field(parent, "right")):
            return []
        if parent.type in ("return_statement", "init_declarator") and not inside(each, node):
            return []
        if parent.type == "argument_list" and re.search(
            r"realloc|swap", text_of(field(parent.parent, "function") if parent.parent is not None else None)
        ):
            return []
    api = "hip" if b"hipMemcpy" in text else "cuda"
    blank = indent(text, declaration.start_byte).decode()
    value = field(node, "value")
    if value is None:
        return []
    allocate = "hipHostMalloc" if api == "hip" else "cudaMallocHost"
    free = "hipHostFree" if api == "hip" else "cudaFreeHost"
    null = "nullptr"
    call = f"\n{blank}{allocate}((void **)&{name}, {size});"
    freed = _inner(frees[0])
    return [
        Edit(value.start_byte, value.end_byte, null.encode()),
        Edit(declaration.end_byte, declaration.end_byte, call.encode()),
        Edit(freed.start_byte, freed.end_byte, f"{free}({name})".encode()),
    ]


def _inner(statement: Node) -> Node:
    return children(statement)[0]
