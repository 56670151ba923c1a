"""The grammar of SASS as NVIDIA's tools write it: `@!P0 LDG.E.64 R2, desc[UR4][R6.64+0x8] ;`, with remarks `(*"…"*)` of nvdisasm."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: A register alone or in an operand: kind, number (Z and T for those that hold nothing, R for all predicates), and what is written behind it.
REGISTER_NAME = re.compile(r"(?<![\w.])(UR|UP|SB|R|P|B)(\d{1,3}|[ZTR])(?!\w)((?:\.\w+)*)")
_REMARK = re.compile(r'\(\*".*?"\*\)')
_GUARD = re.compile(r"@(!?)(U?P[0-7T])\s+")
_PREDICATE = re.compile(r"!?U?P[0-7T]")


@dataclass(frozen=True, slots=True)
class Written:
    """An instruction in parts: the predicate that it stands under, empty for none; opcode with modifiers; operands."""

    guard: str
    negated: bool
    word: str
    rest: str

    @property
    def opcode(self) -> str:
        """What it does, without modifiers."""
        return self.word.partition(".")[0]


def written(text: str) -> Written:
    """The parts of an instruction, without remarks. Never fails, in time linear in the text."""
    text = (_REMARK.sub("", text) if '"' in text else text).strip().rstrip(";")
    guard = _GUARD.match(text)
    word, _, rest = text[guard.end() if guard else 0 :].partition(" ")
    return Written(guard[2] if guard else "", guard is not None and guard[1] == "!", word, rest.strip())


def operands(text: str) -> list[str]:
    """Parts between commas outside brackets."""
    if "(" not in text:
        found = [part.strip() for part in text.split(",")]
    else:
        found, depth, begin = [], 0, 0
        for at, letter in enumerate(text):
            depth += (letter in "([") - (letter in ")]")
            if letter == "," and not depth:
                found.append(text[begin:at].strip())
                begin = at + 1
        found.append(text[begin:].strip())
    return found if found[-1] else found[:-1]


def is_predicate(operand: str) -> bool:
    """True for a predicate alone: `P0`, `UPT`, `!P0`."""
    return operand[:1] in ("P", "U", "!") and _PREDICATE.fullmatch(operand) is not None
