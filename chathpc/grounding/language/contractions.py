"""Contracted words in full: `I'd` is `I would`, `weren't` is `were not`, so that the rules on the full words hold for both."""

from __future__ import annotations

import re

_CONTRACTED = re.compile(r"(?P<base>[A-Za-z]+?)(?P<not>n)?['’](?P<rest>[A-Za-z]+)\Z")
#: Where the word before the apostrophe is not what is left of the full one.
_WHOLE = {"ca": "cannot", "wo": "will not", "sha": "shall not", "ai": "is not"}
_VERBS = {"d": "would", "ll": "will", "ve": "have", "re": "are", "m": "am"}


def expanded(word: str) -> tuple[tuple[str, int], ...]:
    """The full words of a contracted one, each with where it begins in it; none of any other word.

    `'s` is left as it is: it may be a genitive as well, and the stem of a word is without it.
    """
    found = _CONTRACTED.match(word)
    if found is None:
        return ()
    base, rest = found["base"], found["rest"].lower()
    if found["not"] and rest == "t":
        whole = _WHOLE.get(base.lower(), f"{base} not").split()
        return tuple((part, len(base) if index else 0) for index, part in enumerate(whole))
    if found["not"]:
        base += found["not"]
    verb = _VERBS.get(rest)
    return () if verb is None else ((base, 0), (verb, len(base)))
