"""Long names made short without losing what they name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from os.path import commonprefix

#: Characters that may follow the word `operator` in C++ and must not be taken for brackets, longest first.
_OPERATORS = ("<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "<", ">")
#: Bracketed words that are names, not argument lists.
_NAMES_IN_BRACKETS = ("(anonymous namespace)", "(anonymous)", "(unnamed)", "<unnamed>")
_CLOSING = {"<": ">", "(": ")", "{": "}"}
_WORD_END = re.compile(r"\w$")
#: What compilers add behind a name: ` const`, ` [clone ._omp_fn.0]`, `._omp_fn.0`; and gfortran before that of a module's procedure.
_SUFFIX = re.compile(r"(?: const)?(?: \[clone [^\]]*\]|\.(?:_omp_\w*fn|constprop|isra|part|cold|lto_priv)\b[.\d]*)*$")
_MODULE_OF = re.compile(r"__\w+?_MOD_(?=\w)")
#: Names in C++ are rarely longer than this; what is beyond is not looked at.
_LONGEST = 20_000


#: The load module behind a name.
_MODULE = re.compile(r" \[(?!clone )[^\[\]]+\]\Z")

#: What readers of device traces call operations without a name of their own, in words.
_IN_WORDS = {
    "<gpu copyin>": "copies to the device",
    "<gpu copyout>": "copies from the device",
    "<gpu copy>": "copies on the device",
    "<gpu sync>": "synchronisation of the device",
    "<gpu alloc>": "allocation on the device",
    "<gpu delete>": "deallocation on the device",
    "<gpu kernel>": "kernels on the device",
}
#: How the name of a kernel of SYCL begins: `typeinfo name for f()::{lambda(auto:1)#1}`.
_TYPE = re.compile(r"^typeinfo (?:name )?for ")


def in_words(name: str) -> str:
    """`name`, or for a placeholder of a profiler what it stands for; of SYCL's kernels without what their names begin with."""
    return _IN_WORDS.get(name) or _TYPE.sub("", name)


def shorten(name: str, width: int, *, ellipsis: str = "…") -> str:
    """`name` in at most `width` characters.

    In this order: the load module behind it goes (`write [libc.so.6]`), template arguments go, parameters go, suffixes of the
    compiler, the return type and the enclosing scopes go; the function's own name goes last,
    and is then cut in the middle, for the ends of names tell them apart. Of `MPI_Wait in solve` each name is shortened.
    """
    if len(name) <= width:
        return name
    indent = len(name) - len(name.lstrip(" "))
    if 0 < indent < width:
        return name[:indent] + shorten(name[indent:], width - indent, ellipsis=ellipsis)
    own, within, around = name.rpartition(" in ")
    if within and (left := width - len(within)) >= 2:  # a call or line and its function: what is left of both
        own = shorten(own, max(left // 2, left - len(around)), ellipsis=ellipsis)
        return own + within + shorten(around, left - len(own), ellipsis=ellipsis)
    if not name.startswith("<"):
        name = _MODULE.sub("", name)
    if len(name) <= width:
        return name
    # A placeholder, or what has an address for a name, is no C++.
    if (name.startswith("<") and not _plain_at(name, 0)) or "+0x" in name:
        return middle(name.replace("<unknown procedure>", "<unknown>"), width, ellipsis=ellipsis)
    if len(name) > _LONGEST:
        return middle(name, width, ellipsis=ellipsis)
    for brackets in ("<", "<(", "<({"):
        name = _elide(name, brackets, ellipsis)
        if len(name) <= width:
            return name
    for noise in (_SUFFIX, _MODULE_OF):
        name = noise.sub("", name, count=1)
        if len(name) <= width:
            return name
    scopes = scopes_of(name)
    if "::" in name or re.search(r"\S[<(]", name):  # else words, as in `memory allocation`, `Memcpy HtoD (Pinned)`
        scopes[0] = _without_return_type(scopes[0])
    while len(scopes) > 1:
        short = "::".join(scopes)
        if len(short) <= width:
            return short
        if scopes[0] == ellipsis and len(scopes) == 2:
            break
        scopes = [ellipsis, *scopes[2:]] if scopes[0] == ellipsis else [ellipsis, *scopes[1:]]
    return middle(scopes[-1], width, ellipsis=ellipsis)


def shorten_apart(names: Sequence[str], width: int, *, ellipsis: str = "…") -> list[str]:
    """Each name as `shorten` has it; of those that are then alike what differs is told: `gemvx::kernel<…(int)7…>`, `split…warp_per_row`."""
    short = [shorten(name, width, ellipsis=ellipsis) for name in names]
    alike: dict[str, set[str]] = {}
    for name, text in zip(names, short, strict=True):
        alike.setdefault(text, set()).add(name)
    told: dict[str, str] = {}
    for each in filter(lambda each: len(each) > 1, map(sorted, alike.values())):
        # Where a name parts from those next to it in the alphabet it parts from all.
        shared = [0, *(len(commonprefix(pair)) for pair in pairwise(each)), 0]  # noqa: RUF071 (of letters, no paths)
        for at, name in enumerate(each):
            apart = _told_apart(name, max(shared[at : at + 2]), width, ellipsis)
            told |= {name: apart} if len(apart) <= width else {}
    return [told.get(name, text) for name, text in zip(names, short, strict=True)]


def _told_apart(name: str, same: int, width: int, ellipsis: str) -> str:
    """`name` in at most `width` characters with the word in which it differs from others, the first of its letters that do being `same`."""
    if "<" not in name[:same] and "(" not in name[:same]:  # the function's own name, or a scope of it
        word = next((at for at in range(same, 0, -1) if _between_words(name, at)), 0)
        room, tail = width - width // 3, _elide(name[word:], "<({", ellipsis)
        tail = tail if len(tail) <= room else tail[: room - len(ellipsis)] + ellipsis
        own = scopes_of(name[:word])[-1].rpartition(" ")[2]
        head = own[: max(width - len(tail) - len(ellipsis), 0)]
        return f"{head}{ellipsis}{tail}" if word else shorten(name, width, ellipsis=ellipsis)
    begin = max(name.rfind(each, 0, same) for each in " ,<:") + 1
    if (space := _plain_at(name, begin)) in _NAMES_IN_BRACKETS:
        begin += len(space) + 2
    differs = middle(re.split(r"(?<=.)[,<>(]", name[begin:], maxsplit=1)[0], width // 2, ellipsis=ellipsis)
    own = shorten(name, width - len(differs) - 1, ellipsis=ellipsis)
    head, inside, tail = own.rpartition(f"{ellipsis}>")
    return f"{head}{ellipsis}{differs}{ellipsis}>{tail}" if inside else f"{own} {differs}"


def shorten_path(path: str, width: int, *, ellipsis: str = "…") -> str:
    """`path` in at most `width` characters: leading folders go first, `…/src/heat.c:12`; the file's own name goes last."""
    if len(path) <= width:
        return path
    parts = path.split("/")
    while len(parts) > 1:
        parts = parts[1:]
        short = "/".join([ellipsis, *parts])
        if len(short) <= width:
            return short
    return middle(parts[-1], width, ellipsis=ellipsis)


def middle(text: str, width: int, *, ellipsis: str = "…") -> str:
    """`text` in at most `width` characters, the middle left out, between words where such places are near."""
    if len(text) <= width:
        return text
    keep = width - len(ellipsis)
    if keep < 2:
        return text[: max(width, 0)]
    head, reach = (keep + 1) // 2, keep // 4
    heads = [at for at in range(head - reach, head + reach + 1) if _between_words(text, at)]
    tails = [at for at in range(keep - head - reach, keep - head + reach + 1) if _between_words(text, len(text) - at)]
    pairs = [(one, other) for one in heads for other in tails if keep - reach <= one + other <= keep]
    # Else at one end alone, best at that by which names are told apart.
    alone = [(keep - each, each) for each in tails] or [(each, keep - each) for each in heads] or [(head, keep - head)]
    head, tail = max(pairs or alone, key=lambda pair: (sum(pair), -abs(pair[0] - pair[1])))
    return text[:head] + ellipsis + text[len(text) - tail :]


def _between_words(text: str, at: int) -> bool:
    """Whether a word begins or ends at a place: `send|Receive`, `std|::|vector`."""
    before, after = text[at - 1 : at], text[at : at + 1]
    return before.isalnum() != after.isalnum() or (before.islower() and after.isupper())


def _elide(name: str, brackets: str, ellipsis: str) -> str:
    """`name` with what the outermost of the given opening `brackets` hold replaced by an ellipsis."""
    out: list[str] = []
    expected: list[str] = []  # closing brackets that are still to come
    position = 0
    while position < len(name):
        plain = _plain_at(name, position)
        if plain:
            if not expected:
                out.append(plain)
            position += len(plain)
            continue
        character = name[position]
        if expected and character == expected[-1]:
            expected.pop()
            if not expected:
                out.append(character)
        elif (character in brackets and (expected or position)) or (expected and character in _CLOSING):
            if not expected:
                out.append(character)
                empty = name.startswith(_CLOSING[character], position + 1)
                out.append("" if empty else ellipsis)
            expected.append(_CLOSING[character])
        elif not expected:
            out.append(character)
        position += 1
    if expected and not name.endswith("…"):
        return name  # unbalanced: no C++ name, leave it
    return "".join(out + expected[:1])  # what was cut at its end before is closed


def _plain_at(name: str, position: int) -> str:
    """Text at `position` whose brackets are part of a name (an operator, an anonymous namespace, an arrow), else
    nothing.
    """
    for bracketed in _NAMES_IN_BRACKETS:
        if name.startswith(bracketed, position):
            return bracketed
    if name.startswith("->", position):
        return "->"
    if name.startswith("operator", position) and not _WORD_END.search(name[max(position - 1, 0) : position]):
        after = position + len("operator")
        for symbol in _OPERATORS:
            if name.startswith(symbol, after):
                return "operator" + symbol
    return ""


def scopes_of(name: str) -> list[str]:
    """`name` split at `::` outside of brackets."""
    parts = [""]
    depth = 0
    position = 0
    while position < len(name):
        plain = _plain_at(name, position)
        if plain:
            parts[-1] += plain
            position += len(plain)
            continue
        character = name[position]
        if depth == 0 and name.startswith("::", position):
            parts.append("")
            position += 2
            continue
        if character in "<({[":
            depth += 1
        elif character in ">)}]":
            depth = max(0, depth - 1)
        parts[-1] += character
        position += 1
    return parts


def _without_return_type(scope: str) -> str:
    """The first scope of a demangled template function begins with its return type: `void std` → `std`."""
    if "operator " in scope or scope.startswith("("):
        return scope
    head, _, _ = scope.partition("(")
    return scope[head.rstrip().rfind(" ") + 1 :] if " " in head.strip() else scope
