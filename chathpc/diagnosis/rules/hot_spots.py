"""What helps a hot spot, told by what is hot there: look-ups in containers, a chain of sums, or nothing that is known."""

from __future__ import annotations

import re

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.compiled import units_of
from chathpc.diagnosis.facts import Facts, HotPlace
from chathpc.diagnosis.source.invariant import pure_name
from chathpc.diagnosis.source.layout import OF_NODES, declaration_of
from chathpc.diagnosis.source.model import Does, Function, Kind, Statement, Unit, expressions
from chathpc.diagnosis.source.parallel import in_order
from chathpc.diagnosis.source.text import SourceFile, read_file
from chathpc.profile.languages import Language, language_of
from chathpc.profile.source_text import no_source
from chathpc.profile.tree import FloatArray

#: Functions of the C++ standard library's containers of nodes, by the container's name and by those of the templates that these are made of.
_OF_NODES = re.compile(rf"(?:\w+ )?std::(?:\w+::)*(?:{OF_NODES.pattern}|_(?:Rb_tree|Hashtable|List|Map_base|Fwd_list))")
#: A program's own tables: a word for the table in the name of the function or of its file, and one for what is done there.
_TABLE = re.compile(r"hash(?!ing)|htab|(?:^|[_:])(?:kh|dict|map|rbtree|avl|btree)(?=$|[_:\d])", re.IGNORECASE)
_LOOK_UP = re.compile(
    r"(?:^|[_:])(?:get|put|find|search|insert|probe|contains|look_?up)(?![a-z])|(?<=[a-z])(?:Get|Put|Find|Search|Insert|Probe)(?![a-z])"
)
_CONTAINERS = (
    "The time goes for look-ups in a container whose items are nodes of their own in memory. Where keys are integers of a bounded range, index a "
    "std::vector by them; else keep the items in a sorted std::vector or in an open-addressing hash table (absl::flat_hash_map, boost::unordered_flat_map).",
    "Look up a key once, and keep a reference to its item; hold what belongs to one key in one container.",
)
_TABLES = (
    "The time goes for look-ups in a table, each of which may miss all caches. Do fewer: keep what was found for a key that comes again, and rule "
    "out absent keys by a small filter.",
    "Collect some keys, prefetch their slots (__builtin_prefetch), then look them up; keep the slots small and next to each other, or visit the "
    "keys in the order of the table.",
)
_SUM = (
    "The loop adds floating-point numbers to one variable: each addition waits for the one before, as compilers keep their order unless told "
    "otherwise. {how}, if the last digits of the result may differ.",
)
_SUMS = {
    Language.FORTRAN: "Write !$omp simd reduction(+:…) before it (-fopenmp-simd), or compile it with -ffast-math",
    Language.RUST: "Keep several sums (chunks_exact(8), one sum for each element of a chunk) and add them up at the end",
}
_SUM_IN_C = "Write #pragma omp simd reduction(+:…) before it (-fopenmp-simd), or keep four or more sums and add them up at the end"
_RUST_SUM = re.compile(r"\.sum(?:::<\w+>)?\(\)|\bfold\(\s*-?[\d.]+_?f(?:32|64)|\bfold\(\s*\d+\.\d*")
_IN_ORDER = (
    "{needs}: it waits for that, so the loop can't be vectorised. Go through in an order without this (red-black or coloured, Jacobi, a parallel scan), or do "
    "several rows or planes that are independent at once.",
)
NO_CHANGE = (
    "No change is known to help: the source shows no loop of arithmetic here that compilers could vectorise, and no waste that is known by its "
    "looks. Look at how often this is called and whether each call is needed, and at what the hottest line waits for (the next measurement).",
)


def spot_advice(facts: Facts, hot: HotPlace, name: str, weight: FloatArray) -> tuple[str, ...]:
    """What helps a function of a compiled language by what is hot in it, with the exclusive time of its nodes; nothing where the catalogue's
    advice for its language is the best there is.
    """
    tree = facts.profile.tree
    inside = tree.nearest(tree.where_name(lambda each: _OF_NODES.match(each) is not None)) >= 0
    if float(weight[inside].sum()) >= common()["most"].value * float(weight.sum()):
        return _CONTAINERS
    file = tree.files[tree.file[hot.line]] if hot.line >= 0 else hot.place.file or ""
    base = file.replace("\\", "/").rsplit("/", 1)[-1].partition(".")[0]
    if _LOOK_UP.search(name) and (_TABLE.search(name) or _TABLE.search(base)):
        return _TABLES
    if hot.line < 0 or facts.profile.read_source is no_source:
        return ()
    return _by_source(facts, file, int(tree.line[hot.line]))


def _by_source(facts: Facts, file: str, line: int) -> tuple[str, ...]:
    """What helps by what the source at a hot line does."""
    language = language_of(file)
    if language == Language.RUST:
        excerpt = facts.profile.read_source(file, line, 0)
        adds = excerpt is not None and _RUST_SUM.search("".join(excerpt.lines)) is not None
        return _sum(language) if adds else ()
    source = read_file(facts.profile, file)
    function = source.function_at(line) if source is not None else None
    if source is None or function is None:
        return ()
    loop = function.innermost(line)
    statements = function.inside(loop.index) if loop is not None else function.statements
    needs = in_order(function, source.unit, line)
    if needs is not None:
        return tuple(
            each.format(needs=f"An iteration of the loop {needs.says.removesuffix(' in its loop')}")
            for each in _IN_ORDER
        )
    reordered = any(unit.reorders_sums for unit in units_of(facts.profile.build, file))
    if (
        loop is not None
        and not reordered
        and any(_adds_up(one, function, source.unit) for one in statements if one.loop == loop.index)
    ):
        return _sum(language)
    return () if _may_vectorise(statements, source) else NO_CHANGE


def _sum(language: Language | None) -> tuple[str, ...]:
    return tuple(each.format(how=_SUMS.get(language, _SUM_IN_C) if language else _SUM_IN_C) for each in _SUM)


_ARITHMETIC = ("+", "-", "*", "/")
_REAL = re.compile(r"\b(?:double|float|real|complex)\b", re.IGNORECASE)


def _adds_up(one: Statement, function: Function, unit: Unit) -> bool:
    """True for a sum in one floating-point variable: `s += a[i]`, `s = s + a(i)`."""
    assigned = one.expr
    if assigned is None or assigned.kind != Kind.ASSIGN or assigned.parts[0].kind != Kind.NAME:
        return False
    target, value = assigned.parts
    again = value.kind == Kind.BINARY and value.text in ("+", "-") and str(value.parts[0]) == str(target)
    declared = declaration_of(target, function, unit)
    if (
        declared is None
        or declared.loop == one.loop
        or declared.pointers
        or declared.dims
        or _REAL.search(declared.type) is None
    ):
        return False
    return assigned.text in ("+=", "-=") or again


def _may_vectorise(statements: tuple[Statement, ...], source: SourceFile) -> bool:
    """True for arithmetic that a compiler may vectorise: nothing leaves the loop early, and what is called is mathematics or may be inlined."""
    if any(one.does == Does.BREAK for one in statements):
        return False
    found = list(expressions(statements))
    calls = [one.short for one in found if one.kind == Kind.CALL and not source.is_fortran]
    if any(not pure_name(name) and not source.functions_named(name) for name in calls):
        return False
    return any(
        (one.kind == Kind.BINARY and one.text in _ARITHMETIC)
        or (one.kind == Kind.ASSIGN and one.text[0] in _ARITHMETIC)
        for one in found
    )
