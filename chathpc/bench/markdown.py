"""A run of the benchmark as a page of the documentation: docs/accuracy.md is what this writes."""

from __future__ import annotations

from chathpc.bench import lines
from chathpc.bench.result import Result, shown
from chathpc.reports.markdown import code, prose, table
from chathpc.reports.style import Style

_LEAD = """\
Made by `chathpc bench diagnosis`, which anybody can run on [labelled profiles](labelled-profiles.md) of their own. Shares come
with a 95 % interval in brackets (Wilson's; resampled cases for ranks, Brier score and calibration error) and the number of
cases or claims behind them: the sets are small, and a figure without its interval says little. What is asked is what the project
asks of itself; what misses it is shown like everything else."""

_TERMS = """\
- **Fault**: a case with a cause that the profile can show. Answers are the report's causes in its order; a
  verdict without a bottleneck is its first answer. The label's cause and those that it accepts are right.
- **Function, file and line**: those of the finding of a right cause among the first three causes; a fault that was not found is
  at the wrong place. Names are compared without scopes, arguments and suffixes of compilers; lines must lie in the label's range.
- **Claim**: a finding whose share × headroom reaches the verdict's weight (5 % of the run). Precision, false claims and
  calibration are about claims; other findings only say where time is.
- **Expected calibration error**: ten bins of equal width, |stated − right| weighted by the claims of each. Few claims make it too
  large: chance alone keeps a bin from being right as often as was stated.
- **The biggest node**: a floor without any diagnosis. Functions, kernels and kinds of copies by exclusive time; the cause is what
  the name of the biggest suggests (own code and libraries: hot-compute; libm: expensive-math; malloc: allocation-churn; memcpy:
  redundant-copies; MPI: mpi-communication-bound; waiting in the OpenMP runtime: omp-load-imbalance; …), its place the function
  of the program that it is called from.
- **The profile-blind prior**: always the most frequent causes of the other cases.
- **first**, **in three**, **MRR**: cases whose first answer is right, one of the first three, and the mean reciprocal rank;
  healthy programs, and faults that the profile cannot show, are cases here as well.
- **Seen and held-out**: the half that a label states; without one, the parity of the first byte of the SHA-256 sum of the
  case's name, which says that nobody chose, not that nobody looked."""


def render(result: Result, style: Style, show: str) -> str:
    """The page; `show` chooses the cases that are listed."""
    sets = lines.columns(result)
    names = [part.name for part in sets]
    blocks = ["# Accuracy of the diagnosis", _LEAD, prose(lines.lead(result))]
    blocks += [prose(sentence) for sentence in lines.left_out(result)]
    rows = [
        (
            f"{title} {code(key)}",
            *(lines.cell(part.get(key)) for part in sets),
            lines.asked(result.whole.get(key)),
        )
        for key, title in lines.figure_keys(result)
    ]
    blocks += ["## Figures", table(("figure", *map(prose, names), "asked"), rows)]
    blocks += ["## What is counted", _TERMS]
    reliability = [lines.bin_cells(row) for row in result.whole.reliability]
    blocks += ["## Confidence of the claims", table(lines.BIN_HEADER, reliability)]
    for key, found in result.tables:
        blocks += [
            f"## {lines.TABLES[key]}",
            table(lines.ROW_HEADER, [tuple(map(prose, lines.row_cells(row))) for row in found]),
        ]
    cases = shown(result.scores, show)
    if show != "none":
        title = "Cases" if show == "all" else "Cases that are not right"
        blocks += [
            f"## {title}",
            f"{len(cases)} of {len(result.scores)}.",
            table(lines.CASE_HEADER, [tuple(map(prose, lines.case_cells(score))) for score in cases]),
        ]
    return style.fit("\n\n".join(block for block in blocks if block) + "\n")
