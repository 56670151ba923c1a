"""Records to lines of the ledger and back: what a session that was killed has already found out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from chathpc.diagnosis.records import Finding
from chathpc.fix.ledger import Event
from chathpc.fix.records import Attempt, Candidate, GateResult, Speedup, Verdict


def candidate_data(candidate: Candidate, key: str, round_number: int) -> dict[str, Any]:
    """A candidate as the ledger has it."""
    finding = None if candidate.finding is None else finding_key(candidate.finding)
    known = {each.name: getattr(candidate, each.name) for each in fields(candidate)}
    return {**known, "key": key, "round": round_number, "finding": finding}


def candidate_of(data: Mapping[str, Any], findings: Sequence[Finding]) -> Candidate:
    """The candidate of a line; its finding is looked up in the diagnosis of its round, which is computed anew."""
    finding = next((each for each in findings if finding_key(each) == data["finding"]), None)
    known = {each.name: data[each.name] for each in fields(Candidate) if each.name in data}
    return Candidate(**{**known, "finding": finding, "claims": tuple(data.get("claims", ()))})


def finding_key(finding: Finding) -> str:
    """What a finding is known by from one session to the next."""
    where = finding.where
    return f"{finding.cause}|{where.kernel or where.function or ''}|{where.short}"


def gate_data(key: str, result: GateResult) -> dict[str, Any]:
    """What a gate said, as the ledger has it."""
    return {"key": key, **{each.name: getattr(result, each.name) for each in fields(result)}}


def gate_of(data: Mapping[str, Any]) -> GateResult:
    """What a gate said."""
    verdict = None if data["verdict"] is None else Verdict(data["verdict"])
    return GateResult(data["gate"], bool(data["passed"]), data["statement"], verdict, dict(data["figures"]))


def speedup_of(gates: Sequence[GateResult]) -> Speedup | None:
    """What the gate of speed measured."""
    figures = next((each.figures for each in gates if each.gate == "speed"), {})
    values = [figures.get(name) for name in ("ratio", "low", "high", "pairs")]
    if any(not isinstance(value, (int, float)) for value in values):
        return None
    ratio, low, high, pairs = (float(value) for value in values if isinstance(value, (int, float)))
    return Speedup(ratio, low, high, int(pairs)) if pairs else None


@dataclass(slots=True)
class Past:
    """What earlier sessions did, from the ledger. `finished` are the proposers that said that they have no more, with their notes."""

    begun: Mapping[str, Any] | None = None
    ended: bool = False
    candidates: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    gates: dict[str, list[GateResult]] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    asked: set[tuple[int, str]] = field(default_factory=set)
    finished: dict[str, Sequence[str]] = field(default_factory=dict)
    rounds: dict[int, str | None] = field(default_factory=dict)
    profiles: dict[str, str] = field(default_factory=dict)
    measured: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    seconds: float = 0.0

    @classmethod
    def of(cls, events: Sequence[Event]) -> Past:
        """What the events say; later ones win."""
        past = cls()
        last: float | None = None
        for event in events:
            data = event.data
            if last is not None and event.event not in ("begin", "resume"):
                past.seconds += max(0.0, event.time - last)
            last = event.time
            match event.event:
                case "begin":
                    past.begun = data
                case "candidate":
                    past.candidates.setdefault(data["key"], data)
                case "asked":
                    past.asked.add((data["round"], data["proposer"]))
                    if "finished" in data:
                        past.finished[data["proposer"]] = data["finished"]
                case "gate":
                    past.gates.setdefault(data["key"], []).append(gate_of(data))
                case "verdict":
                    past.verdicts[data["key"]] = Verdict(data["verdict"])
                case "round":
                    past.rounds[data["round"]] = data["accepted"]
                case "profile":
                    past.profiles[data["build"]] = data["path"]
                case "measured":
                    past.measured[data["what"]] = data
                case "end":
                    past.ended = True
        return past

    def attempt(self, key: str, candidate: Candidate) -> Attempt:
        """The candidate with all that is known of it."""
        gates = tuple(self.gates.get(key, ()))
        return Attempt(
            candidate=candidate,
            verdict=self.verdicts[key],
            gates=gates,
            speedup=speedup_of(gates),
            predicted=None if candidate.finding is None else candidate.finding.speedup_bound,
        )
