"""Source text as a gate looks at it: code without comments, its words, numbers, strings and directives."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from chathpc.profile.languages import Language, is_fixed_form, language_of

#: Comments, strings and characters of C and its family; raw strings of C++ first.
_C = re.compile(
    r'(?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\((?:.*?)\)(?P=mark)")'
    r"|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<char>'(?:[^'\\\n]|\\.)*')",
    re.DOTALL,
)
_FORTRAN = re.compile(r"""(?P<string>"[^"\n]*"|'[^'\n]*')|(?P<comment>![^\n]*)""")
_FORTRAN_DIRECTIVE = re.compile(r"!(?:\$|dir\$|dec\$|gcc\$|ibm|nec\$)", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_]\w*")
#: A number of C (also hexadecimal, with separators and suffixes) or Fortran (1.0d0, 1.0_8).
NUMBER = re.compile(
    r"(?<![\w.])(?:0[xX][0-9a-fA-F'.]+(?:[pP][+-]?\d+)?|(?:\d[\d']*\.?\d*|\.\d+)(?:[eEdDqQ][+-]?\d+)?)(?:_\w+|[a-zA-Z]*)(?![\w.])"
)
_SUFFIX = re.compile(r"(?:_\w+|[a-zA-Z]+)\Z")


@dataclass(frozen=True, slots=True)
class Code:
    """A file without its comments: `plain` has strings emptied, and each line where it was; `directives` keep theirs."""

    name: str
    plain: str
    strings: tuple[str, ...]
    directives: tuple[str, ...]
    fortran: bool

    @property
    def words(self) -> Counter[str]:
        """How often each word occurs outside strings; Fortran's in small letters."""
        return Counter(_WORD.findall(self.plain.lower() if self.fortran else self.plain))

    @property
    def calls(self) -> Counter[str]:
        """How often each word stands before a bracket."""
        return Counter(re.findall(r"([A-Za-z_]\w*)\s*\(", self.plain.lower() if self.fortran else self.plain))

    @property
    def numbers(self) -> Counter[str]:
        """How often each number occurs, as it is written."""
        return Counter(match[0] for match in NUMBER.finditer(self.plain))


@lru_cache(maxsize=256)
def code(name: str, text: str) -> Code:
    """The code of a file named `name`."""
    if language_of(name) == Language.FORTRAN:
        return _fortran(name, text)
    text = re.sub(r"\\\r?\n", "", text)  # lines that go on are one, so that no word can be cut in two
    strings: list[str] = []

    def blank(match: re.Match[str]) -> str:
        if match["comment"]:
            return " " + "\n" * match[0].count("\n")
        if match["string"] or match["raw"]:
            strings.append(match[0])
            return '""' + "\n" * match[0].count("\n")
        return "''"

    plain = _C.sub(blank, text)
    kept = _C.sub(lambda match: " " + "\n" * match[0].count("\n") if match["comment"] else match[0], text)
    directives = tuple(" ".join(row.split()) for row in kept.split("\n") if row.lstrip().startswith(("#", "%:", "??=")))
    return Code(name, plain, tuple(strings), directives, fortran=False)


def codes(files: Mapping[str, str]) -> list[Code]:
    """The code of files (path → text), by path."""
    return [code(path, text) for path, text in sorted(files.items())]


def _fortran(name: str, text: str) -> Code:
    strings: list[str] = []
    directives: list[str] = []
    if is_fixed_form(name):
        text = re.sub(r"(?m)^[cC*](?!\$)[^\n]*", "", text)
    # A word that goes on behind an & of the next line is one word.
    text = re.sub(r"&[ \t]*(?:![^\n]*)?\n(?:[ \t]*(?:![^$\n][^\n]*)?\n)*[ \t]*&", "", text)
    text = re.sub(r"&[ \t]*(?:![^\n]*)?\n", " ", text)

    def blank(match: re.Match[str]) -> str:
        if match["string"]:
            strings.append(match[0])
            return "''"
        if _FORTRAN_DIRECTIVE.match(match[0]):
            directives.append(" ".join(match[0].lower().split()))
            return match[0] if match[0].lower().startswith("!$ ") else ""
        return ""

    plain = _FORTRAN.sub(blank, text)
    directives += [" ".join(row.split()) for row in plain.split("\n") if row.startswith("#")]
    return Code(name, plain, tuple(strings), tuple(directives), fortran=True)


def value(number: str) -> float | None:
    """The value of a number as it is written in source; None if it is none that Python knows."""
    text = number.replace("'", "").lower()
    try:
        if text.startswith("0x"):
            return float.fromhex(text.rstrip("ul")) if "p" in text or "." in text else float(int(text.rstrip("ul"), 16))
        return float(re.sub(r"(?<=\d)[dq](?=[+-]?\d)", "e", _SUFFIX.sub("", text)))
    except (ValueError, OverflowError):
        return None
