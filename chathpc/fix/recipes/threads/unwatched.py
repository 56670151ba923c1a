"""Whether threads only ever update some memory in a parallel region: nobody there reads it, hands it on or waits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.aliases import may_overlap
from chathpc.fix.recipes.analysis.effects import Access, Effects, effects, is_library_pure
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import C_LOOPS, children, field, inside, nodes, text_of
from chathpc.fix.recipes.analysis.types import Type, declared, field_of, type_of
from chathpc.fix.recipes.threads.regions import Part, Reach, pragmas_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: What a part may hold without hiding an access: its operators and constructors are looked at as functions.
_LOOKED_AT = ("static variable", "constructor of", "assignment to")
#: Functions of the C library that touch no memory of the program but what their arguments point to.
_LIBRARY = re.compile(
    r"(?:std::)?(?:malloc|calloc|realloc|free|exit|abort|mem(?:set|cpy|move|cmp)|str(?:len|cmp|ncmp|cpy|ncpy|cat|ncat|chr|rchr|str)"
    r"|f?printf|sn?printf|fputs|puts|putchar|fputc|fflush|perror|s?rand|[dejlmn]rand48|rand_r|clock|time|clock_gettime|gettimeofday"
    r"|omp_\w+|ato[ifl]|strto\w+|f(?:read|write|gets|close|open)|isn?an|isinf|isfinite|signbit|frexpf?|ldexpf?|modff?|sincosf?|lgamma_r)"
)
#: Types of which nothing but an object itself is known to its functions.
_STANDARD = re.compile(
    r"std::(?!function|any|ref|weak|shared|unique|optional|span|\w*view)|(?:vector|string|array|deque|map|set|pair)\b(?!.*[*&])"
)
#: By these a thread has a variable of its own under the same name.
_CLAUSES = ("private", "firstprivate", "lastprivate", "reduction", "linear", "copyin", "copyprivate")


def are_unwatched(
    targets: Sequence[tuple[Procedure, Node]], written: Sequence[Access], regions: Sequence[Reach], program: Program
) -> bool:
    """True if at least one region has such updates, and in those that do nothing else touches what is updated, and nobody waits."""
    concerned = [one for one in regions if any(one.holds(node, procedure) for procedure, node in targets)]
    if not concerned or not all(any(one.holds(node, home) for one in concerned) for home, node in targets):
        return False
    parts = {(id(one.procedure), one.node.id): one for each in concerned for one in each.parts}
    for part in parts.values():
        if part.procedure.is_broken or not _is_apart(part, targets, written, program):
            return False
        if any(_names(part, home, node, targets, program) for home, node in targets):
            return False
    changed = [(part, _changed(part.node)) for part in parts.values()]
    return not any(_is_waiting(part, changed) for part in parts.values())


def _is_apart(
    part: Part, targets: Sequence[tuple[Procedure, Node]], written: Sequence[Access], program: Program
) -> bool:
    """True if no access of the part but the updates may be to what they update, as far as effects tell."""
    procedure = part.procedure
    body = procedure.body if part.node is procedure.node else part.node
    whole: Effects = effects(body or part.node, procedure, program, 1)
    if any(not each.startswith(_LOOKED_AT) for each in whole.opaque):
        return False
    own = {(home.source.path, node.start_byte, node.end_byte) for home, node in targets}
    others = [
        one for one in whole.accesses if (one.procedure.source.path, one.node.start_byte, one.node.end_byte) not in own
    ]
    for call in whole.calls:
        handed = _handed(call, procedure, program)
        if handed is None:
            return False
        others += handed
    return not any(may_overlap(mine, other, program) for mine in written for other in others)


def _handed(call: Node, procedure: Procedure, program: Program) -> list[Access] | None:
    """Memory that a function outside the program may touch: what it is handed; None where it may be any."""
    called = field(call, "function")
    if called is None or call.type != "call_expression":
        return None
    listed = children(field(call, "arguments"))
    if called.type == "field_expression":
        name = text_of(field(called, "field"))
        base = field(called, "argument")
        if program.named(name):
            return []
        one = None
        if base is not None and base.type == "identifier":
            one = declared(text_of(base), procedure, program)
        elif base is not None and base.type == "field_expression":
            one = field_of(base, procedure, program)
        if base is None or one is None or not _STANDARD.match(one.type):
            return None
        listed = [*listed, base]
    else:
        name = text_of(called)
        if program.named(name.rsplit("::", 1)[-1]):
            return []
        if not _LIBRARY.fullmatch(name) and not is_library_pure(name, procedure):
            return None
    found = []
    for each in listed:
        kind = type_of(each, procedure, program)
        if each.type not in ("string_literal", "null") and (kind is None or kind.depth or not kind.is_arithmetic):
            found.append(Access(each, procedure, text_of(each), True, True, True))
    return found


def _names(
    part: Part, home: Procedure, target: Node, targets: Sequence[tuple[Procedure, Node]], program: Program
) -> bool:
    """True if the part names what is updated elsewhere than in the updates, or has it as its own by a clause."""
    node = named_node(target)
    member = node is not None and node.type == "field_expression"
    name = last_name(target)
    is_local = not member and name in home.declarations
    if is_local and part.procedure is not home:
        return False
    member = member or (not is_local and name not in program.variables)  # of the object whose function it is
    if any(name in one.listed(*_CLAUSES) for one in pragmas_of(part)):
        return True
    spans = [one for procedure, one in targets if procedure.source.path == part.procedure.source.path]
    whose = type_of(field(node, "argument"), home, program)
    for each in nodes(part.node, "field_identifier", "identifier"):
        if text_of(each) != name or any(inside(each, one) and _is_name_of(each, one) for one in spans):
            continue
        if each.type == "field_identifier":
            if member and not _is_of_another(each, whose, part.procedure, program):
                return True
        elif name in part.procedure.declarations:
            if is_local and not _is_declared_here(each):
                return True
        elif not is_local:
            return True
    return False


def named_node(target: Node) -> Node | None:
    """The variable or member that is updated, or of which an element is."""
    node: Node | None = target
    while node is not None and node.type not in ("identifier", "field_expression"):
        node = field(node, "argument") or next(iter(children(node)), None)
    return node


def last_name(target: Node) -> str:
    """Its name, that of a member without its record."""
    node = named_node(target)
    return text_of(field(node, "field") if node is not None and node.type == "field_expression" else node)


def _is_name_of(name: Node, target: Node) -> bool:
    """True for the name of what is updated itself: not in an index."""
    node = named_node(target)
    mine = field(node, "field") if node is not None and node.type == "field_expression" else node
    return mine is not None and mine.start_byte == name.start_byte


def _is_of_another(name: Node, whose: Type | None, procedure: Procedure, program: Program) -> bool:
    """True for a member of another record."""
    around = name.parent
    base = field(around, "argument") if around is not None and around.type == "field_expression" else None
    kind = type_of(base, procedure, program)
    return (
        kind is not None
        and whose is not None
        and whose.name in program.records
        and kind.name in program.records
        and kind.name != whose.name
    )


def _is_declared_here(name: Node) -> bool:
    """True where the name stands as what is declared."""
    inner, around = name, name.parent
    while around is not None and around.type in ("pointer_declarator", "array_declarator", "reference_declarator"):
        inner, around = around, around.parent
    if around is not None and around.type == "init_declarator":
        return field(around, "declarator") == inner
    return around is not None and around.type in (
        "declaration",
        "parameter_declaration",
        "optional_parameter_declaration",
    )


def _is_waiting(part: Part, changed: Sequence[tuple[Part, frozenset[str]]]) -> bool:
    """True where a loop may wait for what other threads write: it looks at what all threads see, and does not change it itself."""
    everything = frozenset[str]().union(*(names for _, names in changed))
    for loop in nodes(part.node, *C_LOOPS):
        conditions = [field(loop, "condition"), *(field(each, "condition") for each in nodes(loop, "if_statement"))]
        called = {text_of(each) for each in nodes(loop, "identifier", "field_identifier")}
        own = _changed(loop).union(*(names for one, names in changed if one.procedure.model.name in called))
        for condition in conditions:
            for each in nodes(condition, "identifier", "field_identifier") if condition is not None else ():
                name = text_of(each)
                if name in everything - own and not (each.type == "identifier" and _is_private(name, part)):
                    return True
    return False


def _is_private(name: str, part: Part) -> bool:
    """True for a variable of a function that runs in the thread, or one that is declared in the region."""
    one = part.procedure.declarations.get(name)
    if one is None or one.static or one.reference:
        return False
    return part.node is part.procedure.node or any(
        text_of(each) == name and _is_declared_here(each) for each in nodes(part.node, "identifier")
    )


def _changed(node: Node) -> frozenset[str]:
    """Names that are assigned or counted, of variables and members."""
    found: set[str] = set()
    for each in nodes(node, "assignment_expression", "update_expression"):
        target = field(each, "left") or field(each, "argument")
        if target is not None:
            found.add(last_name(target))
    return frozenset(found)
