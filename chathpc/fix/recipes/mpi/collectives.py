"""MPI: collective calls of single numbers become one, and pairs that bring a result to one process and from there to all become one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.layout import type_size
from chathpc.fix.recipes.analysis.edits import Edit, fresh_name, indent, line_end, line_start
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.reach import reach
from chathpc.fix.recipes.analysis.syntax import bare, children, field, line_of, nodes, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.fortran.accesses import INTRINSICS, OF_ARRAYS
from chathpc.fix.recipes.fortran.loops import own_text
from chathpc.fix.recipes.fortran.statements import arguments as fortran_arguments
from chathpc.fix.recipes.fortran.statements import called, declaration, mentions
from chathpc.fix.recipes.mpi.calls import Call, blocks, is_repeated, mpi_call
from chathpc.fix.recipes.mpi.packing import ELEMENTS
from chathpc.fix.recipes.mpi.ranks import RANK, asked
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node

#: Places of what is given, of what comes back, of the count and the type, and of what has to be the same for two calls to be one.
_SINGLE: dict[str, tuple[int, int, int, tuple[int, ...]]] = {
    "MPI_Bcast": (0, 0, 1, (2, 3, 4)),
    "MPI_Reduce": (0, 1, 2, (3, 4, 5, 6)),
    "MPI_Allreduce": (0, 1, 2, (3, 4, 5)),
}
FORTRAN_TYPES = {
    "mpi_double_precision": ("real(8)", "doubleprecision", "real(dp)", "real(wp)", "real(real64)", "real(kind=8)", "real(kind=dp)", "real(r8)", "real*8"),
    "mpi_real8": ("real(8)", "doubleprecision", "real(dp)", "real(wp)", "real(real64)", "real(kind=8)", "real(kind=dp)", "real(r8)"),
    "mpi_real": ("real", "real(4)", "real(sp)"),
    "mpi_integer": ("integer", "integer(4)"),
    "mpi_integer8": ("integer(8)", "integer(int64)"),
}  # fmt: skip
_EXACT = ("MPI_MAX", "MPI_MIN", "MPI_LAND", "MPI_LOR", "MPI_BAND", "MPI_BOR", "MPI_BXOR")
_BRANCHES = ("if_statement", "switch_statement", "conditional_expression", "select_case_statement")


def merged(context: Context, spot: Spot) -> Iterator[Change]:
    """Collective calls that follow each other, of one number each and of the same kind, become one of a small array."""
    procedure, program = spot.procedure, context.program
    if procedure.has_errors or (procedure.body is not None and procedure.is_broken):
        return
    for block in blocks(procedure):
        at = 0
        while at < len(block):
            run = _run(block[at:], procedure, program)
            at = block.index(run[-1].statement) + 1 if run else at + 1
            if len(run) < 2 or not is_repeated(run[0].statement, procedure):
                continue
            if not is_for_all(run[0].statement, procedure, program):
                continue
            groups: dict[tuple[str, ...], list[Call]] = {}
            for call in run:
                groups.setdefault((call.name, *(call.word(each) for each in _SINGLE[call.name][3])), []).append(call)
            edits = [each for group in groups.values() if len(group) > 1 for each in _as_one(group, procedure, program)]
            if edits:
                yield Change(
                    {spot.source.path: tuple(edits)},
                    line_of(run[0].statement),
                    f"makes one call of {' and '.join(dict.fromkeys(each.name for each in run))} for all numbers instead of one for each",
                )


def _run(listed: Sequence[Node], procedure: Procedure, program: Program) -> list[Call]:
    """Calls of single numbers at the beginning, none of which uses what another gives. Work may stand between that uses none of it."""
    found: list[Call] = []
    given: set[str] = set()
    taken: set[str] = set()
    for statement in listed:
        call = mpi_call(statement, procedure)
        if (
            call is None
            and found
            and found[0].name != "MPI_Bcast"
            and _leaves_alone(statement, given, taken, procedure, program)
        ):
            continue
        if call is None or call.name not in _SINGLE or (found and call.name != found[0].name):
            break
        sent, back, count, _ = _SINGLE[call.name]
        values = [_number(call.arguments[each], call, procedure, program) for each in (sent, back)]
        in_place = sent != back and call.word(sent).upper() == "MPI_IN_PLACE"
        if in_place:
            values[0] = values[1]
        if call.word(count) != "1" or None in values:
            break
        source, target = (str(each) for each in values)
        if target in given or source in given or target in taken:
            break
        given.add(target)
        taken.add(source)
        found.append(call)
    return found


def _leaves_alone(statement: Node, given: set[str], taken: set[str], procedure: Procedure, program: Program) -> bool:
    """True for work that neither changes what was given to the calls before nor uses what they bring; these may wait for it."""
    if procedure.source.is_fortran:
        left = field(statement, "left")
        target = called(left) if left is not None and left.type == "call_expression" else own_text(left)
        calls = [called(each) for each in nodes(statement, "call_expression")]
        known = all(declaration(procedure, each) is not None or each in INTRINSICS | OF_ARRAYS for each in calls)
        roots = {each.split("(")[0] for each in given | taken}
        plain = statement.type == "assignment_statement" and known and bool(target)
        return plain and target not in roots and not any(mentions(statement, each.split("(")[0]) for each in given)
    if not all(name.isidentifier() and name in procedure.declarations for name in given | taken):
        return False
    done = reach(statement, procedure, program)
    if done is None:
        return False
    named = {text_of(each) for each in nodes(statement, "identifier")}
    return (
        not named & given
        and not any(one.name in taken and one.write and not one.memory for one in done.accesses)
        and not done.declared & (given | taken)
    )


def _number(node: Node, call: Call, procedure: Procedure, program: Program) -> str | None:
    """The variable or element that the call gives or takes, as it is written; None where that is not one number of the told type."""
    told = call.arguments[_SINGLE[call.name][2] + 1]
    if procedure.source.is_fortran:
        return fortran_number(node, own_text(told), procedure)
    one = bare(node)
    if one is None or one.type != "pointer_expression" or text_of(field(one, "operator")) != "&":
        return None
    element = bare(field(one, "argument"))
    kind = type_of(element, procedure, program)
    unit = procedure.source.file.unit
    if element is None or kind is None or not kind.is_arithmetic or text_of(told) not in ELEMENTS:
        return None
    if type_size(ELEMENTS[text_of(told)], unit) != type_size(kind.name, unit):
        return None
    known = effects(element, procedure, program)
    return text_of(element) if known.is_known and not known.writes else None


def fortran_number(node: Node, told: str, procedure: Procedure) -> str | None:
    """The variable or element as it is written, if it is one number of the told type."""
    name = own_text(node) if node.type == "identifier" else called(node)
    own = declaration(procedure, name) if name else None
    if own is None or told not in FORTRAN_TYPES or own.type.lower().replace(" ", "") not in FORTRAN_TYPES[told]:
        return None
    subscripts = fortran_arguments(node) if node.type == "call_expression" else []
    if len(subscripts) != own.rank or any(each.type not in ("identifier", "number_literal") for each in subscripts):
        return None
    return own_text(node).replace(" ", "")


def _as_one(group: list[Call], procedure: Procedure, program: Program) -> list[Edit]:
    text, first = procedure.source.text, group[0]
    sent, back, count, _ = _SINGLE[first.name]
    blank = indent(text, first.statement.start_byte).decode()
    fortran = procedure.source.is_fortran
    parts, results = (fresh_name(each, text) for each in ("numbers", "results"))
    targets = [_written(call.arguments[back], fortran) for call in group]
    sources = [
        target if call.word(sent).upper() == "MPI_IN_PLACE" else _written(call.arguments[sent], fortran)
        for call, target in zip(group, targets, strict=True)
    ]
    same = sent == back
    arguments = [text_of(each) for each in (*first.arguments, *((first.error,) if first.error is not None else ()))]
    arguments[sent], arguments[count] = parts, str(len(group))
    if not same:
        arguments[back] = results
    name = text_of(field(first.statement, "subroutine")) if fortran else first.name
    kind = _kind(first, procedure, program)
    if fortran:
        lines = ["block", f"  {kind} :: {parts}({len(group)})" + ("" if same else f", {results}({len(group)})")]
        lines += [f"  {parts} = [{', '.join(sources)}]"]
        lines += [f"  {results} = [{', '.join(targets)}]"] if first.name == "MPI_Reduce" else []
        lines += [f"  call {name}({', '.join(arguments)})"]
        lines += [f"  {target} = {parts if same else results}({at})" for at, target in enumerate(targets, 1)]
        lines += ["end block"]
    else:
        begun = f" = {{{', '.join(targets)}}}" if first.name == "MPI_Reduce" else ""
        lines = [
            "{",
            f"  {kind} {parts}[{len(group)}] = {{{', '.join(sources)}}}"
            + ("" if same else f", {results}[{len(group)}]{begun}")
            + ";",
        ]
        lines += [f"  {name}({', '.join(arguments)});"]
        lines += [f"  {target} = {parts if same else results}[{at}];" for at, target in enumerate(targets)]
        lines += ["}"]
    new = f"\n{blank}".join(lines).encode()
    last = group[-1].statement
    edits = [Edit(last.start_byte, last.end_byte, new)]
    for call in group[:-1]:
        start, end = line_start(text, call.statement.start_byte), line_end(text, call.statement.end_byte - 1)
        alone = not text[start : call.statement.start_byte].strip() and not text[call.statement.end_byte : end].strip()
        edits.append(
            Edit(start, end, b"")
            if alone
            else Edit(call.statement.start_byte, call.statement.end_byte, b"continue" if fortran else b";")
        )
    return edits


def _written(node: Node, fortran: bool) -> str:
    return text_of(node) if fortran else text_of(bare(field(bare(node), "argument")))


def _kind(call: Call, procedure: Procedure, program: Program) -> str:
    target = call.arguments[_SINGLE[call.name][1]]
    if procedure.source.is_fortran:
        own = declaration(procedure, own_text(target) if target.type == "identifier" else called(target))
        return own.type if own is not None else ""
    kind = type_of(bare(field(bare(target), "argument")), procedure, program)
    return kind.name if kind is not None else ""


def is_for_all(statement: Node, procedure: Procedure, program: Program, depth: int = 0) -> bool:
    """True if the processes come by together: no condition around it, or around calls of its procedure, asks which process it is."""
    one = statement.parent
    while one is not None and one != procedure.node:
        if one.type in _BRANCHES and _asks_rank(one, procedure, program):
            return False
        one = one.parent
    name = procedure.model.name
    if depth > 3 or name in ("main", "") or procedure.node.type == "program":
        return depth <= 3
    if procedure.source.is_fortran:
        calls = [
            (each, node)
            for each in program.procedures
            for node in each.all("subroutine_call", "call_expression")
            if called(node) == name and each is not procedure
        ]
    else:
        calls = program.calls.get(name, [])
    return name not in program.handed_on and all(is_for_all(call, caller, program, depth + 1) for caller, call in calls)


def _asks_rank(branch: Node, procedure: Procedure, program: Program) -> bool:
    condition = field(branch, "condition") or next(iter(children(branch)), None)
    names = {
        own_text(each) if procedure.source.is_fortran else text_of(each)
        for each in nodes(condition or branch, "identifier")
    }
    if procedure.source.is_fortran:
        return bool(names & _fortran_ranks(program)) or not _fortran_ranks(program)
    if any(True for _ in nodes(condition or branch, "field_expression")):
        return True
    plain = {name for name in names if name not in program.macros}
    return any(asked(name, RANK, procedure, program) or _may_depend(name, procedure, program) for name in plain)


def _may_depend(name: str, procedure: Procedure, program: Program) -> bool:
    """True if a variable may be made from the number of the process, as far as its values tell."""
    if name in procedure.parameters or name not in procedure.declarations:
        return name not in procedure.parameters or "rank" in name or name in ("me", "id", "myid", "pid")
    return any(
        value is None or any(asked(text_of(each), RANK, procedure, program) for each in nodes(value, "identifier"))
        for value in procedure.assigned.get(name, [])
    )


def _fortran_ranks(program: Program) -> frozenset[str]:
    return frozenset(
        own_text(listed[1])
        for one in program.procedures
        for node in one.all("subroutine_call")
        if called(node) == "mpi_comm_rank" and len(listed := fortran_arguments(node)) > 1
    )


def for_all(context: Context, spot: Spot) -> Iterator[Change]:
    """`MPI_Reduce` and `MPI_Bcast` of the result become `MPI_Allreduce`, `MPI_Gather` and `MPI_Bcast` become `MPI_Allgather`."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.has_errors or (procedure.body is not None and procedure.is_broken):
        return
    for block in blocks(procedure):
        for one, other in pairwise(block):
            first, second = mpi_call(one, procedure), mpi_call(other, procedure)
            if (
                first is None
                or second is None
                or not is_repeated(one, procedure)
                or second.name != "MPI_Bcast"
                or not is_for_all(one, procedure, program)
            ):
                continue
            found = (
                _reduced(first, second, context)
                if first.name == "MPI_Reduce"
                else _gathered(first, second)
                if first.name == "MPI_Gather"
                else None
            )
            if found is None:
                continue
            name, arguments, rest, semantics = found
            fortran = procedure.source.is_fortran
            listed = [text[each.start_byte : each.end_byte].decode() for each in arguments]
            listed += [text_of(first.error)] if first.error is not None else []
            written = f"call {name}({', '.join(listed)})" if fortran else f"{name}({', '.join(listed)});"
            if rest and fortran:
                continue
            start, end = line_start(text, other.start_byte), line_end(text, other.end_byte - 1)
            gone = Edit(start, end, indent(text, other.start_byte) + rest.encode() + b"\n" if rest else b"")
            yield Change(
                {spot.source.path: (Edit(one.start_byte, one.end_byte, written.encode()), gone)},
                line_of(one),
                f"calls {name} instead of {first.name} and MPI_Bcast",
                semantics,
            )


_Found = tuple[str, tuple["Node", ...], str, Semantics]


def _reduced(first: Call, second: Call, context: Context) -> _Found | None:
    whole = "INT" in first.word(3).upper() or "LONG" in first.word(3).upper()
    exact = whole or first.word(4).upper() in _EXACT
    same = [first.word(1), first.word(2), first.word(3), first.word(5), first.word(6)] == [
        second.word(each) for each in range(5)
    ]
    if not same or first.word(0).upper() == "MPI_IN_PLACE" or not (exact or context.may_round):
        return None
    return (
        "MPI_Allreduce",
        (*first.arguments[:5], first.arguments[6]),
        "",
        "exact" if exact else "reassociates floating point",
    )


def _gathered(first: Call, second: Call) -> _Found | None:
    same = [first.word(3), first.word(5), first.word(6), first.word(7)] == [second.word(each) for each in (0, 2, 3, 4)]
    if not same or first.word(0).upper() == "MPI_IN_PLACE":
        return None
    total, part = second.word(1), first.word(4)
    arguments = (*first.arguments[:6], first.arguments[7])
    sides = total.split("*")
    if len(sides) == 2 and part in sides:
        return "MPI_Allgather", arguments, "", "exact"
    return None
