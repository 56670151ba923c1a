r"""The graphs of gprof2dot: functions with percentages in their labels.

A label has lines: the load module (where known), the name, the share with all below it, the share of its own in brackets,
and the number of calls: `libm.so\nexp\n12.50%\n(12.50%)\n1000×`.
"""

from __future__ import annotations

import re
from pathlib import Path

from chathpc.adapters.call_graph import CAVEAT
from chathpc.adapters.gprof.functions import Function, Functions
from chathpc.adapters.lines import lines
from chathpc.adapters.stacks import Stacks
from chathpc.errors import AdapterError
from chathpc.profile.location import Locations
from chathpc.profile.metric import Metric, Unit
from chathpc.profile.profile import Profile, Source
from chathpc.profile.tree import NodeKind

_ID = r'(?:"(?:[^"\\]|\\.)*+"|[\w.]++)'
_NODE = re.compile(rf"\s*+(?P<id>{_ID})\s*+\[(?P<facts>.*)\]\s*;?\s*")
_EDGE = re.compile(rf"\s*+(?P<caller>{_ID})\s*+->\s*+(?P<callee>{_ID})\s*+(?:\[.*)?;?\s*")
_LABEL = re.compile(r'\blabel="(?P<label>(?:[^"\\]|\\.)*+)"')
_TOTAL = re.compile(r"\d{1,4}(?:\.\d{1,9})?%")
_OWN = re.compile(r"\((?P<own>\d{1,4}(?:\.\d{1,9})?)%\)")
_CALLS = re.compile(r"(?P<calls>\d{1,18})[×x]")
#: gprof2dot leaves out what is below 0.5 % unless told otherwise.
_ROUNDING = 0.005


def read(path: Path) -> Profile:
    """The profile of a graph of gprof2dot; AdapterError if no node has a share of its own."""
    functions = Functions()
    for line in lines(path, longest=1 << 20):
        if edge := _EDGE.fullmatch(line):
            functions.arcs.append((_plain(edge["caller"]), _plain(edge["callee"])))
        elif (node := _NODE.fullmatch(line)) and (label := _LABEL.search(node["facts"])):
            found = _function(label["label"])
            if found is not None:
                functions.known[_plain(node["id"])] = found
    own = sum(function.own for function in functions.known.values())
    if not own:
        raise AdapterError(
            "no node of the graph has a share of its own",
            path=path,
            hint="Write it with gprof2dot and its default labels, or give the profile it was drawn from.",
        )
    stacks = Stacks()
    title = path.name.split(".dot")[0]
    root = stacks.step(-1, stacks.frame(title, kind=NodeKind.REGION))
    places = functions.contexts(stacks, root)
    for key, function in functions.known.items():
        if function.own:
            stacks.add("cpu.share", places[key], function.own)
        if function.calls:
            stacks.add("calls.count", places[key], function.calls)
    rest = 100.0 - own
    if rest > _ROUNDING * len(functions.known):
        left_out = stacks.step(root, stacks.frame("[omitted from the graph]", kind=NodeKind.PLACEHOLDER))
        stacks.add("cpu.share", left_out, rest)
    metrics = [
        Metric("cpu.share", Unit.PERCENT, "share of the cost, in percent of the run", "self %"),
        Metric("calls.count", Unit.COUNT, "calls", "calls"),
    ]
    metrics = [metric for metric in metrics if stacks.has(metric.id)]
    tree, values = stacks.finish(metrics)
    return Profile(
        format="gprof2dot graph",
        title=title,
        tree=tree,
        metrics={metric.id: metric for metric in metrics},
        values=values,
        where=Locations.single(),
        sources=(Source(path, "gprof2dot"),),
        caveats=(
            "A graph of gprof2dot has percentages only: of what (time, instructions, samples) and of how much is unknown.",
            "gprof2dot omits small functions and calls from the graph.",
            CAVEAT,
        ),
        not_collected={"the costs themselves": "give chathpc the profile that the graph was drawn from"},
        timed=True,
    )


def _plain(identifier: str) -> str:
    """An identifier without its quotes."""
    return identifier[1:-1] if identifier.startswith('"') else identifier


def _function(label: str) -> Function | None:
    """What a label says; None if it is no function's."""
    words: list[str] = []
    own: float | None = None
    calls: int | None = None
    shares = 0
    for line in label.split("\\n"):
        if found := _OWN.fullmatch(line):
            own = float(found["own"])
        elif _TOTAL.fullmatch(line):
            shares += 1
        elif (found := _CALLS.fullmatch(line)) and shares:
            calls = int(found["calls"])
        elif line:
            words.append(line.replace('\\"', '"').replace("\\\\", "\\"))
    if own is None or not words:
        return None
    module, name = (words[0], " ".join(words[1:])) if len(words) > 1 else ("", words[0])
    return Function(name, own, calls, module)
