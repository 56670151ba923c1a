"""What an honest change has no use for: constructs by which it could see that it is watched, or answer without working.

Counted in all files together, before and after: a construct counts if the change has more of its family than the original. That is a
first look; names can be hidden from it, so that built programs are looked at too (`imports`), and what they answer is tried.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from chathpc.fix.gates.text import NUMBER, Code, value
from chathpc.fix.thresholds import threshold


@dataclass(frozen=True, slots=True)
class Family:
    """Names that serve one purpose: what that is, and where they count (before a bracket, by themselves, as attributes)."""

    says: str
    calls: frozenset[str]
    words: frozenset[str]
    attributes: frozenset[str]


@cache
def families() -> Mapping[str, Family]:
    """All families by name, from constructs.yaml."""
    from chathpc.packaged import table

    content = table("chathpc.fix.gates", "constructs.yaml")
    return {
        name: Family(one["says"], *(frozenset(one.get(kind, "").split()) for kind in ("calls", "words", "attributes")))
        for name, one in content.items()
    }


_ATTRIBUTE = re.compile(r"__attribute(?:__)?\b|__declspec\b|\[\[")
#: Types and calls of less than double precision.
_SINGLE_C = re.compile(
    r"\b(?:float[2348]?|_Float(?:16|32)|__fp16|__bf16|_Float16|__half2?|half2?(?=\s+[A-Za-z_]|\s*>)|bfloat16|__nv_bfloat16|float32_t|float16_t"
    r"|FLT_\w+|__m(?:64|128|256|512)|_mm\w*_[ps]s)\b"
    r"|\b(?:__builtin_)?(?:sqrt|exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|fabs|floor|ceil|"
    r"fma|fmod|hypot|cbrt|erf|erfc|round|trunc|rint|nearbyint|fmin|fmax|copysign|strto)f\s*\("
    r"|\b__(?:expf|logf|sinf|cosf|powf|fdividef|frcp_\w+|fsqrt_\w+)\b"
    r"|(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fF]\b"
)
_SINGLE_FORTRAN = re.compile(
    r"\breal\s*\(\s*(?:kind\s*=\s*)?(?:4|2|real32|c_float|sp|selected_real_kind\s*\(\s*[1-6]\b)|\breal\s*\*\s*[24]\b"
    r"|\b(?:sngl|float)\s*\(|\breal\s*\([^()]*(?:\([^()]*\))?[^()]*,\s*(?:kind\s*=\s*)?(?:4|real32|sp)\s*\)|_(?:4|sp|real32)\b|\breal\s*::",
    re.IGNORECASE,
)
_DOUBLE_C = re.compile(r"\b(?:double|long\s+double)\b")
_DOUBLE_FORTRAN = re.compile(
    r"\breal\s*\(\s*(?:kind\s*=\s*)?(?:8|real64|c_double|dp|wp|rk|selected_real_kind)|\breal\s*\*\s*8\b|\bdouble\s+precision\b|\dd[+-]?\d",
    re.IGNORECASE,
)
#: Types of more than double precision, which are not taken away.
_WIDE = re.compile(
    r"\blong\s+double\b|__float128|_Float128|\breal\s*\(\s*(?:kind\s*=\s*)?(?:16|real128)\b", re.IGNORECASE
)
#: Pragmas and directives that say no more than how a loop is made.
_USUAL_PRAGMA = re.compile(
    r"# ?pragma (?:omp|acc|once|unroll|nounroll|ivdep|simd|vector (?:always|aligned|nontemporal)|GCC (?:ivdep|unroll|diagnostic)"
    r"|clang (?:loop|diagnostic)|message)\b"
)
_USUAL_FORTRAN = re.compile(
    r"!(?:\$(?:omp|acc)\b|(?:dir|dec)\$ *(?:ivdep|simd|unroll|vector|nounroll)|gcc\$ *(?:ivdep|unroll|vector|novector)|\$ )"
)
_INCLUDE = re.compile(r'# ?include ?(?:<(?P<system>[\w+./-]+)>|"(?P<own>[^"]*)")')
#: Conditions are usual; what they ask is looked at word by word.
_USUAL_DIRECTIVE = re.compile(r"# ?(?:if|ifdef|ifndef|elif|else|endif|error|warning)\b|#\Z")
_DEFINE = re.compile(r"# ?(?:define|undef) (\w+)")
#: Control characters, and those that make text look other than it is (N. Boucher, R. Anderson, Trojan Source, 2021).
_HIDDEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
#: Ends with a status that tells of a failure, as error paths have them: with any input that is tried that status is another answer. And
#: algorithms of C++ that are called as functions of the C library are, which built programs do not take from there (`imports`).
_HARMLESS_C = re.compile(
    r"\b(?:std\s*::\s*)?(?:quick_)?exit\s*\(\s*(?:EXIT_FAILURE|[1-9]\d*)\s*\)|\b(?:std\s*::\s*)?abort\s*\(\s*\)"
    r"|\bMPI_Abort\s*\([^,();]*,\s*(?:EXIT_FAILURE|[1-9]\d*)\s*\)|\bstd\s*::\s*(?:remove|bind)(?=\s*\()"
)
_STREAM = re.compile(r"\b((?:basic_)?[io]?fstream)\s+\w+\s*[({]")
_HARMLESS_FORTRAN = re.compile(
    r"\berror\s+stop\b|\bstop\s+[1-9]\d*|\bmpi_abort\s*\([^,();]*,\s*[1-9]\d*\s*(?:,[^();]*)?\)", re.IGNORECASE
)
_LIST = re.compile(rf"{NUMBER.pattern}(?:\s*,\s*-?\s*{NUMBER.pattern}){{3,}}")
#: The family of words that no macro may redefine.
_KEYWORDS = "keyword"
#: Calls whose names are also names of variables and methods: they count before a bracket only.
_EVERYDAY = "everyday"


@dataclass(frozen=True, slots=True)
class Sight:
    """Something that a change brings: its family, and one sentence."""

    family: str
    statement: str


def hides(original: str, changed: str) -> bool:
    """Whether a text has more characters that cannot be seen than before, be it in comments."""
    return len(_HIDDEN.findall(changed)) > len(_HIDDEN.findall(original))


def look(original: Iterable[Code], changed: Iterable[Code], headers: Iterable[str]) -> list[Sight]:
    """What the changed files have more of than the original ones; `headers` are files of the tree that may be included."""
    before, after = list(original), list(changed)
    directives = _directives(before, after, frozenset(headers))
    return [*_counted(before, after), *_precision(before, after), *directives, *_numbers(before, after)]


def _total(codes: Iterable[Code], names: frozenset[str], *, calls: bool) -> Counter[str]:
    whole: Counter[str] = Counter()
    folded = {name.lower() for name in names}
    for one in codes:
        for word, count in (one.calls if calls else one.words).items():
            if word in names or (one.fortran and word in folded):
                whole[word] += count
    return whole


def _harmful(one: Code) -> Code:
    """The code without what is harmless though it is called as what is not, and with the streams that are opened as they are declared
    as calls, for which others may be exchanged: what is opened is seen as it runs (`effects`).
    """
    if one.fortran:
        return replace(one, plain=_HARMLESS_FORTRAN.sub(" ", one.plain))
    return replace(one, plain=_STREAM.sub(r"\1(", _HARMLESS_C.sub(" ", one.plain)))


def _counted(before: list[Code], after: list[Code]) -> list[Sight]:
    found: dict[str, Sight] = {}
    before, after = [*map(_harmful, before)], [*map(_harmful, after)]
    marked = [sum(len(_ATTRIBUTE.findall(one.plain)) for one in side) for side in (before, after)]
    for name, family in families().items():
        if name in (_KEYWORDS, _EVERYDAY):
            continue
        kinds = [(family.calls, True), (family.words | (family.calls - families()[_EVERYDAY].words), False)]
        kinds += [(family.attributes, False)] if marked[1] > marked[0] else []
        for names, calls in kinds:
            old, new = _total(before, names, calls=calls), _total(after, names, calls=calls)
            if new.total() > old.total():
                found.setdefault(name, Sight(name, f"{family.says}: {', '.join(sorted(new - old))}"))
    if _stops(after) > _stops(before):
        found.setdefault("early end", Sight("early end", "ends the program where the original does not: stop"))
    # Tokens made of parts have no name that could be looked for.
    pasted = [sum(one.plain.count(each) for one in side for each in ("##", "%:%:", "??")) for side in (before, after)]
    if pasted[1] > pasted[0]:
        found["hidden"] = Sight("hidden", "pastes names together (## or a trigraph)")
    return list(found.values())


def _stops(codes: list[Code]) -> int:
    return sum(len(re.findall(r"(?im)^\s*(?:if\s*\(.*\)\s*)?stop\b", one.plain)) for one in codes if one.fortran)


def _precision(before: list[Code], after: list[Code]) -> list[Sight]:
    def count(codes: list[Code], c: re.Pattern[str], fortran: re.Pattern[str]) -> int:
        return sum(len((fortran if one.fortran else c).findall(one.plain)) for one in codes)

    # A program in single precision is not made worse by more of it; one that has both shows what becomes less precise by what is double
    # in fewer places.
    doubles = count(before, _DOUBLE_C, _DOUBLE_FORTRAN)
    singles = count(before, _SINGLE_C, _SINGLE_FORTRAN)
    more = count(after, _SINGLE_C, _SINGLE_FORTRAN) > singles
    fewer = count(after, _DOUBLE_C, _DOUBLE_FORTRAN) < doubles
    wide = sum(len(_WIDE.findall(one.plain)) for one in before) - sum(len(_WIDE.findall(one.plain)) for one in after)
    if (doubles and more and (fewer or not singles)) or wide > 0:
        return [Sight("precision", "computes in lower precision than the original")]
    return []


def _directives(before: list[Code], after: list[Code], headers: frozenset[str]) -> list[Sight]:
    old = Counter(each for one in before for each in one.directives)
    words = {word for one in before for word in one.words}
    found = []
    new = [(each, text) for each in after for text in each.directives if text not in old]
    for one, text in new:
        include, name = _INCLUDE.match(text), _DEFINE.match(text)
        if include:
            path = include["system"] or include["own"]
            if ".." in path or path.startswith("/") or (include["own"] and path not in headers):
                found.append(Sight("include", f"includes something other than a system or project header: {path[:60]}"))
        elif re.match(r"# ?pragma\b", text):
            if not _USUAL_PRAGMA.match(text):
                found.append(Sight("pragma", f"has a pragma that changes how code is compiled: {text[:60]}"))
        elif one.fortran and text.startswith("!"):
            if not _USUAL_FORTRAN.match(text):
                found.append(Sight("pragma", f"has a directive that changes how code is compiled: {text[:60]}"))
        elif name:
            known = any(re.match(rf"# ?define {name[1]}\b", each) for each in old)
            if (name[1] in words or name[1] in families()[_KEYWORDS].words) and not known:
                found.append(Sight("macro", f"redefines {name[1]}"))
        elif not _USUAL_DIRECTIVE.match(text):
            found.append(Sight("include", f"has a directive that hides what is compiled: {text[:60]}"))
    return found


def _numbers(before: list[Code], after: list[Code]) -> list[Sight]:
    more = new_numbers(before, after)
    listed = _listed(after) - _listed(before)
    count = sum(times for number, times in more.items() if not _is_ordinary(number))
    count += sum(times for number, times in listed.items() if _is_ordinary(number))
    if count > threshold("new_numbers"):
        return [Sight("table", f"adds {count} new numbers, which may encode the answer")]
    return []


def _is_ordinary(number: str) -> bool:
    """Whether it is one of those that are in every loop: they tell something in a table only."""
    found = value(number)
    return found is not None and found.is_integer() and found <= threshold("ordinary_number")


def _listed(codes: Iterable[Code]) -> Counter[str]:
    """Numbers that stand in a row of some, as in a table."""
    return Counter(match[0] for one in codes for row in _LIST.finditer(one.plain) for match in NUMBER.finditer(row[0]))


def new_numbers(before: Iterable[Code], after: Iterable[Code]) -> Counter[str]:
    """Numbers of the changed files that the original ones do not have, or less often."""
    old: Counter[str] = sum((one.numbers for one in before), Counter())
    new: Counter[str] = sum((one.numbers for one in after), Counter())
    return new - old
