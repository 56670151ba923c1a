"""The line that a kernel's warps wait for, as the place of a finding and as evidence; the stalled line stays in the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chathpc.diagnosis.catalogue import common
from chathpc.diagnosis.draft import fact
from chathpc.diagnosis.fact import Fact, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.sampled_code import called_at, moved, node_at, short
from chathpc.diagnosis.sass.blame import Link
from chathpc.diagnosis.stall_causes import StallCause, stall_cause
from chathpc.profile.machine_code import CodeLine
from chathpc.profile.names import shorten
from chathpc.profile.text import clean
from chathpc.profile.tree import IntArray

#: Characters of an instruction in a sentence.
_LONGEST = 60
_ADVICE = (
    (
        ("LDL", "STL"),
        "Keep in registers what is read back from local memory {}: constant indices into small arrays, fewer live values, a higher limit "
        "of registers.",
    ),
    (
        ("ATOM", "ATOMG", "RED", "REDG"),
        "Combine the values of a warp or block (__reduce_add_sync, shared memory) before the atomic operation {}.",
    ),
    (
        ("MUFU",),
        "Use the fast forms of the special function {} where the accuracy allows (__expf, __fdividef, rsqrtf, --use_fast_math).",
    ),
    (
        ("F2F", "F2I", "I2F", "I2I", "FRND"),
        "Avoid the conversion {}: keep one type, write constants with the suffix f, move it out of the loop.",
    ),
    (
        ("LDS", "LDSM"),
        "Read from shared memory {} before the arithmetic in between, keep the value in a register, or pass it with __shfl_sync.",
    ),
    (
        ("DADD", "DMUL", "DFMA", "DSETP"),
        "Compute in single precision {} where the accuracy allows, or break the chain into independent parts.",
    ),
)
#: How the stalled place depends on the one that is waited for.
_LINKS = {
    Link.RESULT: "whose result is used {}",
    Link.OPERANDS: "whose registers are needed again {}",
}


def blamed(
    facts: Facts, kernel: str, name: str, nodes: IntArray, metrics: Sequence[str], what: str, stalled: Place
) -> tuple[Place, list[Fact], StallCause | None]:
    """The line that stalls counted by `metrics` are blamed on, and the evidence for it; `stalled` and nothing where the profile
    shows no machine code, or the stalled instructions wait for nothing but themselves.

    `kernel` is the name in the profile, `name` as it stands in a sentence, `what` says what the metrics count.
    """
    cause = stall_cause(facts.profile, kernel, nodes, metrics)
    if cause is None or not cause.elsewhere:
        return stalled, [], None
    profile = facts.profile
    place = stalled
    if cause.place.line:
        node = node_at(profile, nodes, cause.place)
        file = profile.tree.file_name(node) if node >= 0 else None
        place = replace(
            stalled, file=file or cause.place.file, line=cause.place.line, node=node if node >= 0 else stalled.node
        )
        place = moved(profile, place, nodes, called_at(cause.place))
    evidence = [
        fact(
            facts, Kind.SHARE, cause.part, subject=f"waiting for {cause.words} {_at(cause.place)}{_relation(cause)}",
            whole=Quantity(of=f"the {what} in {name}"), unit="ratio", metric=metrics[0],
            how="samples of stalled instructions, given to the instructions that their operands come from (Zhou et al., GPA, CGO 2021)",
            where=place,
        )
    ]  # fmt: skip
    if cause.link == Link.RESULT:
        between = cause.distance - 1
        evidence.append(
            fact(
                facts, Kind.COUNT, between, subject=f"the code between {_said(cause.place)} and {_said(cause.used)}, which needs its result,",
                unit="instructions", metric=metrics[0], how="machine code", where=place,
            )
        )  # fmt: skip
    if cause.address is not None:
        first, distance = cause.address
        evidence.append(
            fact(
                facts, Kind.CODE, distance, subject="the address of this load",
                text=f"comes from the load {_at(first)}, so that one wait follows the other", parts=(Part("earlier by", distance, "instructions"),),
                unit="instructions", metric=metrics[0], how="machine code, followed backwards", where=place,
            )
        )  # fmt: skip
    if cause.before is not None:
        line, part = cause.before
        evidence.append(
            fact(
                facts, Kind.SHARE, part, subject=f"the code {_at(line)}, where the warps are that the others wait for,",
                whole=Quantity(of="the stall samples between this barrier and those before it"), unit="ratio", metric=metrics[0], where=place,
                how="samples of other stalls on the ways from one barrier to the next",
            )
        )  # fmt: skip
    return place, evidence, cause


def advice_for(cause: StallCause | None) -> tuple[str, ...]:
    """What to do about this instruction in particular, before what the catalogue says of the cause in general."""
    if cause is None:
        return ()
    here, use = _at(cause.place), _at(cause.used)
    opcode = cause.opcode
    if cause.address is not None:
        return (
            f"Do not let the load {_at(cause.address[0])} delay the one {here}: fetch it an iteration ahead into a register, or "
            "order the data so that no index has to be loaded first.",
        )
    if opcode in ("LDG", "LD") and cause.link == Link.RESULT and cause.distance <= common()["close_use"].value:
        return (
            f"Issue the load {here} earlier: load what the next iteration needs before the arithmetic of this one, or unroll so that "
            f"several loads are under way before the first is used {use}.",
        )
    return tuple(text.format(here) for opcodes, text in _ADVICE if opcode in opcodes)


def _said(line: CodeLine) -> str:
    return clean(shorten(" ".join(line.text.split()), _LONGEST))


def _at(line: CodeLine) -> str:
    return f"at {clean(short(line))}" if line.line else f"at +{line.offset:#x} ({_said(line)})"


def _relation(cause: StallCause) -> str:
    """How the stalled instruction depends on the one that is waited for, as the end of a sentence."""
    if cause.link not in _LINKS:
        return ""
    same = cause.used.line and (cause.used.file, cause.used.line) == (cause.place.file, cause.place.line)
    return ", " + _LINKS[cause.link].format("in the same line" if same else _at(cause.used)) + ","
