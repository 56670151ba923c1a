"""The table of public sample files: what a careful reader concludes, and what chathpc says. `python -m tests.conformance.samples`
prints docs/samples.md.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

import chathpc
from chathpc.errors import ChathpcError

HERE = Path(__file__).resolve()
DATA = Path(os.environ.get("CHATHPC_TEST_DATA") or HERE.parents[3] / "shared" / "data") / "profiles"


@dataclass(frozen=True, slots=True)
class Sample:
    """A file, what a reader concludes, and what is allowed: verdicts, causes of which one is first or second, causes that must not
    be claimed at all, words; or words of a refusal."""

    file: str
    reader: str
    verdict: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What chathpc says: verdict, causes in order, headline, all words; or the refusal."""

    verdict: str
    causes: tuple[str, ...]
    headline: str
    words: str
    hint: str = ""


def samples() -> Iterator[Sample]:
    """The table, in its order."""
    for file, entry in yaml.safe_load(HERE.with_name("samples.yaml").read_text()).items():
        lists = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        yield Sample(file, **lists)


def explain(sample: Sample) -> Found:
    """What chathpc says of a sample without a model."""
    try:
        report = chathpc.explain(DATA / sample.file, llm="none")
    except ChathpcError as error:
        return Found("refused", (), error.message.replace(f"{DATA}/", ""), error.message, error.hint)
    words = [report.headline, *(item.statement for item in report.evidence)]
    words += [f"{finding.summary} {finding.where.function} {finding.where.kernel}" for finding in report.findings]
    words += [row.label for row in report.tree.rows] if report.tree is not None else []
    return Found(report.verdict, tuple(finding.cause for finding in report.findings), report.headline, "\n".join(words))


def complaint(sample: Sample, found: Found) -> str:
    """Why what was found does not agree with the reader, or nothing."""
    if sample.refused is not None:
        if found.verdict != "refused":
            return f"should be refused, is {found.verdict}"
        if not found.hint:
            return "is refused without a hint"
        return (
            ""
            if sample.refused.lower() in (found.words + found.hint).lower()
            else f"refused for another reason: {found.words}"
        )
    if found.verdict not in sample.verdict:
        return f"verdict {found.verdict}: {found.headline}"
    if sample.causes and found.verdict != "insufficient-data" and not {*found.causes[:2]} & {*sample.causes}:
        return f"first causes {found.causes[:2]}, should hold one of {sample.causes}"
    if wrong := sorted({*found.causes} & {*sample.forbidden}):
        return f"claims {wrong}, which a reader excludes"
    missing = [name for name in sample.names if name not in found.words]
    return f"does not say {missing}" if missing else ""


def row(sample: Sample, found: Found) -> str:
    """The sample's line of docs/samples.md."""
    said = textwrap.shorten(found.headline.replace("|", "\\|").replace("\n", " "), 180, placeholder=" …")
    mark = " **disagrees**" if complaint(sample, found) else ""
    return f"| {sample.file} | {sample.reader} | {found.verdict}: {said}{mark} | {', '.join(found.causes[:3])} |"


def main() -> int:
    """Print the page; 1 if something does not agree."""
    lines = [
        "# Public sample files",
        "",
        "What a careful reader concludes from each of the public samples that chathpc is tested with, in our words, and what",
        "`chathpc explain FILE --llm none` says. Made by `python -m tests.conformance.samples > docs/samples.md`; the files are not",
        "part of this repository. `tests/conformance/test_samples.py` fails where they disagree.",
        "",
        "| file | a careful reader | chathpc | causes |",
        "|---|---|---|---|",
    ]
    bad = 0
    for sample in samples():
        found = explain(sample)
        wrong = complaint(sample, found)
        bad += bool(wrong)
        lines.append(row(sample, found))
        if wrong:
            sys.stderr.write(f"{sample.file}: {wrong}\n")
    sys.stdout.write("\n".join(lines) + "\n")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
