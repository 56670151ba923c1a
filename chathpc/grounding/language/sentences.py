"""A model's text as plain sentences: emphasis taken off, split without tearing numbers and names apart."""

from __future__ import annotations

import re
import unicodedata

#: Characters of a text that are looked at; an answer within its token budget is a tenth of it.
LONGEST_TEXT = 65_536
#: A longer sentence is not checked but struck: nobody reads it, and no rule below was made for it.
LONGEST_SENTENCE = 600

_BULLET = re.compile(r"[ \t]*(?:[-*•+]|[0-9]{1,2}[.)])[ \t]+")
_STOP = re.compile(r"[.!?]+[\"')\]]*(?=\s|$)")
#: Words whose full stop ends no sentence.
_ABBREVIATIONS = frozenset(
    [
        "e.g",
        "i.e",
        "etc",
        "vs",
        "approx",
        "cf",
        "fig",
        "no",
        "nr",
        "ca",
        "al",
        "resp",
        "incl",
        "max",
        "min",
        "avg",
        "dr",
    ]
)
_EMPHASIS = re.compile(r"\*\*([^*\n]{1,200})\*\*|`([^`\n]{1,200})`")
_REFERENCE = re.compile(r"\s?[\[(]E[0-9]{1,4}(?:\s?[,;]\s?E[0-9]{1,4}){0,9}[\])]")
#: What must not reach a reader: addresses, HTML, links, images, headings, tables, fences, template tokens, shell prompts.
_FOREIGN = re.compile(
    r"[a-z][a-z0-9+.-]{1,15}://|\bwww\.|</?[A-Za-z!|]|<\||\|>|\]\(|!\[|^\s*[#>|]|```|~~~|\[/?INST\]|<<|>>|^\s*\$ |&[a-z]{2,8};"
    r"|\bmailto:|\$\(|&&|\bcurl\b|\bwget\b|\bsudo\b|\brm\s+-"
)
_COMMAND = re.compile(
    r"^\W*(?:please\s+|then\s+|now\s+|first\s*,?\s+|you (?:should|can|must|could)\s+)?"
    r"(?:run|execute|type|enter|invoke|paste|open|visit|click|download|install)\b",
    re.IGNORECASE,
)


def split(text: str, *, whole: bool = False) -> tuple[str, ...]:
    """The sentences of `text`; what follows the last full stop is left out unless `whole` says that the text is complete.

    Lists give a sentence per item. Bold and code marks are taken off, control characters become spaces; other markup stays for
    `foreign` to find. Linear in the length of the text, of which the first LONGEST_TEXT characters count.
    """
    found: list[str] = []
    for block in _blocks(unicodedata.normalize("NFKC", text[:LONGEST_TEXT])):
        found += _sentences(block.text, whole or block.is_item)
    return tuple(found)


def foreign(sentence: str) -> bool:
    """True if a sentence holds markup, an address or a command, or tells the reader to run something."""
    return bool(_FOREIGN.search(sentence) or _COMMAND.match(sentence))


def has_controls(text: str) -> bool:
    """True if `text` holds control, format or private characters other than white space."""
    return any(unicodedata.category(c) in ("Cc", "Cf", "Co", "Cs", "Cn") and c not in "\n\t\r" for c in text)


class _Block:
    __slots__ = ("is_item", "text")

    def __init__(self, text: str, is_item: bool) -> None:
        self.text = text
        self.is_item = is_item


def _blocks(text: str) -> list[_Block]:
    """Paragraphs and list items; an item that is followed by another one is complete also without a full stop."""
    blocks: list[_Block] = []
    lines: list[str] = []
    item = False

    def close(complete: bool) -> None:
        joined = " ".join(lines).strip()
        if joined:
            blocks.append(_Block(joined, complete))
        lines.clear()

    for line in text.splitlines():
        bullet = _BULLET.match(line)
        if bullet:
            close(item)
            item = True
            lines.append(line[bullet.end() :])
        elif not line.strip() or line.lstrip().startswith(("#", "```", "~~~", "|")):
            close(item)
            item = False
            if line.strip():
                blocks.append(_Block(line.strip(), True))
        else:
            lines.append(line.strip())
    close(False)
    return blocks


def _sentences(block: str, whole: bool) -> list[str]:
    found, start = [], 0
    for stop in _STOP.finditer(block):
        if not _is_abbreviation(block, stop):
            found.append(block[start : stop.end()])
            start = stop.end()
    rest = block[start:]
    if whole and rest.strip():
        found.append(rest if rest.rstrip()[-1:] in ".!?" else rest.rstrip() + ".")
    return [plain for plain in map(_plain, found) if plain]


def _is_abbreviation(block: str, stop: re.Match[str]) -> bool:
    """True if the word before a full stop is abbreviated by it, and a sentence goes on."""
    if stop.group().startswith(("!", "?")) or stop.end() >= len(block.rstrip()):
        return False
    before = block[max(0, stop.start() - 12) : stop.start()]
    word = before.split()[-1].lower().lstrip("(\"'[") if before.split() else ""
    following = block[stop.end() : stop.end() + 3].lstrip()[:1]
    return word in _ABBREVIATIONS and not (word in ("etc", "no", "max", "min") and following.isupper())


def _plain(sentence: str) -> str:
    sentence = _EMPHASIS.sub(lambda match: match.group(1) or match.group(2), sentence)
    return " ".join(_REFERENCE.sub("", sentence).split())
