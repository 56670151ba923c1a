"""Types of expressions of C and C++, as far as the source tells them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chathpc.diagnosis.source.c_family import declarator_of
from chathpc.diagnosis.source.layout import element
from chathpc.diagnosis.source.model import Declaration
from chathpc.fix.recipes.analysis.program import Procedure, Program, Source
from chathpc.fix.recipes.analysis.syntax import children, enclosing, field, nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_CLASSES = frozenset({"class_specifier", "struct_specifier"})
FLOATING = frozenset({"float", "double", "long double"})
_WORDS = frozenset({"char", "short", "int", "long", "unsigned", "signed", "bool", "_Bool", "float", "double"})
_NAMED = re.compile(
    r"(?:std::)?(?:u?int(?:_fast|_least)?\d+_t|s?size_t|ptrdiff_t|u?intptr_t|u?intmax_t|off_t|uint|ulong|uchar)\Z"
)
#: Types in which an index does not wrap around.
WIDE = re.compile(
    r"(?:std::)?(?:int|long|long long|long int|unsigned|unsigned int|unsigned long|unsigned long long|s?size_t|ptrdiff_t|u?int(?:32|64)_t)\Z"
)
_FLOATS = frozenset(
    {"sqrt", "exp", "log", "pow", "sin", "cos", "fabs", "floor", "ceil", "tan", "atan", "atan2", "hypot", "cbrt"}
)


@dataclass(frozen=True, slots=True)
class Type:
    """A name, and how often it must be indexed or dereferenced until there is one."""

    name: str
    depth: int = 0

    @property
    def is_arithmetic(self) -> bool:
        """A number."""
        return self.depth == 0 and is_arithmetic(self.name)

    @property
    def is_floating(self) -> bool:
        """A number with a fraction."""
        return self.depth == 0 and self.name in FLOATING

    @property
    def is_integer(self) -> bool:
        """A whole number."""
        return self.is_arithmetic and not self.is_floating


def is_arithmetic(name: str) -> bool:
    """True for the name of a type of numbers."""
    words = name.split()
    return bool(words) and (all(word in _WORDS for word in words) or bool(_NAMED.match(name)))


def names_number(name: str, source: Source) -> bool:
    """True as well for a name that the file gives to a type of numbers."""
    if is_arithmetic(name):
        return True
    given = [
        text_of(field(each, "type"))
        for each in nodes(source.file.tree.root_node, "alias_declaration", "type_definition")
        if name in (text_of(field(each, "name")), text_of(field(each, "declarator")))
    ]
    return len(given) == 1 and is_arithmetic(given[0])


def plain(name: str) -> str:
    """A type's name without qualifiers."""
    return " ".join(
        word for word in name.split() if word not in ("const", "struct", "static", "restrict", "inline", "register")
    )


def of_declaration(one: Declaration) -> Type:
    """The type of a declared variable; a vector counts as an array."""
    inner = element(one)
    if inner is not one:
        deeper = of_declaration(inner)
        return Type(deeper.name, deeper.depth + 1)
    return Type(plain(one.type), one.pointers + len(one.dims))


def declared(name: str, procedure: Procedure, program: Program) -> Declaration | None:
    """The variable of that name: of the function, of the file, or a member of the only class that has one of that name."""
    if name in procedure.declarations:
        return procedure.declarations[name]
    if name in program.variables:
        return program.variables[name]
    found = [one for record in program.records.values() for one in record.fields if one.name == name]
    return found[0] if len(found) == 1 and procedure.source.is_cpp else None


def field_of(node: Node, procedure: Procedure, program: Program) -> Declaration | None:
    """The declaration of the member that a field expression names."""
    name = text_of(field(node, "field"))
    base = field(node, "argument")
    of = type_of(base, procedure, program) if base is not None else None
    if of is not None and of.name in program.records:
        return next((one for one in program.records[of.name].fields if one.name == name), None)
    found = [one for record in program.records.values() for one in record.fields if one.name == name]
    same = {(one.type, one.pointers, len(one.dims)) for one in found}
    return found[0] if len(same) == 1 else None


def owner(one: Procedure) -> str:
    """The class that a function is a member of; empty for none."""
    around = enclosing(one.node, _CLASSES)
    if around is not None:
        return text_of(field(around, "name"))
    name = field(declarator_of(one.node), "declarator")
    return text_of(field(name, "scope")) if name is not None and name.type == "qualified_identifier" else ""


def member_called(called: Node, procedure: Procedure, program: Program) -> Procedure | None:
    """The function of the program that `object.name(…)` or `pointer->name(…)` calls; None where that is not known."""
    found = program.named(text_of(field(called, "field")))
    base = field(called, "argument")
    if len(found) != 1 or base is None or "virtual" in found[0].model.marks:
        return None
    of = type_of(base, procedure, program)
    arrow = text_of(field(called, "operator")) == "->"
    known = of is not None and of.depth == arrow and of.name == owner(found[0]) and of.name in program.records
    return found[0] if known else None


def type_of(node: Node | None, procedure: Procedure, program: Program, depth: int = 0) -> Type | None:
    """The type of an expression; None where it is not known."""
    if node is None or depth > 30:
        return None
    kind = node.type
    if procedure.source.is_fortran:
        named = declared(text_of(node), procedure, program)
        match = re.match(r"(real|double|integer)", named.type if named is not None and not named.dims else "")
        return Type("long" if match[1] == "integer" else "double") if match is not None else None

    def of(child: Node | None) -> Type | None:
        return type_of(child, procedure, program, depth + 1)

    match kind:
        case "identifier":
            one = declared(text_of(node), procedure, program)
            if one is None:
                return Type("int") if text_of(node) in procedure.source.file.unit.constants else None
            if one.type in ("auto", "const auto") or one.type.endswith("auto"):
                return None
            return of_declaration(one)
        case "field_expression":
            one = field_of(node, procedure, program)
            return None if one is None else of_declaration(one)
        case "subscript_expression":
            base = of(field(node, "argument"))
            if base is not None and not base.depth and base.name in ("std::string", "string"):
                return Type("char")
            return Type(base.name, base.depth - 1) if base is not None and base.depth > 0 else None
        case "pointer_expression":
            base = of(field(node, "argument"))
            step = 1 if text_of(field(node, "operator")) == "&" else -1
            return Type(base.name, base.depth + step) if base is not None and base.depth + step >= 0 else None
        case "parenthesized_expression" | "condition_clause":
            inner = children(node)
            return of(inner[0]) if len(inner) == 1 else None
        case "number_literal":
            return _literal_type(text_of(node))
        case "char_literal" | "true" | "false":
            return Type("int")
        case "string_literal":
            return Type("char", 1)
        case "sizeof_expression":
            return Type("size_t")
        case "cast_expression":
            return written_type(field(node, "type"))
        case "assignment_expression":
            return of(field(node, "left"))
        case "update_expression" | "unary_expression":
            return Type("int") if text_of(field(node, "operator")) == "!" else of(field(node, "argument"))
        case "conditional_expression":
            one_arm, other = of(field(node, "consequence")), of(field(node, "alternative"))
            return _wider(one_arm, other)
        case "binary_expression":
            if text_of(field(node, "operator")) in ("<", ">", "<=", ">=", "==", "!=", "&&", "||"):
                return Type("int")
            return _wider(of(field(node, "left")), of(field(node, "right")))
        case "call_expression":
            called = field(node, "function")
            name = text_of(called).split("<", 1)[0].rsplit("::", 1)[-1]
            if called is not None and called.type == "field_expression":
                own = member_called(called, procedure, program)
                if own is not None and own.model.returns is not None:
                    return of_declaration(own.model.returns)
                return Type("size_t") if text_of(field(called, "field")) in ("size", "length") else None
            if text_of(called).split("<", 1)[0] in ("static_cast", "reinterpret_cast"):
                return Type(plain(text_of(called).split("<", 1)[1].rstrip("> *&")), text_of(called).count("*"))
            known = program.named(name)
            if len(known) == 1 and known[0].model.returns is not None:
                return of_declaration(known[0].model.returns)
            if name in _FLOATS and not known:
                return Type("double")
            if name[:-1] in _FLOATS and name.endswith("f") and not known:
                return Type("float")
            if is_arithmetic(name):
                return Type(name)
            return Type("size_t") if name == "strlen" else Type("void", 1) if name in ("malloc", "calloc") else None
        case _:
            return None


def _literal_type(text: str) -> Type:
    """The type of a number as it is written."""
    lower = text.lower()
    if not lower.startswith("0x") and ("." in lower or "e" in lower):
        return Type("float" if lower.endswith("f") else "long double" if lower.endswith("l") else "double")
    return Type("long" if "l" in lower and not lower.startswith("0x") else "int")


def written_type(node: Node | None) -> Type | None:
    """The type that a descriptor names."""
    if node is None:
        return None
    return Type(plain(text_of(field(node, "type"))), text_of(node).count("*"))


_RANK = (
    "int", "unsigned", "unsigned int", "long", "int64_t", "uint64_t", "size_t", "unsigned long", "long long",
    "unsigned long long", "float", "double", "long double",
)  # fmt: skip


def _wider(one: Type | None, other: Type | None) -> Type | None:
    """The usual arithmetic conversions, nearly: enough to tell a fraction from a whole number."""
    if one is None or other is None:
        return None
    if one.depth or other.depth:
        return one if one.depth else other
    if not one.is_arithmetic or not other.is_arithmetic:
        return None
    ranks = [_RANK.index(each.name) if each.name in _RANK else 0 for each in (one, other)]
    return one if ranks[0] >= ranks[1] else other
