"""MPI: what is sent before work that has nothing to do with it, and barriers that order nothing (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.accesses import Access
from chathpc.fix.recipes.analysis.edits import Edit, line_end, line_start, without_statement
from chathpc.fix.recipes.analysis.effects import effects
from chathpc.fix.recipes.analysis.loops import around, counted, used_after
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.reach import WHOLE, meets, reach
from chathpc.fix.recipes.analysis.syntax import (
    C_LOOPS,
    all_enclosing,
    bare,
    children,
    field,
    line_of,
    nodes,
    statements,
    text_of,
)
from chathpc.fix.recipes.recipe import Change, Context

if TYPE_CHECKING:
    from tree_sitter import Node

#: Numbers of arguments.
_ARGUMENTS = {
    "MPI_Send": 6, "MPI_Ssend": 6, "MPI_Isend": 7, "MPI_Recv": 7, "MPI_Bcast": 5, "MPI_Reduce": 7, "MPI_Allreduce": 6,
    "MPI_Gather": 8, "MPI_Barrier": 1,
}  # fmt: skip
_SENDS = frozenset({"MPI_Send", "MPI_Ssend"})
_NAMES = ("identifier", "field_identifier")
#: The variable or member that gets the number of the process.
_RANK = re.compile(rb"\bMPI_Comm_rank\s*\([^,()]+,\s*&[\w.>-]*?\b(\w+)\s*\)")
_PRINTING = frozenset({"printf", "puts", "putchar", "fputs", "fwrite", "write", "fprintf"})
#: What may show others in which order processes come by, other than by messages.
_SEEN_OUTSIDE = re.compile(
    rb"\b(?:MPI_ANY_(?:SOURCE|TAG)|MPI_(?:Win|File|Put|Get|Accumulate|I?[mM]?[pP]robe|Comm_spawn)\w*|f?open|creat|shm_\w+|mmap|ofstream|fstream|"
    rb"popen|system|usleep|nanosleep|sleep|unlink|remove|rename|mkdir|socket|kill|fork)\b\s*\(?",
)


@dataclass(frozen=True, slots=True)
class _Call:
    """One call that is a statement by itself."""

    name: str
    statement: Node
    arguments: tuple[Node, ...]


def _mpi_call(statement: Node | None) -> _Call | None:
    """The statement as one of the calls that are known; None for anything else, and where a result of it is used."""
    if statement is None or statement.type != "expression_statement":
        return None
    call = next(iter(children(statement)), None)
    if call is None or call.type != "call_expression":
        return None
    name = text_of(field(call, "function"))
    listed = children(field(call, "arguments"))
    return _Call(name, statement, tuple(listed)) if _ARGUMENTS.get(name) == len(listed) else None


def sent_early(context: Context, spot: Spot) -> Iterator[Change]:
    """Sends go in front of work that does not change what they send."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or procedure.body is None:
        return
    for listed in map(statements, procedure.all("compound_statement")):
        place = 0
        while place < len(listed):
            run = list(_run(listed[place:], procedure))
            if not run:
                place += 1
                continue
            over = _passed(run, listed[:place][::-1], procedure, program)
            place += len(run)
            heavy = [at for at, each in enumerate(over) if _is_work(each, procedure, program)]
            if not heavy:
                continue
            target = over[heavy[-1]]
            start, end = line_start(text, run[0].start_byte), line_end(text, run[-1].end_byte - 1)
            to, behind = line_start(text, target.start_byte), line_end(text, target.end_byte - 1)
            beside = text[start : run[0].start_byte] + text[run[-1].end_byte : end]
            beside += text[to : target.start_byte] + text[target.end_byte : behind]
            if beside.strip():
                continue
            yield Change(
                {spot.source.path: (Edit(to, to, text[start:end]), Edit(start, end, b""))},
                line_of(run[0]),
                f"Send before the unrelated work in line {line_of(target)}",
            )


def _run(listed: Sequence[Node], procedure: Procedure) -> Iterator[Node]:
    """The statements at the beginning that do nothing but send."""
    for each in listed:
        calls = _calls(each, procedure)
        if not calls or any(one.name not in _SENDS for one in calls):
            return
        yield each


def _parts(statement: Node) -> list[Node]:
    """The statements of a block, of both branches of a condition and of a counting loop; the statement itself for any other."""
    if statement.type == "compound_statement":
        return [one for each in children(statement) for one in _parts(each)]
    if statement.type == "if_statement":
        other = next(iter(children(field(statement, "alternative"))), None)
        arms = [each for each in (field(statement, "consequence"), other) if each is not None]
        return [one for each in arms for one in _parts(each)]
    body = field(statement, "body") if statement.type == "for_statement" else None
    return [statement] if body is None else _parts(body)


def _calls(statement: Node, procedure: Procedure) -> list[_Call]:
    """The calls of MPI that the statement is made of; none if there is anything else in it but conditions and counting loops."""
    if any(counted(each, procedure) is None for each in nodes(statement, "for_statement")):
        return []
    found = [_mpi_call(each) for each in _parts(statement)]
    return [each for each in found if each is not None] if all(found) else []


def _passed(run: Sequence[Node], over: Sequence[Node], procedure: Procedure, program: Program) -> list[Node]:
    """The statements, from the nearest on, that the run can change places with."""
    mine: list[Access] = []
    for statement in run:
        found = _of_calls(statement, procedure, program)
        if found is None:
            return []
        mine += found
    passed: list[Node] = []
    names = {one.name for one in mine if not one.memory}
    for one in run:
        names |= {text_of(each) for each in nodes(one, "identifier")} - _own_counters(one, procedure)
    for one in over:
        theirs = reach(one, procedure, program)
        if (
            theirs is None
            or theirs.declared & names
            or any(meets(a, b, program) for a in mine for b in theirs.accesses)
        ):
            break
        passed.append(one)
    return passed


def _own_counters(statement: Node, procedure: Procedure) -> set[str]:
    """Variables of the statement's loops that nobody else uses before they get a new value."""
    headers = [counted(each, procedure) for each in nodes(statement, "for_statement")]
    return {
        each.variable
        for each in headers
        if each is not None
        and (each.own or (_is_local(each.variable, procedure) and not used_after(each.variable, each.node, procedure)))
    }


def _is_local(name: str, procedure: Procedure) -> bool:
    own = procedure.declarations.get(name)
    return own is not None and not own.static and not own.reference and name not in procedure.addressed


def _of_calls(statement: Node, procedure: Procedure, program: Program) -> list[Access] | None:
    """What sends read."""
    found: list[Access] = []
    asked = [field(each, "condition") for each in nodes(statement, "if_statement")]
    own = _own_counters(statement, procedure)
    for each in nodes(statement, "for_statement"):
        header = counted(each, procedure)
        if header is None:
            return None
        asked += [header.start, header.bound]
        name = field(field(each, "initializer"), "left")
        if name is not None:
            found.append(Access(name, procedure, header.variable, False, True))
    for condition in asked:
        known = effects(condition, procedure, program) if condition is not None else None
        if known is None or not known.is_known or known.writes:
            return None
        found += known.accesses
    for call in _calls(statement, procedure):
        for each in call.arguments[:6]:
            known = effects(each, procedure, program)
            if not known.is_known or known.writes or known.jumps:
                return None
            found += known.accesses
        memory = _buffer(call.arguments[0], procedure)
        if memory is None:
            return None
        found.append(memory)
    return [each for each in found if each.memory or each.name not in own]


def _buffer(node: Node, procedure: Procedure) -> Access | None:
    """The memory that a call sends."""
    one = bare(node)
    if one is None or one.type in ("identifier", "field_expression", "subscript_expression"):
        return None if one is None else Access(one, procedure, f"{WHOLE}{text_of(one)}", True, False)
    inner = bare(field(one, "argument"))
    if inner is None or one.type != "pointer_expression" or text_of(field(one, "operator")) != "&":
        return None
    if inner.type == "identifier":
        own = procedure.declarations.get(text_of(inner))
        is_memory = own is not None and (bool(own.dims) or own.reference)
        return Access(inner, procedure, text_of(inner), is_memory, False)
    # An element stands for the array from there on.
    base = field(inner, "argument") if inner.type == "subscript_expression" else None
    return None if base is None else Access(base, procedure, f"{WHOLE}{text_of(base)}", True, False)


def _is_work(statement: Node, procedure: Procedure, program: Program, depth: int = 0) -> bool:
    """True if there is a loop in the statement, or in a function that it calls."""
    if any(True for _ in nodes(statement, *C_LOOPS)):
        return True
    if depth > 2:
        return False
    return any(
        _is_work(one.node, one, program, depth + 1)
        for call in nodes(statement, "call_expression")
        for one in program.named(text_of(field(call, "function")))
        if one is not procedure
    )


def without_barriers(context: Context, spot: Spot) -> Iterator[Change]:
    """Barriers in loops are left out where messages alone order what is seen."""
    procedure, program, text = spot.procedure, context.program, spot.source.text
    if procedure.is_broken or any(_SEEN_OUTSIDE.search(each.text) for each in program.sources.values()):
        return
    if not all(_is_of_one(one, program) for one in program.procedures):
        return
    calls = [found for each in procedure.all("expression_statement") if (found := _mpi_call(each)) is not None]
    barriers = [
        each.statement
        for each in calls
        # A function other than `main` may be called in a loop.
        if each.name == "MPI_Barrier" and (procedure.model.name != "main" or any(around(each.statement, procedure)))
    ]
    if barriers:
        yield Change(
            {spot.source.path: tuple(without_statement(each, text, b";") for each in barriers)},
            line_of(barriers[0]),
            "Drop barriers: messages alone order what processes see of each other",
        )


def _is_of_one(procedure: Procedure, program: Program) -> bool:
    """True if only one process prints: lines of several would be ordered by barriers."""
    return all(
        text_of(next(iter(children(field(call, "arguments"))), None)) == "stderr"
        or _is_left_to_one(call, procedure, program)
        or (procedure.model.name != "main" and _is_called_by_one(procedure, program))
        for call in procedure.all("call_expression")
        if text_of(field(call, "function")).removeprefix("std::") in _PRINTING
    )


def _is_called_by_one(procedure: Procedure, program: Program) -> bool:
    calls = program.calls.get(procedure.model.name, [])
    return bool(calls) and all(_is_left_to_one(call, caller, program) for caller, call in calls)


def _is_left_to_one(call: Node, procedure: Procedure, program: Program) -> bool:
    """True under a condition on the number of the process: `rank == 0` or `!rank`."""
    ranks = {name.decode() for each in program.sources.values() for name in _RANK.findall(each.text)}
    for one in all_enclosing(call, frozenset({"if_statement"}), procedure.node):
        condition = bare(field(one, "condition"))
        compares = condition is not None and text_of(field(condition, "operator")) in ("==", "!")
        if condition is not None and compares and any(text_of(each) in ranks for each in nodes(condition, *_NAMES)):
            return True
    return False
