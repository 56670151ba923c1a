"""What NVIDIA's own rules found in a report, as remarks about the kernels: their links turned into plain words."""

from __future__ import annotations

import re
from collections.abc import Callable

from chathpc.adapters.nsight_compute.launch import Launch, Rule
from chathpc.profile.remark import Remark
from chathpc.profile.text import clean

TOOL = "Nsight Compute"
_ERROR = 4
_KINDS = {0: "ok", 1: "ok", 2: "optimization", 3: "warning", 4: "error"}
#: `@section:ID:words@`, `@url:words:https://…@`, `@sass:ADDRESS:words@`, `@source:FILE:LINE:words@`, `@source:ADDRESS:words@`
_LINK = re.compile(r"@(section|url|sass|source):([^@\n]*)@")
_ADDRESS = re.compile(r"(?:0x)?([0-9a-fA-F]{5,16})")
#: Remarks that are kept of one kernel: some rules speak of every instruction.
_MOST = 40

#: Paths of the machine that profiled: errors of rules carry them.
_PATH = re.compile(r"(?<![\w/.:])(?:/|[A-Za-z]:\\)[^\s,;'\")]*")

#: Address of an instruction → (its node or −1, what a person calls its place).
Places = Callable[[int], tuple[int, str]]


def plain(text: str, place: Callable[[int], str]) -> str:
    """`text` without links: sections and web pages by their words, instructions as `place` calls them."""

    def word(match: re.Match[str]) -> str:
        kind, rest = match[1], match[2]
        if kind == "url":
            return rest.split(":http", 1)[0]
        parts = rest.split(":")
        if kind == "section":
            return parts[-1]
        address = _ADDRESS.fullmatch(parts[0])
        if address is not None:
            return place(int(address[1], 16))
        if len(parts) >= 3 and parts[-2].isdigit():
            return f"{':'.join(parts[:-2]).rsplit('/', 1)[-1]}:{parts[-2]}"
        return parts[-1]

    return " ".join(clean(_PATH.sub(_base_name, _LINK.sub(word, text.replace("\n", " ")))).split())


def _base_name(match: re.Match[str]) -> str:
    return re.split(r"[/\\]", match[0])[-1]


def remarks_of(launch: Launch, node: int, places: Places) -> list[Remark]:
    """What the rules found about one launch of the kernel at `node`; where profiling failed they only complain."""
    found: list[Remark] = []
    if launch.failed:
        return found
    for rule in launch.rules[:_MOST]:
        if rule.type == _ERROR and _PATH.search(rule.text):
            continue  # the rule's own program failed, and says where on that machine it lay
        text = plain(rule.text, lambda address: places(address)[1])
        if not text:
            continue
        title = plain(rule.title, lambda address: places(address)[1]) or clean(rule.name or rule.rule)
        found.append(
            Remark(
                tool=TOOL,
                rule=clean(rule.rule or rule.name),
                kind=_KINDS.get(rule.type, "ok"),
                title=title,
                text=text,
                node=_mentioned(rule, places, node),
                speedup=None if rule.speedup is None else rule.speedup / 100.0,
                scope=rule.scope if rule.speedup is not None else "",
            )
        )
    return found


def _mentioned(rule: Rule, places: Places, otherwise: int) -> int:
    """The instruction that a rule speaks of, if it is one; else the kernel."""
    nodes = {
        places(int(address[1], 16))[0]
        for match in _LINK.finditer(rule.text)
        if match[1] in ("sass", "source") and (address := _ADDRESS.fullmatch(match[2].split(":")[0]))
    }
    return nodes.pop() if len(nodes) == 1 and min(nodes) >= 0 else otherwise
