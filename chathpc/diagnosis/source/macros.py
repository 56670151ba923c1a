"""Macros that stand for expressions, and other names of types, put in place of their uses: `IDX(i, j)` as `((i) * n + (j))`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

#: Macros in arguments of macros are followed so far.
_DEEPEST = 6
#: A text that grows by more is left as it is.
_GROWTH, _ROOM = 4, 65_536
_TOKEN = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:[^\n\\]|\\.)*"
    rb"|[A-Za-z_]\w*|\.?\d(?:[\w.]|'\d)*|\s+|.",
    re.DOTALL | re.MULTILINE,
)
_DEFINE = re.compile(rb"[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(\([^()]*\))?(.*)", re.DOTALL)
_UNDEFINED = re.compile(rb"#[ \t]*undef[ \t]+([A-Za-z_]\w*)")
_ALIAS = re.compile(
    rb"\busing\s+(\w+)\s*=\s*([\w:<>,\s]+?)\s*;|\btypedef\s+(?!struct\b|union\b|enum\b)([\w:<>,\s]+?)\s+(\w+)\s*;"
)
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
#: A number, or an expression of numbers, is as good under its name.
_NUMBER = re.compile(rb"[\s\d.()+\-*/<uUlLfFeExXa-fA-F]*\Z")
_WORD = re.compile(rb"[A-Za-z_]\w*\Z")
_TYPE = re.compile(rb"(?:void|bool|char|short|int|long|float|double|signed|unsigned|\w+_t)\Z")
#: What a call or an index may stand behind.
_ENDS = re.compile(rb"[\w\])]")
_SIMPLE = frozenset(b'{}#;\\"')


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes `start` to `end` of a text, for which `at` to `to` of another one stand."""

    start: int
    end: int
    at: int
    to: int


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro that is an expression; `parameters` is None where it takes no brackets."""

    parameters: tuple[bytes, ...] | None
    body: bytes


def macros_of(texts: Sequence[bytes]) -> Mapping[bytes, Macro]:
    """The macros that are the same expression wherever they are defined; numbers keep their names."""
    found: dict[bytes, set[Macro | None]] = {}
    for text in texts:
        for token in _TOKEN.findall(text):
            if not token.lstrip(b" \t").startswith(b"#"):
                continue
            if match := _DEFINE.match(token):
                found.setdefault(match[1], set()).add(_macro(match[2], match[3]))
            elif match := _UNDEFINED.search(token):
                found.setdefault(match[1], set()).add(None)
        for match in _ALIAS.finditer(text):
            found.setdefault(match[1] or match[4], set()).add(_alias(match[2] or match[3]))
    return {name: one for name, kinds in found.items() if len(kinds) == 1 and (one := next(iter(kinds))) is not None}


def _macro(parameters: bytes | None, body: bytes) -> Macro | None:
    text = b" ".join(_COMMENT.sub(b" ", body.replace(b"\\\n", b" ")).split())
    if not text or set(text) & _SIMPLE or _NUMBER.match(text) or not _is_balanced(text):
        return None
    if parameters is None:
        return (
            None if text.startswith((b",", b")")) or (len(text.split()) > 1 and b"(" not in text) else Macro(None, text)
        )
    names = tuple(each.strip() for each in parameters[1:-1].split(b",")) if parameters[1:-1].strip() else ()
    return Macro(names, text) if all(_WORD.match(each) for each in names) else None


def _alias(written: bytes) -> Macro | None:
    return None if b"template" in written or b"typename" in written else Macro(None, b" ".join(written.split()))


def _is_balanced(text: bytes) -> bool:
    depth = 0
    for letter in text:
        depth += (letter in b"([") - (letter in b")]")
        if depth < 0:
            return False
    return depth == 0


def expanded(text: bytes, macros: Mapping[bytes, Macro]) -> tuple[bytes, list[Piece]]:
    """The text with the macros in place of their uses, every line where it was, and the pieces that were replaced."""
    if not any(name in text for name in macros):
        return text, []
    parts: list[bytes] = []
    pieces: list[Piece] = []
    size = at = 0
    tokens = list(_TOKEN.findall(text))
    index = 0
    spared = {match.start(1 if match[1] else 4) for match in _ALIAS.finditer(text)}
    while index < len(tokens):
        used, new = _use(tokens, index, macros, 0) if at not in spared else (1, None)
        old = b"".join(tokens[index : index + used])
        if new is not None and (new := _on_as_many_lines(old, new)) is not None:
            pieces.append(Piece(at, at + len(old), size, size + len(new)))
        else:
            used, old = 1, tokens[index]
            new = old
        parts.append(new)
        at, size, index = at + len(old), size + len(new), index + used
        if size > _GROWTH * len(text) + _ROOM:
            return text, []
    return b"".join(parts), pieces


def _on_as_many_lines(old: bytes, new: bytes) -> bytes | None:
    lines = old.count(b"\n")
    new = b" ".join(new.split(b"\n"))
    return new if not lines else new[:-1] + b"\n" * lines + new[-1:] if new.endswith((b")", b"]")) else None


def _use(tokens: Sequence[bytes], at: int, macros: Mapping[bytes, Macro], depth: int) -> tuple[int, bytes | None]:
    """How many tokens the use of a macro takes that begins there, and what it stands for; None where there is none."""
    one = macros.get(tokens[at])
    if one is None or depth > _DEEPEST:
        return 1, None
    inner = {name: each for name, each in macros.items() if name != tokens[at]}
    if one.parameters is None:
        return 1, _through(one.body, inner, depth + 1)
    following = at + 1
    while following < len(tokens) and tokens[following].isspace():
        following += 1
    if following >= len(tokens) or tokens[following] != b"(":
        return 1, None
    found = _arguments(tokens, following)
    if found is None:
        return 1, None
    end, written = found
    if len(written) != len(one.parameters) and not (not one.parameters and written == [b""]):
        return 1, None
    given = [_through(each.strip(), macros, depth + 1) for each in written]
    values = dict(zip(one.parameters, given, strict=False))
    body = b"".join(_with_values(_TOKEN.findall(one.body), values))
    return end - at, _through(body, inner, depth + 1)


def _with_values(tokens: Sequence[bytes], values: Mapping[bytes, bytes]) -> Iterator[bytes]:
    """A body with its parameters replaced; a name needs no brackets that the macro puts around its parameter."""
    index = 0
    while index < len(tokens):
        value = values.get(tokens[index + 1]) if index + 2 < len(tokens) else None
        before = tokens[index - 1] if index else b""
        bracketed = tokens[index] == b"(" and value is not None and tokens[index + 2] == b")"
        if (
            bracketed
            and value is not None
            and _WORD.match(value)
            and not _TYPE.match(value)
            and not (before and _ENDS.match(before))
        ):
            yield value
            index += 3
            continue
        yield values.get(tokens[index], tokens[index])
        index += 1


def _arguments(tokens: Sequence[bytes], opening: int) -> tuple[int, list[bytes]] | None:
    """Where the brackets end that open there, and what stands between their commas."""
    depth, written = 0, [b""]
    for index in range(opening, len(tokens)):
        token = tokens[index]
        if token.lstrip(b" \t").startswith(b"#") or token in (b";", b"{", b"}"):
            return None
        depth += (token in (b"(", b"[")) - (token in (b")", b"]"))
        if depth == 0:
            return index + 1, written
        if depth == 1 and token == b",":
            written.append(b"")
        elif index > opening:
            written[-1] += b" " if token.startswith((b"//", b"/*")) else token
    return None


def _through(text: bytes, macros: Mapping[bytes, Macro], depth: int) -> bytes:
    return b"".join(_replaced(list(_TOKEN.findall(text)), macros, depth))


def _replaced(tokens: Sequence[bytes], macros: Mapping[bytes, Macro], depth: int) -> Iterator[bytes]:
    index = 0
    while index < len(tokens):
        used, new = _use(tokens, index, macros, depth)
        yield tokens[index] if new is None else new
        index += used if new is not None else 1
