"""Polling of an atomic variable with sleeps: threads wait on a condition variable instead, and whoever sets the variable wakes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step
from chathpc.fix.recipes.analysis.heads import included
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, Spot
from chathpc.fix.recipes.analysis.syntax import bare, children, enclosing, field, line_of, nodes, statements, text_of
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

SLEEPS = frozenset({"std::this_thread::sleep_for", "this_thread::sleep_for", "usleep", "nanosleep", "thrd_sleep"})
_WATCHED = re.compile(r"\b(?:std::)?atomic(?:<|_)|\b_Atomic\b|\bvolatile\b")
_NO_ONE_PLACE = re.compile(r"\b(?:extern|inline|thread_local|_Thread_local|template)\b|\*|\[")
_SETS = re.compile(r"store|exchange|fetch_\w+|atomic_(?:store|exchange|fetch_\w+)(?:_explicit)?")
_READS = re.compile(r"load|atomic_load(?:_explicit)?")
#: A lock cannot be taken in a signal handler; a condition variable cannot be thrown away while a thread that nobody joins waits.
ELSEWHERE = re.compile(
    rb"\bsignal\s*\(|\bsigaction\b|\bdetach\s*\(|\bpthread_detach\b|DETACHED|\bfork\s*\(|\bmmap\s*\("
)


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """The variable: its name, its declaration, the statements that set it and the loops that wait for it."""

    name: str
    source: Source
    declaration: Node
    sets: tuple[tuple[Procedure, Node, str], ...]
    waits: tuple[tuple[Procedure, Node, str], ...]


def woken(context: Context, spot: Spot) -> Iterator[Change]:
    """`while (turn != me) sleep` waits for a condition variable that is notified wherever the variable is set."""
    program, procedure = context.program, spot.procedure
    if procedure.is_broken or program.unread or any(ELSEWHERE.search(one.text) for one in program.sources.values()):
        return
    for loop in procedure.all("while_statement"):
        found = _polled(loop)
        one = _watched(found, program) if found is not None else None
        if one is None or all(each != loop for _, each, _ in one.waits):
            continue
        edits = _edits(one, program)
        if edits is not None:
            did = f"waits on a condition variable, which whoever sets {one.name} notifies, instead of sleeping and looking again"
            yield Change(edits, line_of(loop), did)
            return


def _polled(loop: Node) -> list[str] | None:
    """Names in the condition of a loop that does nothing but sleep."""
    *before, last = statements(field(loop, "body")) or [loop]
    call = bare(last)
    if any(each.type != "declaration" or any(True for _ in nodes(each, "call_expression")) for each in before):
        return None
    if call is None or text_of(field(call, "function")) not in SLEEPS:
        return None
    condition = field(loop, "condition")
    if condition is None or any(True for _ in nodes(condition, "assignment_expression", "update_expression")):
        return None
    return [text_of(each) for each in nodes(condition, "identifier", "field_identifier")]


def _watched(names: list[str], program: Program) -> Watched | None:
    declared = {name: declarations(name, program) for name in dict.fromkeys(names)}
    atomic = [
        name
        for name, found in declared.items()
        if any(_WATCHED.search(_head(node)) for _, node in found if node.type != "parameter_declaration")
    ]
    if len(atomic) != 1 or len(declared[atomic[0]]) != 1:
        return None
    name = atomic[0]
    source, declaration = declared[name][0]
    if _NO_ONE_PLACE.search(_head(declaration)) or (not source.is_cpp and not _is_of_file(declaration)):
        return None
    if declaration.type == "field_declaration" and "static" in _head(declaration).split():
        return None
    sets: list[tuple[Procedure, Node, str]] = []
    waits: list[tuple[Procedure, Node, str]] = []
    seen = 0
    for home in program.procedures:
        for each in home.all("identifier", "field_identifier"):
            if text_of(each) != name:
                continue
            seen += 1
            how, whole = _use(each)
            if how == "set" and whole is not None and _is_plain(whole):
                sets.append((home, whole, _path(each)))
            elif how == "read":
                loop = enclosing(each, frozenset({"while_statement"}), home.node)
                asked = _polled(loop) if loop is not None else None
                if (
                    loop is not None
                    and asked is not None
                    and asked.count(name) == 1
                    and _stay(loop, name, home, program)
                ):
                    waits.append((home, loop, _path(each)))
            elif how != "declared":
                return None
    outside = sum(
        text_of(each) == name or (each.type == "preproc_arg" and re.search(rf"\b{name}\b", text_of(each)) is not None)
        for one in program.sources.values()
        for each in nodes(one.file.tree.root_node, "identifier", "field_identifier", "preproc_arg")
    )
    own = 0 if enclosing(declaration, frozenset({"function_definition"})) is not None else 1
    if outside != seen + own or not sets or not waits:
        return None
    return Watched(name, source, declaration, tuple(sets), tuple(waits))


def declarations(name: str, program: Program) -> list[tuple[Source, Node]]:
    """Where variables, members and parameters of that name are declared."""
    found = []
    for source in program.sources.values():
        for each in nodes(source.file.tree.root_node, "declaration", "field_declaration", "parameter_declaration"):
            for part in each.children_by_field_name("declarator"):
                inner: Node | None = part
                while inner is not None and inner.type not in ("identifier", "field_identifier", "function_declarator"):
                    inner = field(inner, "declarator") or next(iter(children(inner)), None)
                if inner is not None and text_of(inner) == name:
                    found.append((source, each))
    return found


def _head(declaration: Node) -> str:
    """What stands before the first name that is declared."""
    parts = declaration.children_by_field_name("declarator")
    end = parts[0].start_byte - declaration.start_byte if parts else None
    more = "*" if parts and any(True for _ in nodes(parts[0], "pointer_declarator", "array_declarator")) else ""
    return (declaration.text or b"")[:end].decode("utf-8", "replace") + more


def _is_of_file(declaration: Node) -> bool:
    return declaration.type == "declaration" and declaration.parent is not None and declaration.parent.type in (
        "translation_unit", "namespace_definition", "declaration_list"
    )  # fmt: skip


def _use(name: Node) -> tuple[str, Node | None]:
    """How the variable is used: ("declared" | "read" | "set" | "", the statement that sets it)."""
    whole, parent = name, name.parent
    if parent is not None and parent.type == "field_expression" and field(parent, "field") == name:
        whole, parent = parent, parent.parent
    if parent is None or parent.type in ("field_initializer", "init_declarator", "declaration", "field_declaration"):
        is_value = parent is not None and field(parent, "value") == whole
        return ("read" if is_value else "declared"), None
    call: Node | None = None
    if parent.type == "field_expression" and field(parent, "argument") == whole:
        call = parent.parent
        called = text_of(field(parent, "field"))
    elif parent.type == "pointer_expression" and text_of(parent).startswith("&"):
        listed = parent.parent
        call = listed.parent if listed is not None and listed.type == "argument_list" else None
        called = text_of(field(call, "function"))
    if call is not None and call.type == "call_expression":
        if _READS.fullmatch(called):
            return "read", None
        return ("set", _statement(call)) if _SETS.fullmatch(called) else ("", None)
    if parent.type in ("assignment_expression", "update_expression"):
        if whole in (field(parent, "left"), field(parent, "argument")):
            return "set", _statement(parent)
        return "read", None
    if parent.type in (
        "binary_expression",
        "unary_expression",
        "parenthesized_expression",
        "condition_clause",
        "return_statement",
    ):
        return "read", None
    return "", None


def _statement(expr: Node) -> Node | None:
    parent = expr.parent
    return parent if parent is not None and parent.type == "expression_statement" else None


def _is_plain(statement: Node) -> bool:
    """True if nothing else is called under the lock, which would be held for as long."""
    called = (field(each, "function") for each in nodes(statement, "call_expression"))
    names = (text_of(field(each, "field") or each) for each in called)
    return all(_SETS.fullmatch(each) or _READS.fullmatch(each) for each in names)


def _path(name: Node) -> str:
    """What stands before the name: `queue->`."""
    parent = name.parent
    if parent is None or parent.type != "field_expression":
        return ""
    return text_of(parent)[: -len(text_of(name))] if field(parent, "field") == name else ""


def _stay(loop: Node, name: str, home: Procedure, program: Program) -> bool:
    """True if nothing in the condition but the variable may be changed while the thread waits."""
    condition = field(loop, "condition")
    if condition is None:
        return False
    for call in nodes(condition, "call_expression"):
        called = field(call, "function")
        if not _READS.fullmatch(text_of(field(called, "field") or called)):
            return False
    for each in nodes(condition, "identifier", "field_identifier"):
        other = text_of(each)
        if other == name or _READS.fullmatch(other) or other.startswith("memory_order") or other == "std":
            continue
        own = home.declarations.get(other)
        if other in home.declarations:
            if own is None or own.reference or (own.pointers and not _path_of(each)) or other in home.addressed:
                return False
            continue
        if other in program.addressed or _is_ever_set(other, program):
            return False
    return not any(True for _ in nodes(condition, "subscript_expression", "lambda_expression"))


def _path_of(name: Node) -> bool:
    """True for the record in whose member is looked."""
    parent = name.parent
    return parent is not None and parent.type == "field_expression" and field(parent, "argument") == name


def _is_ever_set(name: str, program: Program) -> bool:
    for one in program.procedures:
        for node in one.all("assignment_expression", "update_expression"):
            target = field(node, "left") or field(node, "argument")
            if target is not None and any(
                text_of(each) == name for each in nodes(target, "identifier", "field_identifier")
            ):
                return True
    return False


def _edits(one: Watched, program: Program) -> dict[str, tuple[Edit, ...]] | None:
    """The mutex and the condition variable, what sets the variable under them, and the loops that wait."""
    stem, ending = one.name.rstrip("_"), "_" if one.name.endswith("_") else ""
    everything = b"\n".join(source.text for source in program.sources.values())
    mutex, changed = (fresh_name(f"{stem}_{each}{ending}", everything) for each in ("mutex", "changed"))
    hold = fresh_name("hold", everything)
    edits: dict[str, list[Edit]] = {one.source.path: [_declared(one, mutex, changed)]}
    cpp = one.source.is_cpp
    for home, node, path in (*one.sets, *one.waits):
        text = home.source.text
        blank, step = indent(text, node.start_byte).decode(), indent_step(text).decode()
        if node.type == "while_statement":
            condition = text_of(field(node, "condition"))
            waiting = f"while {condition} " + (
                f"{path}{changed}.wait({hold});" if cpp else f"pthread_cond_wait(&{changed}, &{mutex});"
            )
            lines = _locked(cpp, "unique_lock", f"{path}{mutex}", hold, [waiting])
        else:
            waking = f"{path}{changed}.notify_all();" if cpp else f"pthread_cond_broadcast(&{changed});"
            lines = _locked(cpp, "lock_guard", f"{path}{mutex}", hold, [text_of(node), waking])
        parent = node.parent
        is_body = cpp and parent is not None and parent == home.body and len(children(parent)) == 1
        if is_body or (not cpp and parent is not None and parent.type == "compound_statement"):
            new = f"\n{blank}".join(lines)
        else:
            new = "\n".join(["{", *(f"{blank}{step}{each}" for each in lines), f"{blank}}}"])
        edits.setdefault(home.source.path, []).append(Edit(node.start_byte, node.end_byte, new.encode()))
    for path, listed in edits.items():
        first = next(iter(program.sources[path].procedures), None)
        if first is None:
            return None
        for header in ("mutex", "condition_variable") if cpp else ("pthread.h",):
            listed += included(header, first)
    return {path: tuple(listed) for path, listed in edits.items()}


def _locked(cpp: bool, guard: str, mutex: str, hold: str, lines: list[str]) -> list[str]:
    if cpp:
        return [f"std::{guard}<std::mutex> {hold}({mutex});", *lines]
    return [f"pthread_mutex_lock(&{mutex});", *lines, f"pthread_mutex_unlock(&{mutex});"]


def _declared(one: Watched, mutex: str, changed: str) -> Edit:
    """Their declarations behind that of the variable; at the end of a structure whose values may be listed."""
    node, text = one.declaration, one.source.text
    record = node.parent.parent if node.parent is not None else None
    if node.type == "field_declaration" and record is not None and record.type == "struct_specifier":
        members = children(node.parent)
        if not any(each.type == "access_specifier" for each in members):
            node = [each for each in members if each.type == "field_declaration"][-1]
    blank = indent(text, node.start_byte).decode()
    before = "static " if "static" in _head(one.declaration).split() else ""
    if one.declaration.type == "field_declaration" and any(_is_const(home) for home, _, _ in one.waits):
        before = "mutable "
    if one.source.is_cpp:
        lines = (f"{before}std::mutex {mutex};", f"{before}std::condition_variable {changed};")
    else:
        lines = (
            f"{before}pthread_mutex_t {mutex} = PTHREAD_MUTEX_INITIALIZER;",
            f"{before}pthread_cond_t {changed} = PTHREAD_COND_INITIALIZER;",
        )
    return Edit(node.end_byte, node.end_byte, "".join(f"\n{blank}{each}" for each in lines).encode())


def _is_const(procedure: Procedure) -> bool:
    """True for a member function that may not change its object."""
    declarator = field(procedure.node, "declarator")
    return any(text_of(each) == "const" for each in (declarator.children if declarator is not None else ()))
