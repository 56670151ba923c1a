"""The total of one run as each way of asking for it tells it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from click.testing import CliRunner

import chathpc
from chathpc.chat.session import Session
from chathpc.commands.main import cli
from chathpc.comparison.compare import diff
from chathpc.profile.profile import Profile


def _said(*words: str) -> str:
    result = CliRunner().invoke(cli, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def totals(path: Path, profile: Profile) -> dict[str, float]:
    """Total of the time metric of the profile at `path` in its unit, by who tells it."""
    time = profile.time
    assert time is not None
    report = chathpc.explain(profile)
    metrics = json.loads(_said("metrics", str(path), "--format", "json"))["metrics"]
    stacks = json.loads(_said("export", str(path), "--to", "speedscope", "-q"))["profiles"]
    rows = list(csv.DictReader(_said("export", str(path), "--to", "csv", "-q").splitlines()))
    column = next(name for name in rows[0] if name.startswith(f"{time.id} (inc)"))
    compared = diff(profile, profile)
    session = Session(profile)
    told = {
        "total": profile.total(time.id),
        "total by the tool's name": profile.total(time.source_name),
        "exclusive values": float(profile.exclusive(time.id).values.sum()),
        "table of functions": float(profile.table("function", time.id)["exclusive"].sum()),
        "table by the tool's name": float(profile.table("function", time.source_name)["exclusive"].sum()),
        "tree": json.loads(_said("tree", str(path), "--format", "json"))["total"],
        "metrics": next(each["total"] for each in metrics if each["id"] == time.id),
        "speedscope": sum(stacks[0]["weights"]),
        "csv": sum(float(row[column] or 0) for row in rows if row["parent"] == "-1"),
        "chat": session.total(time),
        "diff": compared.before.runs[0].total,
    }
    if report.profile.run.total is not None:
        told["report"] = report.profile.run.total
    if report.tree is not None:
        told["tree of the report"] = report.tree.total
    return {who: value for who, value in told.items() if value is not None}
