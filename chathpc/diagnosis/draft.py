"""A finding as a rule writes it down: with its evidence inline, before ranking and numbering."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import erf, exp, hypot, inf, isfinite, log, sqrt

from chathpc.diagnosis.catalogue import cause, common
from chathpc.diagnosis.fact import Bound, Fact, Form, Kind, Part, Quantity
from chathpc.diagnosis.facts import Facts, HotPlace
from chathpc.diagnosis.records import Place
from chathpc.diagnosis.statistics import is_above, spread_error, standard_error
from chathpc.profile import numbers
from chathpc.profile.tree import FloatArray

#: Causes that say what runs at a place and leave open why it takes its time.
UNEXPLAINED = ("hot-compute", "library-call")
#: Words of a compiler about hot code do not stand for it, unless they are worth acting on.
BESIDE_HOT = ("not-vectorised", "not-inlined")


@dataclass(frozen=True, slots=True)
class Spread:
    """The `count` locations (`of` is "ranks", "threads", "devices") that a cost is a difference between, compared within
    `groups`: the threads of several processes each among themselves.
    """

    count: int
    of: str
    groups: int = 1

    @property
    def error(self) -> float:
        """Standard error of the logarithm of the cost."""
        return spread_error(self.count, self.groups)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rule found. `cost` is in the unit of the time metric; `share` = cost / total time of the program.

    `signs` counts the independent signs that agree; `threshold` is the share that the rule asks for where that is not the
    cause's `min_share`, for the confidence.
    `impact` replaces share × headroom in the ranking where the cost is not time (a leak). `advice` comes before that of
    the catalogue, which `own_advice` leaves out: where the very remedy is known, others would contradict it. Where some
    of the catalogue's matches `fits`, the rest is left out.
    `replaces` names causes that this finding makes redundant at the same place. `samples` is the number of samples
    behind
    the share where that is not the number of time samples; 0 for a share that was timed, not sampled, inf where the tool does not
    tell their number. `spread` tells the locations where the cost is what they differ by. `agreeing` names further tools that
    found the same cause there by themselves. `suspected` names causes that may be behind it, which this profile cannot show. `removable` is
    the part of the run (0..1) that a repair can remove at most where that is not what the cause's bound says, 0 where nothing bounds it.
    `title` is said instead of the cause's. A cause that is `derived` was `read_in` the source or the machine code.
    """

    cause: str
    where: Place
    summary: str
    cost: float
    share: float
    evidence: tuple[Fact, ...]
    threshold: float | None = None
    headroom: float | None = None
    signs: int = 1
    against: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    next_measurement: str | None = None
    impact: float | None = None
    replaces: tuple[str, ...] = ()
    samples: float | None = None
    derived: bool = False
    read_in: str = "source"
    spread: Spread | None = None
    agreeing: tuple[str, ...] = ()
    suspected: tuple[str, ...] = ()
    removable: float | None = None
    title: str = ""
    own_advice: bool = False
    fits: str = ""

    @property
    def asked(self) -> float:
        """The share that the rule asks for; 0 where it asks for none."""
        known = cause(self.cause).thresholds.get("min_share")
        return self.threshold if self.threshold is not None else known.value if known is not None else 0.0

    def backed(self, *more: Fact) -> Draft:
        """The same with further evidence, which is one more sign where the finding was measured."""
        return replace(self, evidence=(*self.evidence, *more), signs=self.signs + (not self.derived))


#: Log-odds that the cause of a finding is right: with one sign, what each further independent sign adds, and each thing that
#: speaks against it. The weights of evidence add up (I. J. Good, 1950) as far as signs are independent, so more than three are
#: not counted. Fitted to the claims about the seen half of the labelled profiles (tests/bench/calibrate.py, docs/accuracy.md), not
#: chosen by cases.
_ONE_SIGN = 1.69
_FURTHER_SIGN = 1.21
_DOUBT = -0.42
_MOST_SIGNS = 3
#: Added where the only sign was read in the source: the time is measured, but that it goes for this cause is not.
_FROM_SOURCE = -0.08


def belief(signs: int, against: int = 0, *, derived: bool = False, agreeing: int = 0) -> float:
    """Probability that a finding with so many independent signs, and things against it, names the right cause; `derived` is one
    whose only sign was read in the source.

    Each of the `agreeing` tools that found the same cause by itself is a further sign, beyond the three that signs of one tool
    count for: what correlates these, one recording with its errors, is not shared. Nothing of the profile's own uncertainty
    is in it.
    """
    first = _ONE_SIGN + (_FROM_SOURCE if derived else 0.0)
    further = min(signs, _MOST_SIGNS) - 1 + agreeing
    return 1 / (1 + exp(-(first + _FURTHER_SIGN * further + _DOUBT * against)))


def confidence(facts: Facts, draft: Draft) -> tuple[float, str]:
    """Probability that a finding is right, and what it was computed from.

    Product of two: the probability that the true share is above the rule's threshold, given its error; and the belief by the
    number of signs, of tools that agree, and of things that speak against it.

    The error has two independent parts: that of sampling (normal approximation of the binomial), and, where the cost is
    what locations differ by, that of a spread from so few of them.
    """
    samples = samples_behind(facts, draft)
    sampling = share_error(facts, draft) or 0.0
    error = hypot(sampling, _spread_error(draft))
    above = 1.0 if error == 0 else 0.5 * (1 + erf((draft.share - draft.asked) / (error * sqrt(2))))
    value = above * belief(draft.signs, len(draft.against), derived=draft.derived, agreeing=len(draft.agreeing))
    words = [
        f"1 sign, derived from the {draft.read_in}"
        if draft.derived
        else f"{draft.signs} independent sign{'s' if draft.signs != 1 else ''}",
        *([f"{len(draft.agreeing) + 1} tools agree"] if draft.agreeing else []),
        f"share accurate to ±{numbers.number(sampling * 100, 2)} percentage points ({numbers.count(round(samples))} samples)"
        if samples
        else "number of samples not recorded"
        if draft.samples == inf
        else "times measured, not sampled",
    ]
    if draft.spread is not None:
        words.append(
            f"spread from {draft.spread.count} {draft.spread.of} accurate to a factor of {numbers.number(exp(draft.spread.error), 2)}"
        )
    if draft.against:
        words.append(f"{len(draft.against)} thing{'s' if len(draft.against) != 1 else ''} against it")
    return round(value, 2), ", ".join(words)


def _spread_error(draft: Draft) -> float:
    """Standard error of a draft's share because few locations show what they differ by; 0 where the cost is no such spread.

    It is constant on a scale of logarithms. From the threshold to the share it is, in shares, that times their logarithmic mean.
    """
    if draft.spread is None or draft.asked <= 0 or draft.share <= 0:
        return 0.0
    ratio = log(draft.share) - log(draft.asked)
    return draft.spread.error * ((draft.share - draft.asked) / ratio if ratio else draft.share)


def share_error(facts: Facts, draft: Draft) -> float | None:
    """Standard error of a draft's share from sampling; None for a share that was measured."""
    samples = samples_behind(facts, draft)
    return standard_error(min(max(draft.share, 0.0), 1.0), samples) if samples else None


def is_worth(facts: Facts, draft: Draft, headroom: float, limit: float) -> bool:
    """True if what could go of a draft's cost is at least `limit` (0..1 of the run) by more than sampling explains."""
    if draft.impact is not None or headroom <= 0:
        return (draft.impact or 0.0) >= limit
    samples = samples_behind(facts, draft)
    return is_above(draft.share, limit / headroom, samples or inf, common()["sigma"].value)


def samples_behind(facts: Facts, draft: Draft) -> float:
    """Samples behind a draft's share; 0 for one that was timed."""
    samples = facts.samples if draft.samples is None else draft.samples
    return samples if isfinite(samples) else 0.0


def time_text(facts: Facts, value: float) -> str:
    """An amount of the time metric: seconds, or counts of its unit."""
    return numbers.quantity(value, facts.profile.metrics[facts.metric].unit)


def of_total(facts: Facts, value: float) -> str:
    """`3.17 s of 9.01 s (35.2 %)`."""
    return f"{time_text(facts, value)} of {time_text(facts, facts.total)} ({numbers.percent(value / facts.total)})"


def share_here(facts: Facts, here: float, everywhere: float, *, of: str = "") -> str:
    """Part of the total that a place has of a cost, and that of all places where the others have a part worth naming:
    `77.8 % of the time`, `44.7 % of the time (77.8 % in all places)`.
    """
    share = f"{numbers.percent(here / facts.total)} of {of or facts.whole}"
    if here >= common()["nearly_all"].value * everywhere:
        return share
    return f"{share} ({numbers.percent(everywhere / facts.total)} program-wide)"


def fact(
    facts: Facts,
    kind: Kind,
    value: float,
    *,
    subject: str,
    how: str,
    form: Form = Form.ONE,
    unit: str | None = None,
    whole: Quantity | None = None,
    parts: Iterable[Part] = (),
    text: str = "",
    bound: Bound = Bound.NONE,
    metric: str | None = None,
    where: Place | None = None,
    error: float | None = None,
) -> Fact:
    """A fact about this profile; `how` says how the value was computed. The unit defaults to that of the time metric; a sampled
    amount of that gets its standard error, other values the `error` given (0 for a difference, whose error is another).
    """
    name = metric or facts.metric
    source_name = facts.profile.metrics[name].source_name if name in facts.profile.metrics else name
    tool = facts.profile.metrics[name].tool if name in facts.profile.metrics else ""
    tool = tool or (facts.profile.sources[0].tool if facts.profile.sources else facts.profile.format)
    return Fact(
        id="",
        kind=kind,
        subject=subject,
        form=form,
        value=float(value),
        unit=unit if unit is not None else str(facts.profile.metrics[name].unit),
        whole=whole,
        parts=tuple(parts),
        text=text,
        bound=bound,
        source=f"{tool}, {source_name}: {how}",
        metric=name,
        where=where,
        tool=tool,
        error=_sampling_error(facts, value) if metric is None and unit is None and error is None else error or None,
    )


def time_fact(
    facts: Facts,
    value: float,
    subject: str,
    how: str,
    *,
    of: Quantity | None = None,
    form: Form = Form.ONE,
    parts: Iterable[Part] = (),
    where: Place | None = None,
    error: float | None = None,
) -> Fact:
    """An amount of time as a part of the program's, or `of` another time; see `fact`."""
    return fact(
        facts, Kind.AMOUNT, value, subject=subject, how=how, whole=of or total(facts), form=form, parts=parts, where=where, error=error
    )  # fmt: skip


def share_fact(
    facts: Facts, value: float, subject: str, of: str, how: str, *, metric: str | None = None, where: Place | None = None,
    form: Form = Form.ONE,
) -> Fact:  # fmt: skip
    """A part (0..1) of something of which only the name is known; see `fact`."""
    return fact(
        facts, Kind.SHARE, value, subject=subject, how=how, unit="ratio", whole=Quantity(of=of), metric=metric, where=where, form=form
    )  # fmt: skip


def spread_parts(facts: Facts, values: FloatArray) -> tuple[Part, ...]:
    """The least, the mean and the largest of some times, as parts of a fact of their spread."""
    told = {"least": values.min(), "mean": values.mean(), "most": values.max()}
    return tuple(Part(label, float(value), time_unit(facts)) for label, value in told.items())


def kernel_time(
    facts: Facts, subject: str, seconds: float, device: float, *, where: Place | None = None, form: Form = Form.NAME
) -> Fact:
    """How long a kernel, or several, run, of the `device` time in which anything runs."""
    return fact(
        facts, Kind.AMOUNT, seconds, subject=subject, form=form, unit="s", whole=Quantity(device, "s", "busy time of the device"),
        metric="gpu.kernel.time", how="time of its launches" if form == Form.NAME else "time of their launches", where=where,
    )  # fmt: skip


def time_unit(facts: Facts) -> str:
    """Unit of the time metric."""
    return str(facts.profile.metrics[facts.metric].unit)


def total(facts: Facts) -> Quantity:
    """The whole that times are a part of."""
    return Quantity(facts.total, time_unit(facts))


def part_of(facts: Facts, value: float, of: str) -> Quantity:
    """A time that others are a part of, by its name."""
    return Quantity(value, time_unit(facts), of)


def _sampling_error(facts: Facts, value: float) -> float | None:
    """Standard error of an amount of the time metric; None where times were measured, or the value is no part of the total."""
    if not isfinite(facts.samples) or not 0 < value < facts.total:
        return None
    return facts.total * facts.error(value / facts.total)


def calling_function(facts: Facts, hot: HotPlace, whole: Quantity, *, how: str) -> Fact:
    """How much of a cost in library functions, the whole, the function at the place calls for."""
    return fact(
        facts,
        Kind.AMOUNT,
        hot.weight,
        subject=f"calls from {hot.place.function}",
        form=Form.MANY,
        whole=whole,
        how=how,
        where=hot.place,
    )
