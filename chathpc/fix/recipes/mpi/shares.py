"""MPI: iterations that are dealt out in blocks are dealt out in turn, so that every process gets long and short ones (C and C++)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_expressions import expression
from chathpc.diagnosis.source.model import Expr, Kind
from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.edits import Edit, line_end, line_start
from chathpc.fix.recipes.analysis.effects import Effects, effects
from chathpc.fix.recipes.analysis.loops import Counted, counted, loops_of, used_after
from chathpc.fix.recipes.analysis.program import Procedure, Program, Spot
from chathpc.fix.recipes.analysis.reductions import adding
from chathpc.fix.recipes.analysis.syntax import bare, children, field, inside, line_of, nodes, statements, text_of
from chathpc.fix.recipes.analysis.types import type_of
from chathpc.fix.recipes.mpi.assembled import is_assembled
from chathpc.fix.recipes.mpi.block_bounds import Bounds, Setting, names_in, needed, settled
from chathpc.fix.recipes.mpi.collectives import is_for_all
from chathpc.fix.recipes.mpi.helper_bounds import of_calls
from chathpc.fix.recipes.mpi.ranks import RANK, SIZE, names_of
from chathpc.fix.recipes.recipe import Change, Context, Semantics

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Share:
    """A loop over the own block of what all processes share: from `first` to `whole` by all of them."""

    loop: Counted
    rank: str
    size: str
    first: int
    whole: str


def in_turn(context: Context, spot: Spot) -> Iterator[Change]:
    """`for (k = my_first; k < my_last; k++)` becomes `for (k = rank; k < n; k += size)` where only sums over all processes are used."""
    procedure, program = spot.procedure, context.program
    if procedure.is_broken or b"MPI_" not in b"".join(each.text for each in program.sources.values()):
        return
    ranks, sizes = names_of(RANK, procedure, program), names_of(SIZE, procedure, program)
    if not ranks or not sizes:
        return
    for node in loops_of(procedure):
        header = counted(node, procedure)
        if header is None or header.step != 1 or header.operator not in ("<", "<="):
            continue
        share = _share(header, ranks[0], sizes[0], procedure, program)
        if (
            share is None
            or not is_for_all(node, procedure, program)
            or (not header.own and used_after(header.variable, node, procedure))
        ):
            continue
        exact = _is_for_all(share, procedure, program)
        if exact is None or not (exact or context.may_round):
            continue
        semantics: Semantics = "exact" if exact else "reassociates floating point"
        yield Change(
            {spot.source.path: _edits(share, procedure)},
            line_of(node),
            f"deals the iterations over {header.variable} out in turn instead of in blocks",
            semantics,
        )


def _edits(share: Share, procedure: Procedure) -> tuple[Edit, ...]:
    loop, text = share.loop, procedure.source.text
    head = text[slice(*loop.header)].decode()
    declared = (
        head[: len(head) - len(head.lstrip())] + re.split(rf"\b{loop.variable}\b", head.lstrip())[0] if loop.own else ""
    )
    start = share.rank if share.first == 0 else f"{share.first} + {share.rank}"
    new = f"{declared}{loop.variable} = {start}; {loop.variable} < {share.whole}; {loop.variable} += {share.size}"
    edits = [Edit(*loop.header, new.encode())]
    edits += _unused(
        {text_of(each) for side in (loop.start, loop.bound) for each in nodes(side, "identifier")}, share, procedure
    )
    return tuple(edits)


def _unused(names: set[str], share: Share, procedure: Procedure) -> list[Edit]:
    """Declarations of bounds that nothing else uses, and of what only these are made from."""
    text = procedure.source.text
    gone: list[Node] = []
    while True:
        found = [each for each in procedure.all("declaration") if each not in gone]
        more = [each for each in found if _is_unused(each, names, gone, share, procedure)]
        if not more:
            break
        gone += more
        names = names | {text_of(each) for one in more if not _calls(one) for each in nodes(one, "identifier")}
    return [Edit(line_start(text, each.start_byte), line_end(text, each.end_byte - 1), b"") for each in gone]


def _calls(node: Node) -> bool:
    return any(True for _ in nodes(node, "call_expression"))


def _is_unused(node: Node, names: set[str], gone: list[Node], share: Share, procedure: Procedure) -> bool:
    """True for a declaration with lines of its own, of such names that only `gone` and the loop's header use."""
    text = procedure.source.text
    listed = node.children_by_field_name("declarator")
    own = [text_of(field(each, "declarator")) for each in listed if each.type == "init_declarator"]
    if (
        len(own) != len(listed)
        or not set(own) & names
        or node.parent is None
        or node.parent.type != "compound_statement"
    ):
        return False
    low, high = share.loop.header
    if any(
        not any(inside(each, one) for one in (node, *gone)) and not low <= each.start_byte < high
        for name in own
        for each in procedure.identifiers.get(name, ())
    ):
        return False
    start, end = line_start(text, node.start_byte), line_end(text, node.end_byte - 1)
    return (
        not (gone and _calls(node))
        and not text[start : node.start_byte].strip()
        and not text[node.end_byte : end].strip()
        and not {share.rank, share.size, share.whole} & set(own)
    )


def _share(header: Counted, rank: str, size: str, procedure: Procedure, program: Program) -> Share | None:
    """What the bounds come to, if all processes have blocks of it that follow each other."""
    low, high = expression(header.start), expression(header.bound)
    before: list[Setting] = []
    for each in _before(header.node, procedure):
        called = of_calls(each, program, settings)
        before += settings(each) if called is None else called
    relevant = needed(before, low, high)
    kept = settled(relevant, low, high, lambda name, mine: _are_all(name, mine, procedure))
    if kept is None:
        return None
    bounded = Bounds(low, high, header.operator == "<=", tuple(kept), _plain(rank), _plain(size))
    if any(not _is_settled(each, kept, header, procedure) for each in bounded.free):
        return None
    found = bounded.shared()
    return None if found is None else Share(header, rank, size, *found)


def _plain(name: str) -> str:
    """As members are written in the model: with a dot."""
    return name.replace("->", ".")


def _is_settled(name: str, kept: list[Setting], header: Counted, procedure: Procedure) -> bool:
    """True if a variable gets all its values before it is first used for the bounds."""
    using = [one.at for one in kept if name in one.names]
    first = min([*using, header.node.start_byte])
    return all(each.start_byte < first and _is_plainly_given(each) for each in _given(name, procedure))


def _is_plainly_given(node: Node) -> bool:
    parent = node.parent
    if parent is None or parent.type != "pointer_expression":
        return True
    return parent.parent is not None and parent.parent.type == "argument_list"


def _are_all(name: str, mine: list[Setting], procedure: Procedure) -> bool:
    """True if the variable gets no other values than these."""
    return "." in name or len(_given(name, procedure)) == len({one.at for one in mine})


def _before(loop: Node, procedure: Procedure) -> Iterator[Node]:
    """Statements that are done before the loop, in blocks around it."""
    around: list[list[Node]] = []
    one = loop
    while one.parent is not None and one != procedure.body:
        if one.parent.type == "compound_statement":
            around.append([each for each in children(one.parent) if each.end_byte <= one.start_byte])
        one = one.parent
    for listed in reversed(around):
        yield from listed


def settings(statement: Node) -> list[Setting]:
    """Names that the statement gives a value, also under a condition."""
    found: list[Setting] = []
    if statement.type == "declaration":
        for each in statement.children_by_field_name("declarator"):
            name, given = field(each, "declarator"), field(each, "value")
            if each.type == "init_declarator" and name is not None and given is not None:
                found.append(Setting(text_of(name), expression(given), None, True, statement.start_byte))
    elif statement.type == "expression_statement":
        inner = next(iter(children(statement)), None)
        name, given = field(inner, "left"), field(inner, "right")
        if (
            inner is not None
            and inner.type == "assignment_expression"
            and name is not None
            and name.type == "identifier"
        ):
            operator, new = text_of(field(inner, "operator")), expression(given)
            if operator in ("+=", "-="):
                new = Expr(Kind.BINARY, operator[0], None, (expression(name), new))
            if operator in ("=", "+=", "-="):
                found.append(Setting(text_of(name), new, None, True, statement.start_byte))
        elif inner is not None and inner.type == "update_expression" and (of := field(inner, "argument")) is not None:
            step = expression(inner)
            new = Expr(Kind.BINARY, step.text[:1], None, step.parts)
            found.append(Setting(text_of(of), new, None, True, statement.start_byte))
    elif statement.type == "if_statement":
        condition = expression(bare(field(statement, "condition")))
        for arm, holds in ((field(statement, "consequence"), True), (field(statement, "alternative"), False)):
            if arm is not None and arm.type == "else_clause":
                arm = next(iter(children(arm)), None)
            inside_it = [one for each in statements(arm) for one in settings(each)]
            if any(one.condition is not None for one in inside_it) or {one.name for one in inside_it} & names_in(
                condition
            ):
                return []
            found += [replace(one, condition=condition, holds=holds) for one in inside_it]
    return found


def _given(name: str, procedure: Procedure) -> list[Node]:
    """Where a variable gets a value."""
    found = []
    for node in procedure.identifiers.get(name, ()):
        parent = node.parent
        if parent is None:
            continue
        if parent.type in ("assignment_expression", "init_declarator"):
            if node in (field(parent, "left"), field(parent, "declarator")):
                found.append(node)
        elif parent.type == "update_expression" or (
            parent.type == "pointer_expression" and text_of(field(parent, "operator")) == "&"
        ):
            found.append(node)
    return found


def _is_for_all(share: Share, procedure: Procedure, program: Program) -> bool | None:
    """Whether the loop only gathers what is summed over all processes: True if sums stay the same to the last bit, None if not at all."""
    loop = share.loop
    inner = effects(loop.body, procedure, program)
    if not inner.is_known or inner.jumps - {"continue"} or inner.pragmas:
        return None
    exact = True
    arrays: set[str] = set()
    for one in inner.writes:
        if not one.memory:
            if one.name in inner.declared:
                continue
            kind = type_of(one.node, procedure, program)
            if kind is None or not kind.is_arithmetic or not _is_summed(one.name, inner, share, procedure):
                return None
            exact = exact and kind.is_integer
            continue
        name = _own_element(one.node, loop.variable)
        if name is None:
            return None
        arrays.add(name)
    for name in arrays:
        reads = [one for one in inner.accesses if name in {text_of(each) for each in nodes(one.node, "identifier")}]
        if any(one.memory and _own_element(one.node, loop.variable) != name for one in reads):
            return None
        if _is_read_otherwise(name, inner, program):
            return None
        if not is_assembled(name, share.loop.node, share.whole, procedure, program):
            return None
    names = {text_of(each) for each in nodes(loop.body, "identifier")}
    changing = {one.name for one in inner.writes if not one.memory}
    if names & {share.rank} or changing & {share.whole, share.rank, share.size} or loop.variable in changing:
        return None
    return exact if arrays or changing - inner.declared else None


def _words(node: Node) -> set[str]:
    return {text_of(each) for each in nodes(node, "identifier")}


def _own_element(node: Node, variable: str) -> str | None:
    """The array of which an iteration writes its own element."""
    index, base = field(node, "index") or field(node, "indices"), field(node, "argument")
    if node.type != "subscript_expression" or base is None or base.type != "identifier":
        return None
    written = bare(
        index if index is None or index.type != "subscript_argument_list" else next(iter(children(index)), None)
    )
    return text_of(base) if text_of(written) == variable else None


def _is_read_otherwise(name: str, inner: Effects, program: Program) -> bool:
    """True if elements of the array may be read under another name."""
    written = [one for one in inner.writes if one.memory and name in _words(one.node)]
    others = [one for one in inner.accesses if one.memory and not one.write and name not in _words(one.node)]
    return any(may_overlap(one, other, program) for one in written for other in others)


def _is_summed(name: str, inner: Effects, share: Share, procedure: Procedure) -> bool:
    """True if the variable is only added to in the loop, and then summed over all processes and not used otherwise."""
    if name not in procedure.declarations or name in procedure.parameters or procedure.declarations[name] is None:
        return False
    if any(adding(one.node, name) != "+" for one in inner.accesses if not one.memory and one.name == name):
        return False
    summed = 0
    for node in procedure.identifiers.get(name, ()):
        if inside(node, share.loop.body):
            continue
        parent = node.parent
        if parent is None or (parent.type == "init_declarator" and field(parent, "declarator") == node):
            continue
        if parent.type == "declaration" or (
            parent.type == "assignment_expression"
            and field(parent, "left") == node
            and text_of(field(parent, "operator")) == "="
        ):
            continue
        if not _is_sum_of(parent, node.start_byte > share.loop.node.end_byte):
            return False
        summed += 1
    return summed == 1


def _is_sum_of(address: Node, behind: bool) -> bool:
    """True for `&s` as what `MPI_Reduce` or `MPI_Allreduce` sums."""
    listed = address.parent
    call = listed.parent if listed is not None and listed.type == "argument_list" else None
    if call is None or not behind or text_of(field(call, "function")) not in ("MPI_Reduce", "MPI_Allreduce"):
        return False
    arguments = children(listed)
    return (
        len(arguments) > 5
        and arguments[0] == address
        and "MPI_SUM" in map(text_of, arguments)
        and text_of(arguments[-1]) == "MPI_COMM_WORLD"
    )
