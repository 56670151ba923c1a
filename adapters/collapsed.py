"""Collapsed ("folded") stacks: a line a stack, frames with semicolons between them, outermost first, then a number.

Layout of stackcollapse and its kin: `main;solve;exp 120`. The number has no unit. Suffixes that some writers add to frames
say what they are: `_[k]` in the kernel, `_[i]` inlined, `_[j]` compiled at run time.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf
from pathlib import Path

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import Glance
from chathpc.adapters.lines import lines
from chathpc.adapters.stacks import Stacks, library_in
from chathpc.errors import AdapterError
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile
from chathpc.profile.tree import NodeKind

_STACK = re.compile(r"\s*+(?P<frames>\S.*)[ \t](?P<count>\d{1,18}(?:\.\d{1,12})?)\s*", re.DOTALL)
#: `solve (heat.py:12)` as Python samplers write it.
_PLACED = re.compile(r"(?P<name>.+) \((?P<file>[^():;]+\.\w+|<[^<>();]+>):(?P<line>\d{1,9})\)")
#: How markup begins: a tag that is no name of a frame by itself, as `<module> (heat.py:12)` and `<init>;run` are.
_MARKUP = re.compile(r"<(?![^<>;]+>(?:;| \(| \d))")
_KERNEL = "[kernel.kallsyms]"
#: Lines looked at to recognise the format, and the parts of them that must be stacks, and stacks of several frames.
_LINES, _VALID, _SEVERAL = 200, 0.6, 0.3
#: The smallest count of many stacks is that of one which was seen a few times; times in microseconds and bytes are larger.
_FEW = 1000
#: What tells threads apart, of other programs and of those of Python.
_THREADS = (
    "perf script > samples.txt (pass it uncollapsed)",
    "py-spy record --native -f speedscope -o x.json -- ./app",
)
_HOW = "One stack per line, as in: main;solve;exp 120"


def _is_comment(line: str) -> bool:
    return not line.strip() or line.startswith(("#", "//"))


def recognises(glance: Glance) -> bool:
    """True for text most of whose first lines are stacks; nothing marks the format, so it is asked last."""
    text = glance.text
    if "\0" in text or text.lstrip()[:1] in ("", "{", "[", "%") or _MARKUP.match(text.lstrip()):
        return False
    rows = text[: 32 << 10].split("\n")
    if len(text) > 32 << 10:
        rows.pop()  # cut
    rows = [row for row in rows[:_LINES] if not _is_comment(row)]
    stacks = [found for row in rows if (found := _STACK.fullmatch(row))]
    several = sum(";" in found["frames"] for found in stacks)
    return several > 0 and len(stacks) >= _VALID * len(rows) and several >= _SEVERAL * len(stacks)


def read(path: Path) -> Profile:
    """The profile of the stacks in the file; AdapterError if no line is one."""
    stacks, known = Stacks(), dict[str, tuple[int, ...]]()
    total, smallest, valid, invalid = 0.0, inf, 0, 0
    for line in lines(path):
        if _is_comment(line):
            continue
        found = _STACK.fullmatch(line)
        if found is None:
            invalid += 1
            continue
        node, count = -1, float(found["count"])
        for text in found["frames"].split(";"):
            numbers = known.get(text)
            if numbers is None:
                numbers = known[text] = _frames(stacks, text.strip())
            node = stacks.walk(numbers, node)
        stacks.add("cpu.samples", node, count)
        total += count
        smallest = min(smallest, count or inf)
        valid += 1
    if not valid:
        raise AdapterError("contains no stack", path=path, hint=_HOW)
    if not total:
        raise AdapterError("all its stacks have count 0", path=path, hint=_HOW)
    sampled = smallest <= _FEW
    # One metric for all of them: a run of a series that took long has large counts, too.
    metric = Metric("cpu.samples", Unit.SAMPLES, "samples (the format gives no unit)", "samples")
    taken = "they are taken as samples of running threads, so shares"
    if not sampled:
        taken = "such large ones may be microseconds or bytes and are no basis for error bars. Shares"
    caveats = [f"Collapsed stacks give numbers without a unit; {taken} are known but seconds are not."]
    if invalid:
        caveats.append(f"{invalid:,} of {valid + invalid:,} lines are not stacks and were skipped.")
    profile = stacks.profile(path, [metric], format="collapsed stacks", tool="collapsed stacks")
    return replace(
        profile,
        caveats=tuple(caveats),
        not_collected={"threads": _THREADS[any(path.endswith(".py") for path in profile.tree.files)]},
        sample_count=total if sampled else None,
        timed=not sampled,
    )


def _frames(stacks: Stacks, text: str) -> tuple[int, ...]:
    """The frames that the text of one stands for: a function, and the line in it where that is told."""
    if text.endswith("_[k]"):
        return (stacks.frame(text[:-4], module=_KERNEL),)
    if text.endswith("_[i]"):
        return (stacks.frame(text[:-4], kind=NodeKind.INLINED),)
    if text.endswith("_[j]"):
        return (stacks.frame(text[:-4]),)
    placed = _PLACED.fullmatch(text)
    if placed is not None:
        line = stacks.frame("", kind=NodeKind.LINE, file=placed["file"], line=int(placed["line"]))
        return stacks.frame(placed["name"], file=placed["file"]), line
    module, tick, symbol = text.partition("`")  # as DTrace writes it
    if tick and symbol:
        return (stacks.frame(symbol, module=module),)
    return (stacks.frame(text or "[unknown]", module=library_in(text)),)


ADAPTER = Adapter(
    name="collapsed-stacks",
    reads="collapsed (folded) stacks: main;solve;exp 120",
    recognises=recognises,
    read=read,
    order=95,
)
