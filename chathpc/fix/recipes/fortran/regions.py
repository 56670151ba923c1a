"""What runs in a parallel region of free-form Fortran, and whether threads there only ever update some variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.model import Declaration
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, field, inside, line_of, nodes, text_of
from chathpc.fix.recipes.fortran.accesses import INTRINSICS, OF_ARRAYS, is_safe
from chathpc.fix.recipes.fortran.statements import called, named_argument

if TYPE_CHECKING:
    from tree_sitter import Node

_PROCEDURES = frozenset({"subroutine", "function", "program", "module_procedure"})
#: Functions and subroutines of the language and of OpenMP that touch nothing but their arguments.
_LANGUAGE = frozenset(
    {
        "allocated", "present", "len", "len_trim", "trim", "adjustl", "adjustr", "index", "char", "ichar", "achar", "iachar", "repeat",
        "cmplx", "aimag", "conjg", "atan2", "shape", "shiftl", "shiftr", "btest", "ibset", "ibclr", "ishftc", "not", "any", "all",
        "count", "transfer", "reshape", "spread", "minloc", "maxloc", "isnan", "logical", "log_gamma", "exponent", "fraction", "nearest",
        "cpu_time", "system_clock", "date_and_time", "random_number", "move_alloc", "ieor", "popcnt", "selected_real_kind",
    }
)  # fmt: skip
#: What makes other names of a variable, or other ways to it, possible.
_POINTED = re.compile(r"=>\s*(?!null\b)", re.IGNORECASE)
_HARMLESS = re.compile(r"\s*(?:use\b|procedure\b|generic\b)", re.IGNORECASE)
_REFUSED = re.compile(
    r"^\s*!\$omp\s+(?:.*\b(?:task|taskloop|target|flush)\b)|^\s*!\$acc\b|^\s*(?:namelist|final|equivalence|common)\b"
    r"|^\s*interface\s+(?:operator|assignment)\b|^\s*(?:associate|include)\b|^\s*select\s+type\b|^\s*#|\bvolatile\b",
    re.IGNORECASE | re.MULTILINE,
)
#: A line that is compiled with OpenMP only, and a comment for the parser.
_CONDITIONAL = re.compile(r"\s*!\$\s+(.*)")
_CLAUSE = re.compile(r"\b(?:private|firstprivate|lastprivate|reduction|linear|copyin|copyprivate)\s*\(([^)]*)\)")


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What is updated: where it stands, and the name of the variable or of the component."""

    procedure: Procedure
    node: Node
    name: str
    member: bool


def declared(target: Target, program: Program) -> Declaration | None:
    """How a variable or component is declared, be it in a procedure around; None where that is not known."""
    if target.member:
        found = [one for record in program.records.values() for one in record.fields if one.name == target.name]
        same = {(one.type, one.pointers, len(one.dims)) for one in found}
        return found[0] if len(same) == 1 and not found[0].pointers else None
    home = target.procedure
    around = [one for one in program.procedures if one.source is home.source and inside(home.node, one.node)]
    for one in sorted(around, key=lambda each: -each.node.start_byte):
        own = one.model.declared(target.name)
        if own is not None:
            return own
    return home.source.file.unit.variables.get(target.name) or program.variables.get(target.name)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Lines of a procedure that threads may be in at the same time."""

    procedure: Procedure
    first: int
    last: int

    def all(self, *kinds: str) -> Iterator[Node]:
        """Nodes of some kinds in the lines."""
        return (one for one in self.procedure.all(*kinds) if self.first <= line_of(one) <= self.last)

    def holds(self, target: Target) -> bool:
        """True if the target stands in the lines."""
        return target.procedure is self.procedure and self.first <= line_of(target.node) <= self.last


def is_own(node: Node, procedure: Procedure) -> bool:
    """True for what stands in the procedure itself, not in one that it contains."""
    one = node.parent
    while one is not None and one.type not in _PROCEDURES:
        one = one.parent
    return one == procedure.node


def are_unwatched(targets: Sequence[Target], program: Program) -> bool:
    """True if a parallel region has such updates, and all that may run in such regions does nothing else with what they update."""
    texts = [one.text.decode("utf-8", "replace") for one in program.sources.values()]
    if any(_REFUSED.search(text) for text in texts) or any(not one.is_fortran for one in program.sources.values()):
        return False
    known = {one.name for one in targets} | {one.model.name for one in program.procedures}
    for text in texts:
        for line in text.splitlines():
            hidden = _CONDITIONAL.match(line)
            if hidden and known & set(re.findall(r"\w+", hidden[1].lower())):
                return False
            pointed = _POINTED.search(line.split("!")[0])
            if pointed and not _HARMLESS.match(line):
                return False
            if pointed and any(re.search(rf"\b{one.name}\b", line, re.IGNORECASE) for one in targets):
                return False
    concerned: list[list[Part]] = []
    for procedure in program.procedures:
        for region in procedure.model.regions:
            if re.match(r"parallel\b", region.words) is None:
                continue
            reach = _reach(Part(procedure, region.first, region.last), program)
            if any(part.holds(one) for one in targets for part in reach):
                concerned.append(reach)
    parts = list({(id(one.procedure), one.first, one.last): one for each in concerned for one in each}.values())
    if not parts or not all(any(part.holds(one) for part in parts) for one in targets):
        return False
    if not all(is_safe(one.procedure) and _is_followed(one, program) for one in parts):
        return False
    named = _with_arguments(targets, parts, program)
    if named is None:
        return False
    names, handed = named
    allowed = [*((one.procedure, one.node) for one in targets), *handed]
    if any(_mentions(part, names, allowed, program) for part in parts):
        return False
    changed = frozenset[str]().union(*(_assigned(part) for part in parts))
    return not any(_is_waiting(part, changed) for part in parts)


def _reach(part: Part, program: Program) -> list[Part]:
    """The lines, and all procedures that they name, with those that these name."""
    found = [part]
    known: set[int] = set()
    todo = [part]
    while todo:
        one = todo.pop()
        for each in one.all("identifier", "type_member"):
            for other in program.named(text_of(each).lower()):
                if id(other) not in known and other.source.is_fortran and other.node.type != "program":
                    known.add(id(other))
                    found.append(Part(other, other.model.first, other.model.last))
                    todo.append(found[-1])
    return found


def _is_followed(part: Part, program: Program) -> bool:
    """True if all that the lines call is in the program, or in the language."""
    for node in part.all("subroutine_call", "call_expression"):
        base = field(node, "subroutine") if node.type == "subroutine_call" else next(iter(children(node)), None)
        if base is None:
            return False
        if base.type == "call_expression":
            continue  # a component's element, or a part of a text
        member = base.type == "derived_type_member_expression"
        name = text_of(children(base)[-1] if member else base).lower()
        if len(program.named(name)) == 1:
            continue
        if member:
            if node.type == "call_expression" and any(
                one.name == name for record in program.records.values() for one in record.fields
            ):
                continue
            return False
        if node.type == "call_expression":
            known = declared(Target(part.procedure, node, name, False), program)
            if (known is not None and (known.dims or known.type.startswith("character"))) or name in program.records:
                continue
        if name not in INTRINSICS | OF_ARRAYS | _LANGUAGE and not name.startswith("omp_"):
            return False
    return True


#: Names of variables by the procedure that has them (None: any), and of components.
_Names = set[tuple[int | None, str]]


def _with_arguments(
    targets: Sequence[Target], parts: Sequence[Part], program: Program
) -> tuple[tuple[_Names, set[str]], list[tuple[Procedure, Node]]] | None:
    """All names of what is updated, also those by which callers hand it in, with the arguments that do so; None where it is not known."""
    variables: _Names = set()
    members: set[str] = set()
    handed: list[tuple[Procedure, Node]] = []
    todo: list[tuple[Procedure, str]] = []
    for one in targets:
        if one.member:
            members.add(one.name)
        else:
            todo.append((one.procedure, one.name))
    while todo:
        procedure, name = todo.pop()
        is_own_name = any(each.name == name for each in (*procedure.model.declarations, *procedure.model.parameters))
        key = (id(procedure) if is_own_name else None, name)
        if key in variables:
            continue
        variables.add(key)
        listed = [each.name for each in procedure.model.parameters]
        if name not in listed:
            continue
        for part in parts:
            for call in part.all("subroutine_call", "call_expression"):
                if called(call) != procedure.model.name:
                    continue
                given = named_argument(call, name, listed.index(name))
                if given is None:
                    return None
                base = next(iter(children(given)), None) if given.type == "call_expression" else given
                if base is None or base.type not in ("identifier", "derived_type_member_expression"):
                    return None
                handed.append((part.procedure, given))
                if base.type == "identifier":
                    todo.append((part.procedure, text_of(base).lower()))
                else:
                    members.add(text_of(children(base)[-1]).lower())
    return (variables, members), handed


def _mentions(
    part: Part, names: tuple[_Names, set[str]], allowed: Sequence[tuple[Procedure, Node]], program: Program
) -> bool:
    """True where the part uses one of the names elsewhere than where that is allowed, or has it as its own by a clause."""
    variables, members = names
    home = part.procedure
    own = {one.name for one in (*home.model.declarations, *home.model.parameters)}
    plain = {name for _, name in variables}
    for region in home.model.regions:
        if part.first <= region.first <= part.last:
            listed = {each.strip() for found in _CLAUSE.findall(region.words) for each in re.split(r"[,:]", found)}
            if listed & plain:
                return True
    here = [node for procedure, node in allowed if procedure.source is home.source]
    for each in part.all("identifier", "type_member"):
        name = text_of(each).lower()
        if each.type == "type_member":
            if name not in members:
                continue
        elif (id(home), name) not in variables and (
            name not in plain or (name in own and (None, name) not in variables)
        ):
            continue  # what a procedure does not declare may be that of one around it
        if any(inside(each, one) and each.end_byte <= _base_end(one) for one in here):
            continue
        if not _is_declaration(each):
            return True
    return _takes_records(part, members, program)


def _base_end(node: Node) -> int:
    """Where the name of what is updated ends: its indices are read."""
    first = next(iter(children(node)), None) if node.type == "call_expression" else node
    return first.end_byte if first is not None else node.end_byte


def _is_declaration(node: Node) -> bool:
    one: Node | None = node
    while one is not None and one.type not in ("subroutine", "function", "program", "module"):
        if one.type in ("variable_declaration", "subroutine_statement", "function_statement", "use_statement"):
            return True
        one = one.parent
    return False


def _takes_records(part: Part, members: set[str], program: Program) -> bool:
    """True where a record that may have such components is assigned or written as a whole."""
    home = part.procedure
    if not members:
        return False
    declared = [*home.model.declarations, *home.model.parameters, *program.variables.values()]
    declared += [one for record in program.records.values() for one in record.fields]
    records = {one.name for one in declared if one.type.startswith(("type(", "class("))}
    for each in part.all("assignment_statement", "print_statement", "write_statement"):
        for one in nodes(each, "identifier", "type_member"):
            whole: Node | None = one
            while (
                whole is not None
                and whole.parent is not None
                and (
                    (
                        whole.parent.type == "derived_type_member_expression"
                        and one.type == "type_member"
                        and children(whole.parent)[-1] == whole
                    )
                    or (whole.parent.type == "call_expression" and children(whole.parent)[0] == whole)
                )
            ):
                whole = whole.parent
            if text_of(one).lower() not in records or whole is None or whole.parent is None:
                continue
            if whole.parent.type not in ("derived_type_member_expression", "argument_list"):
                return True
    return False


def _is_waiting(part: Part, changed: frozenset[str]) -> bool:
    """True where a loop without a counter may wait for what other threads write."""
    home = part.procedure
    own = {one.name for one in home.model.declarations} if part.first == home.model.first else set()
    for loop in home.model.loops:
        if loop.counted or not part.first <= loop.first <= part.last:
            continue
        lines = Part(home, loop.first, loop.last)
        others = changed - _assigned(lines) - own
        for node in lines.all("if_statement", "elseif_clause", "while_statement"):
            condition = next((each for each in node.named_children if each.type == "parenthesized_expression"), node)
            if any(text_of(each).lower() in others for each in nodes(condition, "identifier", "type_member")):
                return True
    return False


def _assigned(part: Part) -> frozenset[str]:
    """Names of variables and components that are assigned in the lines."""
    found: set[str] = set()
    for node in part.all("assignment_statement"):
        target = field(node, "left")
        if target is not None and target.type == "call_expression":
            target = next(iter(children(target)), None)
        if target is not None and target.type == "derived_type_member_expression":
            target = children(target)[-1]
        found.add(text_of(target).lower())
    return frozenset(found)
