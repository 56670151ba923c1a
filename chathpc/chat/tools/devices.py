"""Which GPUs a run used."""

from __future__ import annotations

from collections import Counter

from chathpc.chat.session import Session
from chathpc.chat.tools.record import FactList, NoArguments, Result
from chathpc.diagnosis.fact import Kind, told
from chathpc.profile import numbers
from chathpc.profile.remark import Device
from chathpc.prompts.untrusted import quote


def devices(session: Session, asked: NoArguments) -> Result:
    """The GPUs of the run, as the profile describes them."""
    known = session.measured.devices.values()
    if not known:
        seen = any(name.startswith("gpu.") for name in session.additive)
        return Result("The profile does not name the GPU." if seen else "The profile has nothing of a GPU.")
    facts = FactList("the profile's description of the device")
    facts.count("the profile", len(known), "GPUs")
    alike = Counter(_described(one, facts) for one in known)
    text = "; ".join(f"{numbers.count(count)} x {one}" if count > 1 else one for one, count in alike.items())
    return Result(f"It ran on {text}.", facts=facts.all(), complete=True)


def _described(one: Device, facts: FactList) -> str:
    name, parts = quote(one.name), []
    for what, value, unit in (
        ("multiprocessors", one.multiprocessors, "multiprocessors"),
        ("memory", one.memory, "bytes"),
        ("peak of its memory", one.bandwidth, "bytes/s"),
    ):
        if value is not None:
            facts.add(Kind.VALUE, f"{what} of {name}", float(value), unit)
            parts.append(told(float(value), unit))
    if len(parts) == 3:
        parts[1:] = [f"{parts[1]} of memory with {parts[2]} at most"]
    if one.clock is not None:
        facts.add(Kind.VALUE, f"clock of {name}", one.clock / 1e6, "MHz")
        parts.append(f"{numbers.number(one.clock / 1e6)} MHz")
    if one.capability:
        parts.append(f"compute capability {quote(one.capability)}")
    return f"{name} ({', '.join(parts)})" if parts else name
