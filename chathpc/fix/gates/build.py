"""The second gate: it builds as the original does, and the build changes nothing but what it makes."""

from __future__ import annotations

from collections.abc import Sequence

from chathpc.fix.gates.imports import Imports, suspicious
from chathpc.fix.records import Figure, GateResult, Verdict
from chathpc.fix.runner import Built
from chathpc.profile.text import clean

#: Of what a compiler says the last lines are kept (characters).
_KEPT = 2000


def judge(
    original: Built,
    changed: Built,
    touched: Sequence[str],
    programs: tuple[Imports, Imports] | None,
) -> GateResult:
    """Whether the change builds. `touched` are files of the original that the build changed, `programs` what the executables of both
    sides take from libraries (None where that cannot be told).
    """
    done = changed.completed
    said = (done.stderr or done.stdout).decode("utf-8", "replace")
    figures: dict[str, Figure] = {
        "seconds": round(done.seconds, 3),
        "warnings": changed.warnings,
        "warnings_original": original.warnings,
        "output": "\n".join(clean(row) for row in said[-_KEPT:].split("\n")),
    }
    if not done.succeeded:
        how = f"status {done.code}" if done.status == "exited" else done.status
        return GateResult(
            "build", False, f"It does not build ({how}): {first_error(said)}", Verdict.BUILD_FAILED, figures
        )
    if touched:
        shown = ", ".join(clean(path) for path in touched[:5])
        return GateResult("build", False, f"Building it changes {shown}.", Verdict.CHEATED, figures)
    if programs is not None:
        found = suspicious(*programs)
        if found:
            return GateResult("build", False, f"The built program {clean(found)}.", Verdict.CHEATED, figures)
    more = changed.warnings - original.warnings
    warned = f" with {more} new warning{'s' if more != 1 else ''}" if more > 0 else ""
    return GateResult("build", True, f"Builds{warned}.", None, figures)


def first_error(said: str) -> str:
    """The first line that names an error, else the last line."""
    rows = [row.strip() for row in said.splitlines() if row.strip()]
    errors = [row for row in rows if "error" in row.lower()]
    return clean((errors or rows[-1:] or ["no message"])[0])[:200]
