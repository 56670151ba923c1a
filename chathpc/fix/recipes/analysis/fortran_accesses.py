"""What statements of free-form Fortran read, write and call. Names that differ are different memory.

That is Fortran's rule for dummy arguments (Fortran 2018, 15.5.2.13); see `Procedure.unstable` for where it does not hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chathpc.fix.recipes.analysis.accesses import Access, Effects
from chathpc.fix.recipes.analysis.program import Procedure, Program
from chathpc.fix.recipes.analysis.syntax import children, control, field, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Intrinsic functions that take many times as long as an addition.
COSTLY = frozenset(
    {
        "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "erf",
        "erfc", "gamma",
    }
)  # fmt: skip
#: Those that only compute: nothing but their result comes of a call.
INTRINSICS = COSTLY | frozenset(
    {
        "abs", "min", "max", "sqrt", "mod", "modulo", "int", "nint", "floor", "ceiling", "real", "dble", "sign",
        "merge", "size", "aint", "anint", "hypot", "iand", "ior", "ieor", "ishft", "epsilon", "tiny", "huge", "kind",
        "ubound", "lbound", "dim",
    }
)  # fmt: skip
#: Those of whole arrays.
OF_ARRAYS = frozenset({"sum", "product", "maxval", "minval", "dot_product", "norm2", "matmul", "transpose"})
#: What holds others and does nothing else, or says what a procedure has.
_HOLDERS = frozenset(
    {
        "subroutine", "function", "program", "if_statement", "elseif_clause", "else_clause", "select_case_statement",
        "selector", "case_statement", "case_value_range_list", "where_statement", "elsewhere_clause", "do_statement",
        "do_loop", "while_statement", "concurrent_statement", "concurrent_header", "concurrent_control", "loop_control_expression",
        "end_do_label_loop_statement", "parenthesized_expression", "math_expression", "unary_expression",
        "relational_expression", "logical_expression", "concatenation_expression", "argument_list", "array_literal",
        "complex_literal", "extent_specifier",
    }
)  # fmt: skip
_SILENT = frozenset(
    {
        "subroutine_statement", "function_statement", "program_statement", "variable_declaration", "use_statement",
        "implicit_statement", "parameter_statement", "variable_modification", "internal_procedures", "name",
        "number_literal", "string_literal", "boolean_literal", "statement_label", "statement_label_reference",
        "do_label_virtual", "block_label_start_expression", "default",
    }
)  # fmt: skip
_JUMPS = {"exit": "break", "cycle": "continue", "return": "return"}


def step(node: Node, mode: str, found: Effects, procedure: Procedure, program: Program) -> list[tuple[Node, str]]:
    """Notes what one node does, and gives what is in it with what is done with that: it is read or written."""
    kind = node.type
    if kind == "comment":
        words = text_of(node)
        if words.startswith("!$ "):  # a statement for compilers with OpenMP
            found.opaque.append(kind)
        elif words.startswith("!$"):
            found.pragmas.append(node)
        return []
    if kind == "keyword_statement":
        word, *label = text_of(node).split()
        if word in _JUMPS:
            found.jumps.add("goto" if label else _JUMPS[word])
        elif word != "continue":
            found.opaque.append(word)
        return []
    if kind in _SILENT or (kind.startswith("end_") and kind != "end_do_label_loop_statement"):
        return []
    if kind == "assignment_statement":
        left, right = field(node, "left"), field(node, "right")
        if left is not None and right is not None:
            return [(right, "read"), (left, "write")]
    if kind == "subroutine_call":
        found.calls.append(node)
        return [(each, "read") for part in children(node) if part.type == "argument_list" for each in children(part)]
    if kind == "keyword_argument" and (value := field(node, "value")) is not None:
        return [(value, "read")]
    if is_call(node, procedure, program) and mode == "read":
        return _call(node, found, program)
    if kind in ("identifier", "call_expression", "derived_type_member_expression"):
        return _variable(node, mode, found, procedure, program)
    counter = control(node) if kind == "do_loop" else None
    if counter is not None:
        found.declared.add(text_of(children(counter)[0]))
    several = kind == "concurrent_header" and len(children(node)) > 1  # the names of its indices mean others outside
    if kind not in _HOLDERS or node.is_missing or several:
        found.opaque.append(kind)
        return []
    return [(each, "read") for each in node.named_children]


def is_call(node: Node, procedure: Procedure, program: Program) -> bool:
    """True for a call of a function, which is written as an element of an array is."""
    called = children(node)[0] if node.type == "call_expression" else None
    if called is None or called.type not in ("identifier", "derived_type_member_expression"):
        return False
    if called.type == "identifier":
        return text_of(called) not in procedure.arrays
    return text_of(children(called)[-1]) not in program.holders


def _call(node: Node, found: Effects, program: Program) -> list[tuple[Node, str]]:
    name, named = text_of(children(node)[0]), program.named(text_of(children(node)[0]))
    if len(named) == 1 and named[0].source.is_fortran:
        found.callees.append((node, named[0]))
    elif not named and name in INTRINSICS | OF_ARRAYS:
        found.pure_calls.append(node)
    else:
        found.calls.append(node)
    return [(each, "read") for each in children(children(node)[-1])]


def _variable(node: Node, mode: str, found: Effects, procedure: Procedure, program: Program) -> list[tuple[Node, str]]:
    """An access, and what is read to find the element: `cell%e(i)` is one of `cell%e`, other memory than `cell%f` where no component
    is a pointer. Elements of an array of records, and what is in them, are told by the array's name.
    """
    names: list[str] = []
    following: list[tuple[Node, str]] = []
    one = node
    while one.type in ("call_expression", "derived_type_member_expression"):
        if one.type == "call_expression":
            names.clear()
            following += [(each, "read") for each in children(children(one)[-1])]
            if is_call(one, procedure, program):
                found.opaque.append("part of what a function gives")
        else:
            names.insert(0, text_of(children(one)[-1]))
        one = children(one)[0]
    if one.type != "identifier":
        found.opaque.append(one.type)
    kept = procedure.declarations.get(text_of(one)) or program.variables.get(text_of(one))
    name = "%".join([text_of(one), *(names if not program.has_pointers_in_records else ())])
    is_memory = one != node or (kept is not None and bool(kept.dims))
    found.accesses.append(Access(node, procedure, name, is_memory, mode != "read"))
    return following


def overlaps(one: Access, other: Access) -> bool:
    """True if two accesses are of the same variable or component, or one is of a component of the other."""
    left, right = one.name, other.name
    return left == right or left.startswith(f"{right}%") or right.startswith(f"{left}%")


def is_local(one: Access, inner: Effects) -> bool:
    """True for a variable of the procedure's own, or its result; what it is written as its argument is its caller's."""
    name, procedure = one.name.split("%", 1)[0], one.procedure
    kept = procedure.declarations.get(name)
    if not one.write and name in procedure.parameters:
        return True  # read where it is handed over
    result = procedure.model.returns
    return (result is not None and name == result.name) or (kept is not None and not kept.static and not kept.reference)
