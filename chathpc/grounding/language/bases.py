"""What a part is of: `3.17 s of 9.01 s`, `35 % of the MPI time`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from chathpc.grounding.language.numerals import unit_behind
from chathpc.grounding.language.quantity import DETERMINERS, IT, OF_NUMBER, REST_OF_IT, TOTAL, Keys, Quantity
from chathpc.grounding.language.tokens import Token
from chathpc.grounding.language.vocabulary import Vocabulary, stem

_BASE_ENDS = frozenset(
    map(
        stem,
        [
            "in",
            "at",
            "on",
            "for",
            "by",
            "to",
            "from",
            "is",
            "are",
            "was",
            "were",
            "that",
            "and",
            "or",
            "when",
            "because",
            "since",
            "spent",
            "spend",
            "go",
            "goes",
            "come",
            "take",
            "takes",
            "with",
            "while",
            "which",
            "all",
        ],
    )
)
#: Verbs behind the noun that a share is a part of.
_BASE_VERBS = frozenset(
    map(stem, ("hit", "wait", "move", "has", "have", "reach", "run", "stay", "never", "not", "works"))
)


def is_base(
    tokens: Sequence[Token], stems: Sequence[str], position: int, quantity: Quantity, words: Vocabulary
) -> bool:
    """True for the whole that a part is of: `3.17 s of 9.01 s`, `7 of 8 threads`, `a quarter of the 200 s`, `a window of 917 ms`."""
    sized = quantity.dimension in ("time", "bytes")
    if sized and position + 1 < len(stems) and stems[position + 1] in _WHOLES:
        return True
    before = position - 1
    while before > 0 and stems[before] in DETERMINERS | {"total"} | _ROUGH:
        before -= 1
    if stems[before] != "of":
        return sized and stems[before] == "in" and position - before > 1 and "trac" in stems[position : position + 4]
    if (
        before
        and sized
        and (
            stems[before - 1] in _WHOLES
            or (stems[before - 1] == "total" and "of" in stems[max(0, before - 4) : before - 1])
        )
    ):
        return True
    if before and stems[before - 1] == "out":
        before -= 1
    if before >= 1 and (stems[before - 1] in words.fractions or stems[before - 1] == "percent"):
        return sized
    if before < 1 or tokens[before - 1].kind != "number":
        return before == 0 and sized  # `Of 32.0 s that the threads could work, …`
    unit = tokens[before - 1].unit or unit_behind(tokens, stems, before - 1)
    dimension = words.units[unit][0] if unit else "count"
    return dimension == quantity.dimension or (dimension == "share" and sized)


_WHOLES = frozenset(map(stem, ("window", "trace", "timeline", "run", "runtime", "execution")))
_ROUGH = frozenset(map(stem, ("about", "roughly", "some", "approximately", "overall", "whole", "entire")))


def base_of(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> tuple[Keys | None, int]:
    """What a share is part of, and where its words end: `of the MPI time` → in:mpi; the whole run → who:total."""
    opening = position
    if stems[position : position + 1] == ["that"] and (
        position + 1 == len(tokens)
        or tokens[position + 1].kind == "punctuation"
        or stems[position + 1] in ("is", "are", "was", "were")
    ):
        return IT, position + 1  # `not even a third of that`
    while position < len(tokens) and stems[position] in DETERMINERS:
        position += 1
    if stems[position : position + 1] == ["rest"] or stems[position : position + 1] == [stem("remainder")]:
        return REST_OF_IT, position + 1
    if {"this", "that"} & set(stems[opening:position]) and stems[position : position + 1] == [_TIME]:
        return IT, position + 1  # `100 % of this time`
    owner = next((t.text for t in reversed(tokens[:opening]) if t.kind in ("code", "file")), None)
    if owner and "its" in stems[opening:position] and stems[position : position + 1] == [_TIME]:
        return frozenset({f"name:{owner}"}), position + 1  # `f spends a fifth of its time at line 12`
    if stems[position : position + 1] and stems[position] in _ENTIRE and _is_timed(stems, position + 1, words):
        position += 1  # `of the total kernel time`
    if position < len(tokens) and stems[position] in ("it", "them", "these", "those", "which"):
        return IT, position + 1
    for length in (3, 2, 1):
        if tuple(stems[position : position + length]) in words.whole and length <= len(tokens) - position:
            follower = stems[position + length] if position + length < len(tokens) else ""
            behind = position + length + 1
            if follower == "of" and behind < len(tokens) and tokens[behind].kind == "code":
                return frozenset({f"name:{tokens[behind].text}"}), behind + 1  # `a fifth of the time of f`
            function = next(
                (t.text for t in reversed(tokens[:opening]) if t.kind == "code" and "." not in t.text), None
            )
            if follower == "of" and function and (end := _function(stems, position + length + 1)):
                return frozenset({f"name:{function}"}), end  # `a sixth of the time of the function`
            if follower == "of" and (end := _everyone(stems, behind - 1)):
                return TOTAL, end  # `of the time of the ranks`
            inner = _inside(tokens, stems, position + length, words) or _going(tokens, stems, position + length, words)
            if inner is not None:
                return inner
            busy = _while_busy(stems, position + length, words)
            if busy is not None:
                return busy
            if follower not in (_TIME,):
                return TOTAL, position + length
    if (end := _everyone(stems, position)) and stems[end : end + 1] == [_TIME]:
        return TOTAL, end + 1  # `of the ranks' time`
    end = position
    while (
        end < len(tokens)
        and not (end > position and (stems[end] in _BASE_VERBS or stems[end] in words.verbs))
        and end < position + 5
        and tokens[end].kind in ("word", "code")
        and stems[end] not in _BASE_ENDS
    ):
        end += 1
        if stems[end - 1] in (_TIME,):
            break
    if end < len(tokens) and end == position and tokens[end].kind == "number":
        # `35 % of the 9.01 s`, `all of the 2.2 million faults`: that number is checked by itself
        unit = tokens[end].unit or unit_behind(tokens, stems, end)
        dimension = words.units[unit][0] if unit else ""
        return (TOTAL if dimension == "time" else OF_NUMBER if dimension in ("share", "bytes") else IT), position
    keys = frozenset(key for _, found in words.subjects.found(stems[position:end]) for key in found)
    names = frozenset(f"name:{token.text}" for token in tokens[position:end] if token.kind == "code")
    if not keys | names:
        known = words.neutral - {"trac", "trace"}
        keys = frozenset(f"word:{word}" for word in stems[position:end] if word and word not in known)
    if keys == _PATH and (stem("critical"), "path") in pairwise(stems[:opening]):
        keys = frozenset({"what:path"})  # `10 % of this path`
    if end + 1 < len(stems) and stems[end] in ("in", stem("inside"), "on", "along"):
        behind = end + 2 if stems[end + 1] in DETERMINERS else end + 1
        _, within = words.subjects.at(stems, behind)
        keys |= within & _MEASURED_PARTS  # `all of the waiting in MPI`
    return keys | names or None, end


def _is_timed(stems: Sequence[str], position: int, words: Vocabulary) -> bool:
    """True for the `copy time` of `the total copy time`, which is no whole; not for `run time`."""
    length, keys = words.subjects.at(stems, position)
    timed = stems[position + length : position + length + 1] == [_TIME]
    return bool(length and keys - TOTAL) and timed and tuple(stems[position : position + length + 1]) not in words.whole


_ENTIRE = frozenset(map(stem, ("total", "whole", "entire", "overall", "combined", "complete")))


def _going(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> tuple[Keys, int] | None:
    """The base of `… of the time that goes into copies`, `of the time f takes`, `of the time of f`: what that time is spent on."""
    opening = position
    while position < len(tokens) and (stems[position] in _RELATIVE or stems[position] in DETERMINERS):
        position += 1
    following = stems[position + 1 : position + 2]
    relative = bool({"that", "which"} & set(stems[opening:position]))
    relative = relative or (
        position == opening and stems[position : position + 1] == ["spent"] and bool(_FALLS & set(stems[position:]))
    )
    if relative and stems[position : position + 1] and stems[position] in _SPENT and following and following[0] in _ON:
        position += 2
    elif (
        opening == position
        and stems[position : position + 1] == ["of"]
        and stems[position + 1 : position + 2] != ["the"]
    ):
        position += 1
        end = position + 1
        if (
            position < len(tokens)
            and tokens[position].kind == "word"
            and not _everyone(stems, position)
            and stems[position] not in _WHOLES | _ANY
        ):
            _, about = words.subjects.at(stems, position)
            return about or frozenset({f"name:{tokens[position].text}"}), end  # `of the time of share`, a function
        return None
    elif not _takes(stems, position):
        return None
    while position < len(tokens) and stems[position] in DETERMINERS | {"only"}:
        position += 1
    if _everyone(stems, position):
        return None  # what the ranks take is the whole
    names: set[str] = set()
    keys: Keys = frozenset()
    end = position
    while (
        end < len(tokens)
        and end < position + _LONGEST
        and stems[end] not in _TAKES
        and tokens[end].kind != "punctuation"
    ):
        length, found = words.subjects.at(stems, end)
        keys |= found
        if tokens[end].kind == "code":
            names.add(f"name:{tokens[end].text}")
        if (
            not length
            and tokens[end].kind == "word"
            and end > position
            and (stems[end] in _BASE_VERBS or stems[end] in words.verbs or stems[end] in ("is", "are", "was"))
        ):
            break
        end += length or 1
    base = keys | names - TOTAL
    return (base, end) if base else None


def _takes(stems: Sequence[str], position: int) -> bool:
    """True before `f takes`, `f and g take together`."""
    behind = stems[position + 1 : position + 5]
    return any(word in _TAKES for word in behind) and not any(word in _ANY for word in stems[position : position + 1])


_RELATIVE = frozenset({"that", "which"} | {"is", "are", "was"})
_SPENT = frozenset(map(stem, ("goes", "go", "going", "spent", "used", "needed", "lost", "taken", "for", "wasted")))
_FALLS = frozenset(map(stem, ("falls", "goes", "comes", "belongs", "lies")))
_ON = frozenset(map(stem, ("into", "in", "on", "for", "to", "by", "with")))
_TAKES = frozenset(
    map(
        stem,
        (
            "take",
            "takes",
            "need",
            "needs",
            "cost",
            "costs",
            "require",
            "requires",
            "spend",
            "spends",
            "use",
            "uses",
            "consume",
        ),
    )
)
_ANY = frozenset(
    map(
        stem,
        (
            "program",
            "application",
            "run",
            "code",
            "all",
            "each",
            "every",
            "one",
            "whole",
            "total",
            "execution",
            "it",
            "thread",
            "rank",
            "window",
        ),
    )
)
_LONGEST = 7


def _while_busy(stems: Sequence[str], position: int, words: Vocabulary) -> tuple[Keys, int] | None:
    """The base of `… of the time that the device is busy`."""
    if stems[position : position + 1] != ["that"]:
        return None
    behind = position + 1
    while behind < len(stems) and stems[behind] in DETERMINERS:
        behind += 1
    who, act = words.subjects.at(stems, behind), words.subjects.at(stems, behind + 2)
    if stems[behind + 1 : behind + 2] != ["is"] or not who[1] or not any(k.startswith("act:") for k in act[1]):
        return None
    return who[1] | act[1], behind + 2 + act[0]


def _function(stems: Sequence[str], position: int) -> int:
    """The position behind `the function`, `that kernel`; 0 for anything else."""
    while position < len(stems) and stems[position] in DETERMINERS | {"whole"}:
        position += 1
    return position + 1 if stems[position : position + 1] and stems[position] in _FUNCTIONS else 0


_FUNCTIONS = frozenset(map(stem, ("function", "kernel", "routine")))


def _everyone(stems: Sequence[str], position: int) -> int:
    """The position behind `the ranks`, `all threads`: their time is that of the run; 0 for anything else."""
    while position < len(stems) and stems[position] in DETERMINERS | {"both"}:
        position += 1
    return position + 1 if position < len(stems) and stems[position] in _WORKERS else 0


_PATH: Keys = frozenset({"word:path"})
_TIME = stem("time")
_WORKERS = frozenset(map(stem, ("rank", "thread", "process", "worker")))


def _inside(tokens: Sequence[Token], stems: Sequence[str], position: int, words: Vocabulary) -> tuple[Keys, int] | None:
    """The base `MPI` of `… of the time in MPI` and `… of the time spent in MPI`."""
    if {"spend", "wait"} & set(stems[: max(0, position - 3)]):
        return None  # `the ranks spend a third of their time in MPI`
    if position < len(stems) and stems[position] == "spend":
        position += 1
    if position + 1 >= len(stems) or stems[position] not in ("in", stem("inside"), "within"):
        return None
    position += 1
    while position < len(stems) and stems[position] in DETERMINERS:
        position += 1
    following = stems[position + 1] if position + 1 < len(stems) else ""
    if (
        position < len(tokens)
        and tokens[position].kind == "code"
        and (following in ("is", "are", "was") or following in words.verbs)
    ):
        return frozenset({f"name:{tokens[position].text}"}), position + 1  # `77 % of the time in f is …`
    length, keys = words.subjects.at(stems, position)
    if length and keys & _MEASURED_PARTS:
        return keys, position + length
    return None


#: Parts of the run that have a time of their own, of which there are parts again.
_MEASURED_PARTS: Keys = frozenset({"in:mpi", "in:openmp", "what:serial", "in:io", "what:path"})
