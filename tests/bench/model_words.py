"""What a local model says of profiles: `python -m tests.bench.model_words FOLDER... [--audience expert]`.

Every folder below FOLDER with a `database` in it is explained. Printed for each: seconds, tokens, how many sentences were kept, repaired and
struck, and whether verdict, findings and evidence are those without a model; then all sentences beside the facts that the model was told, to be
read by a person: what the check let pass is right only if a person finds it there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import chathpc
from chathpc.pipeline import prompt

SAME = ("verdict", "headline", "findings", "evidence")


def main() -> None:
    """Explain, count and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.model_words", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--llm", default="local")
    parser.add_argument("--audience", choices=("expert", "newcomer", "manager"), default="expert")
    options = parser.parse_args()
    totals: Counter[str] = Counter()
    texts: list[str] = []
    sys.stdout.write(
        "| program | seconds | prompt | written | sentences | kept | repaired | struck | findings as without |\n|---|---|---|---|---|---|---|---|---|\n"
    )
    for database in sorted(found for folder in options.folders for found in folder.glob("**/database")):
        profile, name = chathpc.load(database), database.parent.name
        plain = chathpc.explain(profile, llm="none", audience=options.audience)
        if plain.verdict == "insufficient-data":
            continue
        told = json.loads(prompt(profile, llm=options.llm, audience=options.audience).body)["messages"][-1]["content"]
        report = chathpc.explain(profile, llm=options.llm, audience=options.audience)
        said = [one for one in report.explanation.sentences if one.status != "catalogue"]
        status = Counter(one.status for one in said)
        same = all(getattr(plain, key) == getattr(report, key) for key in SAME)
        totals.update(status)
        totals.update(
            {
                "sentences": len(said),
                "programs": 1,
                "same": int(same),
                "model": int(report.explanation.model is not None),
            }
        )
        usage = report.explanation.usage
        cells = [
            name,
            f"{report.timings['explain']:.1f}",
            *(("", "") if usage is None else (usage.prompt_tokens, usage.completion_tokens)),
        ]
        cells += [len(said), status["supported"], status["repaired"], status["struck"], "yes" if same else "NO"]
        sys.stdout.write(f"| {' | '.join(map(str, cells))} |\n")
        sys.stdout.flush()
        texts += [f"\n## {name}\n", told, ""]
        texts += [
            f"[{one.status}{f': {one.reason}' if one.reason else ''}] {one.text}"
            for one in report.explanation.sentences
        ]
        texts += [report.explanation.note] if report.explanation.note else []
    kept = totals["supported"] + totals["repaired"]
    share = f"{kept / totals['sentences']:.1%}" if totals["sentences"] else "none"
    sys.stdout.write(
        f"\n{totals['programs']} programs, {totals['model']} worded by the model, {totals['same']} with the same findings as without; "
        f"{kept} of {totals['sentences']} sentences kept ({share}), {totals['repaired']} repaired.\n"
    )
    sys.stdout.write("\n".join(texts) + "\n")


if __name__ == "__main__":
    main()
