"""Functions of numbers that are asked the same again and again: the last result is kept with its arguments (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Declaration, Expr, Kind
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, indent_step, line_end, line_start
from chathpc.fix.recipes.analysis.effects import Access, effects, is_own_memory, summary
from chathpc.fix.recipes.analysis.loops import around, is_repeated_on_purpose
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source, Spot
from chathpc.fix.recipes.analysis.repeats import is_repeated
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, children, field, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import of_declaration, plain, type_of
from chathpc.fix.recipes.recipe import Change, Context
from chathpc.fix.recipes.serial.invariants import is_cheap, outermost

if TYPE_CHECKING:
    from tree_sitter import Node

#: More arguments cost more to compare than most functions to compute.
_MOST_PARAMETERS = 8
_WIDEST_LINE = 100
#: A function's head that says no more than its types: no attribute, no template, no `constexpr`, no class.
_BEFORE_NAME = re.compile(rb"(?:\[\[nodiscard\]\]\s*)?(?:[\w:]+\s+)+\Z")
_BEHIND_NAME = re.compile(rb"\s*(?:noexcept\s*)?\Z")
_KEEPS_NO_STATE = frozenset({b"constexpr", b"consteval", b"template", b"virtual", b"friend", b"operator", b"explicit"})
#: Names of numbers in the headers of the standard library.
_STANDARD = re.compile(
    r"M_\w+|(?:DBL|FLT|LDBL|INT|UINT|LONG|ULONG|LLONG|ULLONG|SHRT|USHRT|CHAR|SIZE|U?INT\d+)_[A-Z0-9_]+|NAN|INFINITY|HUGE_VALF?"
)
#: By these a program asks how it was computed, changes how the processor rounds, or leaves a function in the middle of it.
_WATCHES = re.compile(
    rb"<c?fenv(?:\.h)?>|<c?signal(?:\.h)?>|\b(?:std::)?signal\s*\(|\bsigaction\b|\berrno\s*=(?!=)|\bsigngam\b|\bFENV_ACCESS\b"
    rb"|\b_MM_SET_\w+|\b_mm_setcsr\b|\b__builtin_ia32_ldmxcsr\b|\b_control(?:fp|87)\w*"
)
#: What says that iterations, or copies of a function on other processors, have nothing in common.
_INDEPENDENT = re.compile(
    rb"pragma\s+(?:omp\b(?:[^\n\\]|\\[\s\S])*\b(?:simd|target|variant)\b|(?:[^\n\\]|\\[\s\S])*\b(?:ivdep|assume_safety)\b|acc\b|simd\b)"
    rb"|\b(?:par_)?unseq\b"
)
_THREADS = re.compile(r"openmp|pthread|-fiopenmp|-mp\b|tbb")
_ATTRIBUTE = re.compile(rb"__attribute(?:__)?\b|__declspec\b|\[\[|__(?:host|device|global)__|alignas")


def kept(context: Context, spot: Spot) -> Iterator[Change]:
    """An expensive function of numbers alone keeps the arguments and the result of its last call, and gives it back for the same.

    Looked at are the place itself and the functions that it calls, in whatever file they are.
    """
    looked_at = [(spot.procedure, spot.procedure.model.first)]
    for call in spot.procedure.all("call_expression"):
        looked_at += [
            (one, line_of(call))
            for one in context.program.named(text_of(field(call, "function")).rsplit("::", 1)[-1])
            if all(one is not each for each, _ in looked_at)
        ]
    for procedure, line in looked_at:
        if _is_worthwhile(procedure, context.program):
            yield _change(procedure, line, context)


def _is_worthwhile(procedure: Procedure, program: Program) -> bool:
    """True for a function that may keep its last result, that costs something, and is asked the same again and again."""
    question = f"last result {procedure.source.path}:{procedure.node.start_byte}"
    if question not in program.known_facts:
        program.known_facts[question] = False  # for a caller that asks about itself
        program.known_facts[question] = (
            _is_function_of_numbers(procedure, program)
            and _is_pure(procedure, program)
            and _is_expensive(procedure, program)
            and is_repeated(
                procedure,
                program,
                lambda call, loop, home: _is_left(call, loop, home, program),
                lambda caller: _is_worthwhile(caller, program),
            )
        )
    return program.known_facts[question]


def _is_left(call: Node, loop: Node, home: Procedure, program: Program) -> bool:
    """True where a benchmark repeats its work in a loop that no other is around, or the call can be moved out of the loop."""
    if is_repeated_on_purpose(loop, home) and next(around(loop, home), None) is None:
        return True
    return outermost(call, home, program) is not None


def _is_function_of_numbers(procedure: Procedure, program: Program) -> bool:
    """True for a function of its own with numbers as arguments and result, of which all is seen that decides how it is compiled."""
    model, text = procedure.model, procedure.source.text
    if (
        procedure.source.is_fortran
        or procedure.body is None
        or procedure.is_broken
        or model.returns is None
        or model.name == "main"
        or len(program.named(model.name)) != 1
        or {"memcmp", "memcpy", "std", model.name} & program.macros
        or program.named("memcmp")
        or program.named("memcpy")
        or _is_cpp(procedure.source, program) is None
        or not _has_plain_head(procedure, program)
    ):
        return False
    if not 0 < procedure.arity == len(model.parameters) <= _MOST_PARAMETERS:
        return False
    for one in (*model.parameters, model.returns):
        kind = of_declaration(one)
        # Of a `long double` some bytes are never set.
        if not kind.is_arithmetic or kind.name == "long double" or one.reference or one.dims:
            return False
    if any(not one.name for one in model.parameters) or procedure.parameters & procedure.addressed:
        return False
    shared = b"\n".join(each.text for each in program.sources.values())
    return (
        not _WATCHES.search(shared)
        and not _is_called_independently(procedure, program)
        and not re.search(rb"\bvolatile\b|\b_Atomic\b", text[procedure.node.start_byte : procedure.node.end_byte])
        and all(_value_of(each, procedure, program) is not None for each in procedure.all("return_statement"))
    )


def _has_plain_head(procedure: Procedure, program: Program) -> bool:
    """True for a function outside classes and templates, without attributes here or where it is declared."""
    node, text, name = procedure.node, procedure.source.text, procedure.model.name
    around = node.parent
    while around is not None and around.type in ("declaration_list", "linkage_specification", "namespace_definition"):
        around = around.parent
    guard = around is not None and around.type in ("preproc_ifdef", "preproc_if")
    if around is None or not (around.type == "translation_unit" or guard):
        return False
    declarator = field(node, "declarator")
    listed, body = field(declarator, "parameters"), procedure.body
    named = field(declarator, "declarator")
    if declarator is None or declarator.type != "function_declarator" or listed is None or named is None or body is None:
        return False
    if any(each.type != "parameter_declaration" for each in children(listed)):
        return False
    before = node.prev_named_sibling
    ahead = text[max(before.end_byte if before is not None else 0, line_start(text, node.start_byte)) : node.start_byte]
    head = text[node.start_byte : named.start_byte]
    written = [head, *(part for match in _prototypes(procedure.model.name, program) for part in match.groups())]
    if (
        ahead.strip()
        or named.type != "identifier"
        or not _BEFORE_NAME.match(head)
        or not _BEHIND_NAME.match(text[listed.end_byte : body.start_byte])
        or set(re.findall(rb"\w+", head)) & _KEEPS_NO_STATE
        or {word.decode() for each in written for word in re.findall(rb"\w+", each)} & program.macros
        or (re.search(rb"\binline\b|\b__inline", head) and b"static" not in head and not _is_cpp(procedure.source, program))
    ):
        return False
    return not any(
        _ATTRIBUTE.search(match[0])
        for one in program.sources.values()
        for match in re.finditer(rb"[^;{}]*\b%s\s*\([^;{}]*" % name.encode(), one.text)
    )


def _prototypes(name: str, program: Program) -> Iterator[re.Match[bytes]]:
    """Where the function is declared: what stands before its name and behind its parameters. Calls by themselves are among them."""
    pattern = re.compile(rb"(?:\A|[;{}\n])\s*([\w\s*]*?)\b%s\s*\([\w\s*,]*\)([^;{}()]*)" % name.encode())
    for one in program.sources.values():
        yield from pattern.finditer(one.text)


def _is_cpp(source: Source, program: Program) -> bool | None:
    """Whether a file is C++; None for a header that both include, or nobody knows who does."""
    if not source.path.endswith((".h", ".hpp", ".hh")):
        return source.is_cpp
    kinds = {
        one.language
        for one in program.sources.values()
        if not one.is_fortran and not one.path.endswith((".h", ".hpp", ".hh"))
    }
    return None if len(kinds) != 1 or kinds == {"cuda"} else kinds == {"c++"}


def _is_called_independently(procedure: Procedure, program: Program) -> bool:
    """True if a loop may call it whose iterations are promised to have nothing in common, or it may run on another processor."""
    for source in program.sources.values():
        for match in _INDEPENDENT.finditer(source.text):
            home = next(
                (one for one in source.procedures if one.node.start_byte <= match.start() < one.node.end_byte), None
            )
            if home is None or home is procedure or procedure in _below(home, program):
                return True
    return False


def _below(procedure: Procedure, program: Program) -> list[Procedure]:
    """Functions of the program that a function calls, and those that they call."""
    found: list[Procedure] = []
    todo = [procedure]
    while todo:
        for one in program.callees(todo.pop()):
            if all(one is not each for each in found):
                found.append(one)
                todo.append(one)
    return found


def _is_pure(procedure: Procedure, program: Program) -> bool:
    """True for a function of its arguments alone, as are all that it calls; it does not call itself, also not through others."""
    below = _below(procedure, program)
    if any(one is procedure for one in below):
        return False
    if any(_name_of(call) == procedure.model.name for call in procedure.all("call_expression")):
        return False
    for one in (procedure, *below):
        if one.body is None or summary(one, program) is None:
            return False
        found = effects(one.body, one, program, 1)
        own = {each.name for each in one.model.parameters} | found.declared
        if any(name in source.file.unit.variables for source in program.sources.values() for name in found.declared):
            return False  # which of both is meant where is not told
        for each in found.accesses:
            if each.procedure is one and not (_is_own(each, own) or _is_constant(each, program)):
                return False
    return True


def _name_of(call: Node) -> str:
    called = field(call, "function")
    return text_of(field(called, "field") or called).rsplit("::", 1)[-1]


def _is_own(access: Access, own: set[str]) -> bool:
    return is_own_memory(access, access.procedure) if access.memory else access.name in own


def _is_constant(access: Access, program: Program) -> bool:
    """True for a number that nothing can change: a constant of a file, an item of a constant table, a macro of the sources or of C."""
    node: Node | None = access.node
    while access.memory and node is not None and node.type in ("subscript_expression", "parenthesized_expression"):
        node = field(node, "argument") if node.type == "subscript_expression" else next(iter(children(node)), None)
    if access.write or node is None or node.type not in ("identifier", "qualified_identifier"):
        return False
    return _is_constant_name(text_of(node).rsplit("::", 1)[-1], program)


def _is_constant_name(name: str, program: Program) -> bool:
    """As `_is_constant`, for all of that name in all files, and what their values are computed from."""
    todo, seen = [name], {name}
    while todo:
        one = todo.pop()
        declared = [unit.variables[one] for unit in (each.file.unit for each in program.sources.values()) if one in unit.variables]
        defined = any(one in each.file.unit.constants for each in program.sources.values()) or _is_defined(one, program)
        if not declared and not defined and not _STANDARD.fullmatch(one):
            return False
        for each in declared:
            if each.pointers or each.reference or not each.const or each.value is None or not _is_of_constants(each.value):
                return False
            if not of_declaration(Declaration("", each.type)).is_arithmetic or _is_volatile(one, program):
                return False
            more = {part.text for part in each.value.walk() if part.kind == Kind.NAME} - seen
            seen |= more
            todo += more
    return True


def _is_of_constants(value: Expr) -> bool:
    return all(
        part.kind in (Kind.NUMBER, Kind.NAME, Kind.UNARY, Kind.BINARY)
        or (part.kind == Kind.OTHER and part.text == "initializer_list")
        for part in value.walk()
    )


def _is_defined(name: str, program: Program) -> bool:
    """True for a macro that is a number: others are not among them, they are opaque."""
    pattern = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+%s[ \t]" % re.escape(name.encode()), re.MULTILINE)
    return name not in program.macros and any(pattern.search(each.text) for each in program.sources.values())


def _is_volatile(name: str, program: Program) -> bool:
    pattern = re.compile(rb"\bvolatile\b[^;{}]*\b%s\b" % re.escape(name.encode()))
    return any(pattern.search(each.text) for each in program.sources.values())


def _is_expensive(procedure: Procedure, program: Program) -> bool:
    """True if it, or what it calls, calls mathematics of more than one instruction or has a loop."""
    for one in (procedure, *_below(procedure, program)):
        if any(True for _ in one.all(*C_LOOPS)):
            return True
        for call in effects(one.body, one, program, 1).pure_calls if one.body is not None else ():
            if not program.named(_name_of(call)) and not is_cheap(call, program):
                return True
    return False


def _value_of(statement: Node, procedure: Procedure, program: Program) -> Node | None:
    """What is returned; None where it cannot be kept: nothing, a list, or what becomes a `float` in another way than by a `double`."""
    listed = children(statement)
    if len(listed) != 1 or listed[0].type == "initializer_list" or procedure.model.returns is None:
        return None
    if of_declaration(procedure.model.returns).name == "float" and _is_mixed(program):
        kind = type_of(listed[0], procedure, program)
        return listed[0] if kind is not None and kind.name in ("float", "double") and not kind.depth else None
    return listed[0]


def _is_mixed(program: Program) -> bool:
    """True for a program of both precisions: more variables of the lower one would look as if it computed in that."""
    return any(re.search(rb"\bdouble\b", one.text) for one in program.sources.values())


def _has_threads(context: Context) -> bool:
    """True unless all is seen that might start threads."""
    project = context.project
    told = " ".join([project.build, project.run.command, project.flags.value if project.flags is not None else ""])
    return context.program.has_threads or not context.program.named("main") or _THREADS.search(told) is not None


def _change(procedure: Procedure, line: int, context: Context) -> Change:
    text, program = procedure.source.text, context.program
    cpp, mixed = bool(_is_cpp(procedure.source, program)), _is_mixed(program)
    body, returns = procedure.body, procedure.model.returns
    assert body is not None and returns is not None  # noqa: S101, PT018
    storage = "static" + ((" thread_local" if cpp else " _Thread_local") if _has_threads(context) else "")
    std = "std::" if cpp else ""
    known = b"\n".join(each.text for each in program.sources.values())
    result, flag = fresh_name("last_result", known), fresh_name("has_last", known)
    variables: dict[str, list[str]] = {}
    same, keeps = [flag], []
    for one in procedure.model.parameters:
        name, kind = one.name, " ".join(plain(one.type).split())
        last = fresh_name(f"last_{name}", known)
        if kind == "float" and mixed:
            variables.setdefault("unsigned char", []).append(f"{last}[sizeof({name})]")
            same.append(f"{std}memcmp({last}, &{name}, sizeof({name})) == 0")
            keeps.append(f"{std}memcpy({last}, &{name}, sizeof({name}));")
            continue
        variables.setdefault(kind, []).append(last)
        floating = of_declaration(one).is_floating
        same.append(f"{std}memcmp(&{last}, &{name}, sizeof({name})) == 0" if floating else f"{last} == {name}")
        keeps.append(f"{last} = {name};")
    kind = " ".join(plain(returns.type).split())
    variables.setdefault("double" if kind == "float" and mixed else kind, []).append(result)
    variables.setdefault("bool" if cpp else "int", []).append(flag)
    step = indent_step(text)
    blank = indent(text, procedure.node.start_byte) + step
    deeper = (blank + step).decode()
    tests = " && ".join(same)
    if len(blank) + len(tests) > _WIDEST_LINE:
        tests = f"\n{deeper}&& ".join(same)
    lines = [
        *(f"{storage} {kind} {', '.join(names)};" for kind, names in variables.items()),
        f"if ({tests})",
        f"{step.decode()}return {result};",
        *keeps,
        f"{flag} = {'true' if cpp else '1'};",
    ]
    edits = [_at_beginning(body, text, b"".join(blank + each.encode() + b"\n" for each in lines), blank)]
    for each in procedure.all("return_statement"):
        value = children(each)[0]
        blank_before = b"" if text[value.start_byte - 1 : value.start_byte].isspace() else b" "
        comma = value.type == "comma_expression"
        before = blank_before + f"{result} = ".encode() + (b"(" if comma else b"")
        edits.append(Edit(value.start_byte, value.start_byte, before))
        edits += [Edit(value.end_byte, value.end_byte, b")")] if comma else []
    if any("memcmp" in each for each in same):
        edits += _included("cstring" if cpp else "string.h", procedure)
    did = f"keeps the last result of {procedure.model.name} with its arguments instead of computing it again"
    return Change({procedure.source.path: tuple(edits)}, line, did)


def _at_beginning(body: Node, text: bytes, lines: bytes, blank: bytes) -> Edit:
    """The lines behind the bracket that opens a function, before what else stands there."""
    start, end = body.start_byte + 1, line_end(text, body.start_byte)
    rest = text[start:end].strip()
    if not rest or (rest.startswith(b"//") and not rest.endswith(b"\\")):
        return Edit(end, end, lines)
    return Edit(start, start, b"\n" + lines + blank)


def _included(header: str, procedure: Procedure) -> list[Edit]:
    """The header's inclusion behind others before the function that no condition can leave out; nothing where it is included."""
    text, top = procedure.source.text, procedure.node
    while top.parent is not None and top.parent.type != "translation_unit":
        top = top.parent
    places = []
    for one in nodes(top.parent, "preproc_include") if top.parent is not None else ():
        holder = one.parent
        if one.start_byte < procedure.node.start_byte and holder is not None and _holds(holder, procedure.node):
            if text_of(field(one, "path")) == f"<{header}>":
                return []
            places.append(line_end(text, one.end_byte - 1))
    line = f"#include <{header}>\n".encode()
    at = places[-1] if places else line_start(text, top.start_byte)
    return [Edit(at, at, line)]


def _holds(holder: Node, node: Node) -> bool:
    """True if what holds an inclusion holds the function as well."""
    return holder.start_byte <= node.start_byte and node.end_byte <= holder.end_byte
