"""Stands in for profilers and mpirun: takes the options that their manuals document, and no other; runs the program; leaves a profile.

    python stand_in.py TOOL ARGUMENT…

STAND_IN_FAILS names steps that fail (`perf-script,hpcprof`), STAND_IN_COUNTERS says that perf has hardware
counters, STAND_IN_RARE that it gets few samples, STAND_IN_LATE a file that counts down the runs of which it gets none.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("perf", "py-spy", "hpcrun", "hpcstruct", "hpcprof", "nsys", "ncu", "mpirun")


def install(folder: Path, *tools: str) -> None:
    """Put the tools into `folder`."""
    folder.mkdir(exist_ok=True)
    for tool in tools:
        script = folder / tool
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).resolve()} {tool} "$@"\n')
        script.chmod(0o755)


def fail_if_asked(step: str) -> None:
    if step in os.environ.get("STAND_IN_FAILS", "").split(","):
        sys.stderr.write(f"{step}: the stand-in was asked to fail\n")
        raise SystemExit(9)


def parser(tool: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=tool, allow_abbrev=False, add_help=False)


def run(command: list[str]) -> int:
    """The exit status of the program."""
    if command[:1] == ["--"]:
        command = command[1:]
    return subprocess.run(command, check=False).returncode


def perf(words: list[str]) -> int:
    if words == ["--version"]:
        print("perf version 6.0.stand-in")
        return 0
    verb, words = words[0], words[1:]
    fail_if_asked(f"perf-{verb}")
    options = parser("perf")
    if verb == "stat":
        options.add_argument("-x", dest="separator", required=True)
        options.add_argument("-e", dest="events", required=True)
        options.add_argument("command", nargs=argparse.REMAINDER)
        asked = options.parse_args(words)
        count = "123456" if os.environ.get("STAND_IN_COUNTERS") else "<not supported>"
        sys.stderr.write(asked.separator.join([count, "", asked.events, "0", "100.00", "", ""]) + "\n")
        return run(asked.command)
    if verb == "record":
        options.add_argument("-q", action="store_true")
        options.add_argument("-N", action="store_true")
        options.add_argument("--switch-events", action="store_true")
        options.add_argument("-F", dest="rate", type=int, required=True)
        options.add_argument("--call-graph", required=True)
        options.add_argument("-e", dest="events", action="append", required=True)
        options.add_argument("-o", dest="output", required=True)
        options.add_argument("command", nargs=argparse.REMAINDER)
        asked = options.parse_args(words)
        assert asked.call_graph == "fp" or re.fullmatch(r"dwarf,\d+", asked.call_graph)
        begun = time.monotonic()
        code = run(asked.command)
        content = {"life": [begun, time.monotonic()]}
        content |= {"program": asked.command[1], "events": asked.events, "pid": os.getpid(), "graph": asked.call_graph}
        content |= {"switches": asked.switch_events, "rate": asked.rate}
        hosts, rank = os.environ.get("STAND_IN_HOSTS", ""), os.environ.get("OMPI_COMM_WORLD_RANK", "")
        content |= {"host": hosts.format(rank=rank), "pid": 7 if hosts else os.getpid()}
        Path(asked.output).write_text(json.dumps(content))
        return code
    if verb == "annotate":
        options.add_argument("--stdio", action="store_true", required=True)
        options.add_argument("--print-line", action="store_true")
        options.add_argument("--no-source", action="store_true")
        options.add_argument("--skip-missing", action="store_true")
        options.add_argument("--percent-limit", type=int, required=True)
        options.add_argument("-i", dest="input", required=True)
        comm = Path(json.loads(Path(options.parse_args(words).input).read_text())["program"]).name[:15]
        print(f" Percent |\tSource code & Disassembly of {comm} for cpu-clock (250 samples, percent: local period)")
        print("         : 5    00000000004011e0 <work>:\n  100.00 :   4011f0:   ret // heat.c:3")
        return 0
    assert verb == "script"
    options.add_argument("-F", dest="fields")
    options.add_argument("--no-inline", action="store_true")
    options.add_argument("--show-switch-events", action="store_true")
    options.add_argument("--show-lost-events", action="store_true")
    options.add_argument("--header", action="store_true")
    options.add_argument("--header-only", action="store_true")
    options.add_argument("--show-task-events", action="store_true")
    options.add_argument("-i", dest="input", required=True)
    asked = options.parse_args(words)
    if asked.fields == "pid,time":
        begin, end = json.loads(Path(asked.input).read_text())["life"]
        print("    0     0.000000: PERF_RECORD_COMM: perf-exec:7/7")
        print(f"    7 {begin:.6f}: PERF_RECORD_COMM exec: app:7/7")
        print(f"    7 {begin:.6f}: ")
        print(f"    7 {end:.6f}: PERF_RECORD_EXIT(7:7):(3:3)")
        return 0
    if asked.fields:
        fail_if_asked("perf-script-srcline")
        known = {"comm", "pid", "tid", "time", "cpu", "period", "event", "ip", "sym", "dso", "srcline", "symoff"}
        assert set(asked.fields.split(",")) <= known
    recorded = json.loads(Path(asked.input).read_text())
    if asked.header_only:
        print(f"# hostname : {recorded['host']}")
        return 0
    if "perf-samples" in os.environ.get("STAND_IN_FAILS", ""):
        return 0
    samples = recorded["rate"] // 50 if os.environ.get("STAND_IN_RARE") else 250
    late = os.environ.get("STAND_IN_LATE")
    if late and (left := int(Path(late).read_text())):
        Path(late).write_text(str(left - 1))
        samples = 0
        print(f"{Path(recorded['program']).name[:15]} 7/7 10.000000: PERF_RECORD_SWITCH OUT        ")
    comm, pid = Path(recorded["program"]).name[:15], recorded["pid"]
    if asked.show_lost_events and (dropped := os.environ.get("STAND_IN_DROPS")):
        print(f"{comm} {pid}/{pid} 10.000000: PERF_RECORD_LOST lost {dropped}")
    for number in range(samples):
        for event in recorded["events"]:
            event = re.sub(r"(.*)/period=\d+,name=\1/", r"\1", event)
            if event in ("context-switches", "page-faults"):
                continue
            print(f"{comm} {pid}/{pid} {10 + number / 100:.6f}:    1000000 {event}: ")
            calls = [("401100", "MPI_Wait", 4)] if recorded["host"] and not number else []
            for address, symbol, line in (*calls, ("4011f0", "work", 3), ("401200", "main", 6)):
                print(f"\t{address:>16} {symbol} (/opt/{comm})")
                if asked.fields:
                    print(f"  heat.c:{line}")
            print()
        if recorded["switches"] and asked.show_switch_events:
            print(f"{comm} {pid}/{pid} {10.002 + number / 100:.6f}: PERF_RECORD_SWITCH OUT        ")
            print(f"{comm} {pid}/{pid} {10.009 + number / 100:.6f}: PERF_RECORD_SWITCH IN         ")
    return 0


def py_spy(words: list[str]) -> int:
    """Talks on stdout, and ends with 0 whatever the program ends with, as py-spy 0.4 does."""
    if words == ["--version"]:
        print("py-spy 0.4.stand-in")
        return 0
    verb, words = words[0], words[1:]
    assert verb == "record"
    print("py-spy> Sampling process", flush=True)
    fail_if_asked("py-spy")
    options = parser("py-spy")
    for name in ("native", "idle", "threads", "subprocesses", "full-filenames"):
        options.add_argument(f"--{name}", action="store_true", required=True)
    options.add_argument("--format", choices=["flamegraph", "raw", "speedscope", "chrometrace"], required=True)
    options.add_argument("--rate", type=int, required=True)
    options.add_argument("-o", dest="output", required=True)
    options.add_argument("command", nargs=argparse.REMAINDER)
    asked = options.parse_args(words)
    subprocess.run(asked.command[1:], check=False, close_fds=False)
    if "STAND_IN_LOSES" in os.environ:  # a file with the number of runs that end before the first sample
        left = Path(os.environ["STAND_IN_LOSES"])
        number = int(left.read_text())
        left.write_text(str(number - 1))
        if number > 0:
            return 0
    frames = [
        {"name": 'process 7:"python app.py"', "file": "", "line": 0}, {"name": "thread (7): MainThread", "file": "", "line": 0},
        {"name": "0x7f0012", "file": "/lib/libc.so.6", "line": 0}, {"name": "main", "file": f"{os.getcwd()}/app.py", "line": 3},
        {"name": "solve", "file": "/opt/lib/python3.11/site-packages/solver/core.py", "line": 9},
        {"name": "inner", "file": "/opt/lib/python3.11/site-packages/solver/_fast.cpython-311.so", "line": 0},
    ]  # fmt: skip
    stacks = [[0, 1, 2, 3]] * 50 + [[0, 1, 2, 3, 4, 5]] * 150
    profile = {
        "type": "sampled",
        "name": 'Process 7 Thread 7 ""',
        "unit": "seconds",
        "startValue": 0.0,
        "endValue": 2.0,
    }
    document = {"profiles": [profile | {"samples": stacks, "weights": [0.01] * 200}], "shared": {"frames": frames}}
    Path(asked.output).write_text(json.dumps(document | {"exporter": "py-spy@0.4.stand-in", "name": "py-spy profile"}))
    return 0


def hpcrun(words: list[str]) -> int:
    if words == ["--version"]:
        print("hpcrun: A member of HPCToolkit, version 2024.01.stand-in")
        return 0
    fail_if_asked("hpcrun")
    options = parser("hpcrun")
    options.add_argument("-e", "--event", dest="events", action="append", required=True)
    options.add_argument("-t", "--trace", action="store_true")
    options.add_argument("-o", "--output", required=True)
    options.add_argument("command", nargs=argparse.REMAINDER)
    asked = options.parse_args(words)
    for event in asked.events:
        assert re.fullmatch(r"(?:REALTIME|CPUTIME)(?:@f?\d+)?|gpu=nvidia(?:,pc)?", event), event
    folder = Path(asked.output)
    folder.mkdir(exist_ok=True)
    code = run(asked.command)
    if code < 100:
        rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", 0))
        (folder / f"app-{rank:06d}-000-a8c00270-{os.getpid()}-0.hpcrun").write_text("HPCRUN-profile____")
    return code


def hpcstruct(words: list[str]) -> int:
    fail_if_asked("hpcstruct")
    options = parser("hpcstruct")
    options.add_argument("-j", "--jobs", type=int, required=True)
    options.add_argument("measurements", type=Path)
    assert options.parse_args(words).measurements.is_dir()
    return 0


def hpcprof(words: list[str]) -> int:
    fail_if_asked("hpcprof")
    options = parser("hpcprof")
    options.add_argument("-j", "--jobs", type=int, required=True)
    options.add_argument("-o", "--output", type=Path, required=True)
    options.add_argument("measurements", type=Path)
    asked = options.parse_args(words)
    assert any(asked.measurements.glob("*.hpcrun"))
    shutil.copytree(ROOT / "examples" / "omp-triangle" / "database", asked.output)
    return 0


def nsys(words: list[str]) -> int:
    if words == ["--version"]:
        print("NVIDIA Nsight Systems version 2026.1.stand-in")
        return 0
    verb, words = words[0], words[1:]
    fail_if_asked(f"nsys-{verb}")
    options = parser("nsys")
    if verb == "profile":
        options.add_argument("--trace", required=True)
        options.add_argument("--sample", choices=["process-tree", "system-wide", "none"])
        options.add_argument("--stats", choices=["true", "false"])
        options.add_argument("-o", dest="output", required=True)
        options.add_argument("command", nargs=argparse.REMAINDER)
        asked = options.parse_args(words)
        own = words[: len(words) - len(asked.command)]
        assert all("=" in word for word in own if word.startswith("--"))  # long options are followed by =
        assert set(asked.trace.split(",")) <= {
            "cuda",
            "nvtx",
            "osrt",
            "mpi",
            "openmp",
            "cublas",
            "cudnn",
            "ucx",
            "none",
        }
        code = run(asked.command)
        Path(f"{asked.output}.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report")
        return code
    assert verb == "export"
    options.add_argument("--type", choices=["sqlite", "json", "text", "arrow"], required=True)
    options.add_argument("--output", type=Path, required=True)
    options.add_argument("report", type=Path)
    asked = options.parse_args(words)
    assert asked.report.name.endswith(".nsys-rep")
    sys.path.insert(0, str(ROOT))
    from tests.synthetic.nsight_systems import all_features

    all_features(2024).write(asked.output)
    return 0


def ncu(words: list[str]) -> int:
    if words == ["--version"]:
        print("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2026.1.stand-in")
        return 0
    options = parser("ncu")
    options.add_argument("--set", choices=["basic", "detailed", "full", "roofline"])
    options.add_argument("--import-source", choices=["yes", "no"])
    options.add_argument("--target-processes", choices=["all", "application-only"])
    options.add_argument("--launch-count", type=int)
    options.add_argument("--kernel-name")
    options.add_argument("--export")
    options.add_argument("--import", dest="imported", type=Path)
    options.add_argument("--page", choices=["details", "raw", "source"])
    options.add_argument("--csv", action="store_true")
    options.add_argument("command", nargs=argparse.REMAINDER)
    asked = options.parse_args(words)
    if asked.imported is not None:
        fail_if_asked("ncu-import")
        sys.path.insert(0, str(ROOT))
        from tests.adapters.nsight_compute.runs import FULL
        from tests.synthetic.nsight_compute import raw_page

        print(raw_page([FULL]), end="")
        return 0
    fail_if_asked("ncu")
    code = run(asked.command)
    if asked.kernel_name != "absent":
        Path(f"{asked.export}.ncu-rep").write_bytes(b"NVR\0")
    return code


def mpirun(words: list[str]) -> int:
    assert words[0] == "-n"
    codes = []
    for rank in range(int(words[1])):
        environment = {**os.environ, "OMPI_COMM_WORLD_RANK": str(rank)}
        codes.append(subprocess.run(words[2:], env=environment, check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.stdout.flush()
    raise SystemExit(globals()[sys.argv[1].replace("-", "_")](sys.argv[2:]))
