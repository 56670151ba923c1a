"""Builds, runs and records the programs of programs.yaml, checks that each fault is there, and writes cases/NAME/truth.json.

    python -m tests.accuracy.measure [NAME …]            # record again
    python -m tests.accuracy.measure --check [NAME …]    # only compare the committed profiles with their truth

Needs gcc, g++, gfortran, perf, valgrind, gprof and Open MPI, as Debian has them. A case is kept only if the share of the
symptom, counted here in the tool's own output, is what programs.yaml asks for, the twin prints the same checksum, and the twin
is faster.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.accuracy.truth import dump, split_of

HERE = Path(__file__).parent
CASES = HERE / "cases"
COMPILERS = {"c": "gcc", "cpp": "g++", "f90": "gfortran"}
LANGUAGES = {"c": "C", "cpp": "C++", "f90": "Fortran"}
MODELS = {"openmp": ["-fopenmp"], "pthreads": ["-pthread"]}
TWIN = 1.2  #: times faster
HERTZ = 250
FIELDS = "comm,pid,tid,time,period,event,ip,sym,dso,srcline"
OPT = "/opt/app"  #: what the folder of the build is called in profiles
ROUNDS = (3, 10)  #: so many runs of program and twin in turns, at least and at most

Spec = Mapping[str, Any]


@cache
def programs() -> dict[str, dict[str, Any]]:
    """What programs.yaml says, by name."""
    found: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "programs.yaml").read_text())
    return found


# -- build and run -----------------------------------------------------------------------------------------------


def build(spec: Spec, source: Path, folder: Path, more: list[str], *, twin: bool) -> Path:
    """The compiled program."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, folder)
    kind = source.suffix[1:]
    model = spec.get("model", "serial")
    compiler = "mpicc" if model == "mpi" else COMPILERS[kind]
    flags = spec.get("flags", ["-O2"])
    if twin:
        flags = spec.get("fixed_flags", flags)
    command = [compiler, *flags, "-g", *MODELS.get(model, []), *more, "-o", "app", source.name, "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "app"


def launcher(spec: Spec) -> list[str]:
    """The command in front of the program."""
    if spec.get("model") != "mpi":
        return []
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(spec["ranks"])]


def environment(spec: Spec) -> dict[str, str]:
    """The environment of a run."""
    return {**os.environ, "OMP_NUM_THREADS": str(spec.get("threads", 1)), "LC_ALL": "C", **spec.get("environment", {})}


def timed(spec: Spec, *apps: Path) -> list[tuple[float, str]]:
    """For each program the shortest of some runs in seconds, and the line with the checksum.

    Programs run in turns, so that other work on the machine hits all alike; again where it seems to have hit the twin.
    """
    best, said = [float("inf")] * len(apps), [""] * len(apps)
    for number in range(ROUNDS[1]):
        for which, app in enumerate(apps):
            begin = time.perf_counter()
            done = subprocess.run(
                [*launcher(spec), "./app"],
                cwd=app.parent,
                env=environment(spec),
                check=True,
                capture_output=True,
                text=True,
            )
            best[which] = min(best[which], time.perf_counter() - begin)
            said[which] = done.stdout.strip().splitlines()[-1]
        if (number + 1 >= ROUNDS[0] and best[0] >= spec.get("twin", TWIN) * best[-1]) or len(apps) == 1:
            break
    return list(zip(best, said, strict=True))


def same(first: str, second: str) -> bool:
    """Whether two checksums agree; parallel sums differ in their last digits."""
    one, other = first.split(), second.split()
    return len(one) == len(other) > 1 and all(
        a == b or abs(float(a) - float(b)) <= 2e-4 * abs(float(a)) for a, b in zip(one[1:], other[1:], strict=True)
    )


# -- record ------------------------------------------------------------------------------------------------------


def record_perf(spec: Spec, app: Path, name: str) -> str:
    """The text of perf script."""
    folder = app.parent
    renamed = app.rename(folder / name)
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(HERTZ), "--call-graph", "dwarf,4096"]
    command += ["-o", "perf.data", *launcher(spec), f"./{name}"]
    subprocess.run(command, cwd=folder, env=environment(spec), check=True, capture_output=True)
    shown = subprocess.run(
        ["perf", "script", "-i", "perf.data", "--comms", name, "-F", FIELDS],
        cwd=folder, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    renamed.rename(app)
    return shown.replace(str(folder), OPT)


def record_callgrind(spec: Spec, app: Path, name: str) -> str:
    """The text of a callgrind file."""
    command = ["valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=out", *spec.get("tool_flags", []), "./app"]
    command += spec.get("arguments", [])
    subprocess.run(command, cwd=app.parent, env=environment(spec), check=True, capture_output=True)
    return (app.parent / "out").read_text().replace(str(app.parent), OPT)


def record_gprof(spec: Spec, app: Path, name: str) -> str:
    """What gprof prints."""
    run = ["./app", *spec.get("arguments", [])]
    subprocess.run(run, cwd=app.parent, env=environment(spec), check=True, capture_output=True)
    command = ["gprof", "-b", "./app", "gmon.out"]
    return subprocess.run(command, cwd=app.parent, check=True, capture_output=True, text=True).stdout


RECORDERS = {"perf": record_perf, "callgrind": record_callgrind, "gprof": record_gprof}
SUFFIX = {"perf": "perf-script.txt.gz", "callgrind": "callgrind.out.gz", "gprof": "gprof.txt"}
BUILD_FOR = {"gprof": ["-pg", "-fno-inline-functions"], "callgrind": [], "perf": []}


# -- count -------------------------------------------------------------------------------------------------------


def stacks(text: str) -> Iterator[tuple[float, list[tuple[str, str]]]]:
    """(period, frames as (symbol, load module)) of each sample of perf script's text; inlined frames have no module."""
    for block in text.split("\n\n"):
        rows = block.strip("\n").split("\n")
        found = re.search(r"(\d+)\s+cpu-clock", rows[0])
        if not found:
            continue
        frames = []
        for row in rows[1:]:
            match = re.match(r"\s+[0-9a-f]+ (.+?)(?: \(([^()]*)\))?$", row)
            if match and row.startswith("\t"):
                frames.append((match[1], match[2] or ""))
        yield float(found[1]), frames


def share_perf(text: str, pattern: str) -> float:
    """The part of the samples with a frame that matches; `dso:NAME`: whose innermost frame lies in that library."""
    whole = hit = 0.0
    for period, frames in stacks(text):
        whole += period
        if pattern.startswith("dso:"):
            hit += period * (pattern[4:] in next((module for _, module in frames if module), ""))
        else:
            hit += period * any(re.search(pattern, symbol) for symbol, _ in frames)
    return hit / whole if whole else 0.0


def share_callgrind(text: str, pattern: str) -> float:
    """The part of all instructions inside matching functions, as callgrind_annotate adds them up (the largest inclusive one)."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "out").write_text(text)
        shown = subprocess.run(
            ["callgrind_annotate", "--inclusive=yes", "--threshold=100", "out"],
            cwd=folder, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    found = [
        float(match[1]) / 100
        for row in shown.splitlines()
        if (match := re.match(r"[\s\d,]+\(\s*([\d.]+)%\).*?:(\S.*?)(?: \[|$)", row)) and re.search(pattern, match[2])
    ]
    return max(found, default=0.0)


def share_gprof(text: str, pattern: str) -> float:
    """The part of the time of matching functions in the flat profile."""
    rows = text.partition("\f")[0].splitlines()
    found = [row.split(maxsplit=6) for row in rows]
    part = sum(
        float(row[0]) / 100
        for row in found
        if row
        and re.fullmatch(r"[\d.]+", row[0])
        and re.search(pattern, row[-1].split(" ")[-1] if len(row) < 7 else row[6])
    )
    return min(part, 1.0)  # percentages are rounded


SHARES = {"perf": share_perf, "callgrind": share_callgrind, "gprof": share_gprof}


# -- truth -------------------------------------------------------------------------------------------------------


def place(spec: Spec, source: Path) -> dict[str, Any]:
    """The planted lines."""
    hits = [number for number, row in enumerate(source.read_text().splitlines(), 1) if re.search(spec["at"], row)]
    if not hits:
        raise SystemExit(f"{source}: no line matches {spec['at']}")
    return {"function": spec["function"], "file": source.name, "lines": [hits[0], hits[-1]], "kernel": None}


def measure(name: str, spec: Spec) -> str:
    """Record one program; "" or why it is no case."""
    tool = spec.get("tool", "perf")
    folder = CASES / name
    source = CASES / spec.get("source", name) / "program" / spec["file"]
    twin = CASES / spec.get("source", name) / "fixed" / spec["file"]
    healthy = spec["cause"] == "healthy"
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        app = build(spec, source, work / "program", [], twin=False)
        apps = [app] if healthy else [app, build(spec, twin, work / "fixed", [], twin=True)]
        times = timed(spec, *apps)
        seconds, said = times[0]
        truth: dict[str, Any] = {
            "cause": spec["cause"],
            "acceptable": spec["acceptable"],
            "where": place(spec, source),
            "acceptable_functions": spec["acceptable_functions"],
            "healthy": healthy,
            "visible_in_profile": spec.get("visible", True),
            "why": spec["why"],
            "run_seconds": round(seconds, 2),
        }
        if not healthy:
            repaired, shown = times[1]
            if not same(said, shown):
                return f"the twin prints another checksum: {said} against {shown}"
            if seconds < spec.get("twin", TWIN) * repaired:
                return f"the twin takes {repaired:.2f} s of {seconds:.2f} s"
            truth |= {"fixed_run_seconds": round(repaired, 2), "fixed_speedup": round(seconds / repaired, 2)}
        if BUILD_FOR[tool]:
            app = build(spec, source, work / "program", BUILD_FOR[tool], twin=False)
        text = RECORDERS[tool](spec, app, source.stem)
    share = SHARES[tool](text, spec["share"])
    if share < spec["least"]:
        return f"the symptom has {share:.3f} of the profile, not {spec['least']}"
    truth |= {
        "share_of_time": round(share, 3),
        "share_means": f"part of the profile with frames that match {spec['share']}",
    }
    if "second" in spec:
        second = spec["second"]
        part = SHARES[tool](text, second["share"])
        if part < second["least"]:
            return f"the second symptom has {part:.3f} of the profile, not {second['least']}"
        truth["second"] = {
            "cause": second["cause"], "where": place({**second}, source), "share_of_time": round(part, 3),
            "either_first": bool(spec.get("either_first")),
        }  # fmt: skip
    truth |= {
        "profiles": [f"program/{SUFFIX[tool]}"], "format": {"perf": "Linux perf", "callgrind": "Callgrind", "gprof": "gprof"}[tool],
        "family": "measured", "language": LANGUAGES[source.suffix[1:]], "model": spec.get("model", "serial"),
        "threads": spec.get("threads", 0), "ranks": spec.get("ranks", 0),
        "split": split_of(spec["cause"] + ("+" if "second" in spec else ""), spec.get("source", name)),
    }  # fmt: skip
    # The profile lies beside the source, as it does where a program is measured.
    (folder / "program").mkdir(parents=True, exist_ok=True)
    if folder / "program" != source.parent:
        shutil.copy(source, folder / "program")
    content = text.encode()
    target = folder / "program" / SUFFIX[tool]
    target.write_bytes(gzip.compress(content, mtime=0) if target.suffix == ".gz" else content)
    (folder / "truth.json").write_text(dump(truth))
    return ""


def check(name: str, spec: Spec) -> str:
    """Compare a committed profile with its truth; "" or what is wrong."""
    tool = spec.get("tool", "perf")
    file = CASES / name / "program" / SUFFIX[tool]
    content = file.read_bytes()
    text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode()
    truth = json.loads((CASES / name / "truth.json").read_text())
    share = SHARES[tool](text, spec["share"])
    return "" if abs(share - truth["share_of_time"]) < 1e-3 else f"share {share:.3f}, truth {truth['share_of_time']}"


def main() -> int:
    """The number of programs that gave no case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs (default: all)")
    parser.add_argument("--check", action="store_true", help="record nothing")
    options = parser.parse_args()
    known = programs()
    failed = 0
    for name in options.names or known:
        wrong = (check if options.check else measure)(name, known[name])
        failed += bool(wrong)
        sys.stderr.write(f"{name}: {wrong or 'kept'}\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
