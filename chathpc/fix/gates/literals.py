"""Numbers of a change that are answers of the original: written down instead of computed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from chathpc.fix.gates.constructs import new_numbers
from chathpc.fix.gates.text import code, value
from chathpc.fix.outputs import numbers_in, value_of
from chathpc.fix.thresholds import threshold


def known_answers(original: Mapping[str, str], changed: Mapping[str, str], outputs: Iterable[bytes]) -> list[str]:
    """Numbers and words that the changed files bring and that the original prints; of the numbers those with enough digits."""
    texts = [text for text in outputs if b"\0" not in text]
    answers = {
        abs(value_of(number))
        for text in texts
        for number in numbers_in(text)
        if _significant(number.decode("ascii", "replace"))
    }
    sides = [[code(path, text) for path, text in sorted(side.items())] for side in (original, changed)]
    found = []
    for number in new_numbers(*sides):
        its = value(number)
        if its is None or not _significant(number) or not math.isfinite(its) or _is_size(its):
            continue
        if any(
            answer and abs(its - answer) <= threshold("answer_distance") * answer
            for answer in answers
            if math.isfinite(answer)
        ):
            found.append(number)
    old = {each for one in sides[0] for each in one.strings}
    for each in (each for one in sides[1] for each in one.strings if each not in old):
        for number in re.findall(r"[\d.]+(?:[eE][+-]?\d+)?", each):
            if _significant(number) and any(number.encode() in text for text in texts):
                found.append(each[:40])
                break
    words = {word for text in texts for word in re.findall(rb"\b[0-9a-fA-F]{8,}\b", text)}
    for number in new_numbers(*sides):
        lowered = number.lower().removeprefix("0x").rstrip("ul").encode()
        if number.lower().startswith("0x") and any(word.lower().lstrip(b"0") == lowered.lstrip(b"0") for word in words):
            found.append(number)
    return sorted(set(found))


def _is_size(number: float) -> bool:
    """Powers of two are sizes of buffers and blocks; a program that prints its indices prints them as well."""
    return number.is_integer() and int(number).bit_count() == 1


def _significant(number: str) -> bool:
    mantissa = re.split(r"[eEdD]", number)[0] if not number.lower().startswith("0x") else number[2:]
    digits = re.sub(r"\D", "", mantissa).strip("0")
    return len(digits) >= threshold("answer_digits")
