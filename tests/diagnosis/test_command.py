"""Commands that are printed: the program's own name, arguments, ranks and threads, and options that the tools have."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from chathpc.diagnosis.catalogue import causes
from chathpc.diagnosis.command import COUNT_CALLS, Program, filled, program_of
from chathpc.diagnosis.gpu_tools import counters, fitted, timeline
from chathpc.pipeline import explain
from chathpc.profile.profile import Profile
from chathpc.profile.run import told_command
from chathpc.profile.source_text import SourceExcerpt
from tests.diagnosis.documented import TOOLS, is_command, wrong
from tests.diagnosis.parts import ranks
from tests.diagnosis.timelines import api, kernel, recorded
from tests.profile.build import build, call, line

ROOT = Path(__file__).parents[2]
NONE = "Needs a machine with hardware counters, this one has none."
FUNCTOR = "void cutlass::Kernel<cutlass::gemm::kernel::GemmUniversal<int>>(T1::Params)"


def run_as(
    command: str = "", *, format: str = "a trace", title: str = "trace", call: str = "main", **run: str
) -> Profile:
    profile = replace(recorded(kernel("k", (0, 10)), api(call, (0, 5))), format=format, title=title, sources=())
    return replace(profile, run={**run, **({"command": command} if command else {})})


@pytest.mark.parametrize(
    ("format", "title", "program"),
    [
        ("HPCToolkit v4.0", "stencil_omp", "./stencil_omp"),
        ("Linux perf (perf.data)", "heat", "./heat"),
        ("Caliper 2.5.0 (SPOT)", "lulesh2.0", "./lulesh2.0"),
        ("Score-P CUBE4", "cpi", "./cpi"),
        ("Nsight Systems 2024.5", "python3.11", "python app.py"),
        ("Nsight Systems 2024.5", "two, programs", "./app"),
        ("Nsight Compute 2025.1", "report.ncu-rep", "./app"),
        ("PyTorch profiler", "trace", "python app.py"),
    ],
)
def test_a_command_has_the_programs_name_where_the_profile_tells_it(format: str, title: str, program: str) -> None:
    assert program_of(run_as(format=format, title=title)).line == program


def test_a_file_of_the_programs_name_is_no_doubt_where_a_module_has_it_too() -> None:
    source = SimpleNamespace(path=Path("profiles/heat"))
    for modules, program in (("/home/alice/heat/heat", "./heat"), ("/usr/lib/libc.so.6", "./app")):
        profile = build(call("main", time=1.0, module=modules))
        profile = replace(profile, format="HPCToolkit v4.0", title="heat", sources=(source,))  # type: ignore[arg-type]
        assert program_of(profile).line == program


@pytest.mark.parametrize(
    ("recorded", "run", "template", "command"),
    [
        ("./heat 4000 'a b'", {}, "hpcrun -e IO -t ./app", "hpcrun -e IO -t ./heat 4000 'a b'"),
        ("./heat 9", {"ranks": "2"}, "OMP_SCHEDULE=guided hpcrun -e REALTIME@1000 -t ./app", "OMP_SCHEDULE=guided chathpc measure -- mpirun -n 2 ./heat 9"),
        ("mpirun -n 4 --bind-to core ./heat 9", {}, "hpcrun -t ./app", "mpirun -n 4 --bind-to core hpcrun -t ./heat 9"),
        ("mpirun -n 4 ./heat 9", {}, "perf stat -e cycles ./app", "perf stat -e cycles mpirun -n 4 ./heat 9"),
        ("sh -c 'mpirun -n 4 ./heat 9'", {}, "hpcrun -t ./app", "mpirun -n 4 hpcrun -t ./heat 9"),
        ("/bin/sh -c 'SIZE=9 ./heat'", {}, "hpcrun -t ./app", "SIZE=9 hpcrun -t ./heat"),
        ("sh -c 'cd x && ./heat'", {}, "hpcrun -t ./app", "hpcrun -t sh -c 'cd x && ./heat'"),
        ("./heat", {"ranks": "2"}, "hpcrun -t ./app", "mpirun -n 2 hpcrun -t ./heat"),
        ("./heat", {"ranks": "2"}, "LD_PRELOAD=x.so ./app", "mpirun -n 2 env LD_PRELOAD=x.so ./heat"),
        ("./heat", {"ranks": "2"}, "mpirun -np 4 env LD_PRELOAD=x.so ./app", "mpirun -n 2 env LD_PRELOAD=x.so ./heat"),
        ("./heat", {"ranks": "2"}, "scalasca -analyze -t mpirun -np 4 ./app", "scalasca -analyze -t mpirun -n 2 ./heat"),
        ("./heat", {}, "mpirun -np 4 hpcrun -t ./app", "mpirun -np 4 hpcrun -t ./heat"),
        ("env A=1 OMP_NUM_THREADS=8 ./heat", {}, "OMP_NUM_THREADS=1 ./app", "A=1 OMP_NUM_THREADS=1 ./heat"),
        ("./heat 9", {"ranks": "2"}, "readelf --debug-dump=info ./app | grep -A2 x", "readelf --debug-dump=info ./heat | grep -A2 x"),
        ("bin/heat 9", {}, "hpcrun -t ./app; hpcstruct MEASUREMENTS", "hpcrun -t bin/heat 9; hpcstruct hpctoolkit-heat-measurements"),
        ("./heat 9", {}, "nproc (without it: strace -c ./app)", "nproc (without it: strace -c ./heat 9)"),
        ("", {}, "hpcrun -t ./app", "hpcrun -t ./app"),
        ("./heat", {"no_counters": "yes"}, "perf stat -e task-clock ./app (Cores.)", "perf stat -e task-clock ./heat (Cores.)"),
        ("./heat", {"no_counters": "yes"}, "perf c2c record ./app; perf c2c report", f"perf c2c record ./heat; perf c2c report ({NONE})"),
        ("./heat", {"no_counters": "yes"}, "perf stat -e cycles ./app (IPC.)", f"perf stat -e cycles ./heat (IPC. {NONE})"),
        ("./heat ./app", {}, "hpcrun -t ./app", "hpcrun -t ./heat ./app"),
    ],
)  # fmt: skip
def test_a_command_is_that_of_the_run(recorded: str, run: dict[str, str], template: str, command: str) -> None:
    assert filled(run_as(recorded, **run), template) == command


@pytest.mark.parametrize(
    ("recorded", "text", "template", "command"),
    [
        ("./heat 4", "", "chathpc measure -- ./app", "OMP_NUM_THREADS=4 chathpc measure -- ./heat 4"),
        ("./heat 4", "", "chathpc measure --vary threads=1,2 -- ./app", "chathpc measure --vary threads=1,2 -- ./heat 4"),
        ("./heat -t 4", "", "chathpc measure -- ./app", "chathpc measure -- ./heat -t 4"),
        ("./heat -t 4 4", "", "OMP_NUM_THREADS=1 chathpc measure -- ./app", "chathpc measure -- ./heat -t 1 4"),
        ("./heat -t8 --nthreads=4", "", "OMP_NUM_THREADS=1 ./app (So.)", "./heat -t8 --nthreads=1 (So.)"),
        ("./heat -j4", "", "chathpc measure --vary threads=1,2 -- ./app", "chathpc measure --vary threads=1,2 -- ./heat '-j{threads}'"),
        ("./heat", "x\n  omp_set_num_threads(n);", "chathpc measure -- ./app", "chathpc measure -- ./heat"),
        ("./heat", "#pragma omp parallel for num_threads(4)", "OMP_NUM_THREADS=1 ./app", "./heat (The number of threads is set at heat.c:1: change it there.)"),
        ("./heat", "#pragma omp parallel num_threads(n)\nf(omp_get_max_threads());", "chathpc measure -- ./app", "OMP_NUM_THREADS=4 chathpc measure -- ./heat"),
        ("./heat", "#pragma omp parallel num_threads(2)\n  f(omp_get_max_threads());", "chathpc measure -- ./app", "chathpc measure -- ./heat"),
        ("./heat", "// omp_set_num_threads(n);", "chathpc measure -- ./app", "OMP_NUM_THREADS=4 chathpc measure -- ./heat"),
        ("./heat", "!$omp parallel num_threads(2)", "A=1 OMP_NUM_THREADS=1 ./app", "A=1 ./heat (The number of threads is set at heat.c:1: change it there.)"),
    ],
)  # fmt: skip
def test_the_number_of_threads_is_set_where_the_program_takes_it_from(
    recorded: str, text: str, template: str, command: str
) -> None:
    profile = build(call("main", line("heat.c:1", call("work", module="libgomp.so.1", time=(1.0,) * 4))))
    profile = replace(profile, run={"command": recorded})
    if text:
        profile = replace(
            profile, read_source=lambda file, line, context: SourceExcerpt(file, 1, tuple(text.split("\n")))
        )
    assert filled(profile, template) == command


def test_options_of_the_interpreter_stand_before_the_programs_own_script() -> None:
    assert (
        filled(run_as("python3 heat.py 9"), "python -X importtime ./app (What.)")
        == "python3 -X importtime heat.py 9 (What.)"
    )
    assert filled(run_as(""), "python -X importtime ./app (What.)").startswith("python -X importtime ")


@pytest.mark.parametrize(
    ("recorded", "command"),
    [
        ("python3 -u heat.py 9", "python3 -m cProfile -s tottime heat.py 9"),
        ("mpirun -n 2 env A=1 python -m heat 9", "mpirun -n 2 env A=1 python -m cProfile -s tottime -m heat 9"),
        ("./heat.py -v", "python -m cProfile -s tottime ./heat.py -v"),
        ("./heat 9", "perf stat -e cycles ./heat 9"),
    ],
)
def test_of_a_program_of_python_calls_are_counted_and_not_the_interpreters_instructions(
    recorded: str, command: str
) -> None:
    assert filled(run_as(recorded), "perf stat -e cycles ./app (What it tells.)").partition(" (")[0] == command


@pytest.mark.parametrize(
    "words",
    [
        ("./heat", "--token=abc"),
        ("./heat", "-p", "PASSWORD"),
        ("./heat", *"1" * 500),
        ("./heat\n", "rm"),
        ("./heat", "\u202e"),
        (),
    ],
)
def test_a_command_that_nobody_should_paste_is_not_kept(words: tuple[str, ...]) -> None:
    assert told_command(words) == {}
    assert told_command(("./heat", "a b")) == {"command": "./heat 'a b'"}


def test_ranks_need_mpi() -> None:
    assert filled(run_as("./heat", processes="4"), "hpcrun -t ./app") == "hpcrun -t ./heat"


HOSTILE = (
    "$(touch x)",
    "`id`",
    "a;b",
    "a|b",
    "a'b",
    'a"b',
    "FUNCTION",
    "MEASUREMENTS x",
    "./app",
    "> /etc/hosts",
    "-rf",
    "",
)


def test_hostile_words_stay_the_words_that_they_were() -> None:
    for word in HOSTILE:
        profile = run_as(shlex.join(["./heat", word]))
        for function in HOSTILE:
            told = filled(profile, "perf record -s FUNCTION ./app", function)
            assert shlex.split(told) == ["perf", "record", "-s", function or "main", "./heat", word]


# -- every command parses ----------------------------------------------------------------------------------------


RUNS = (
    run_as(), run_as("mpirun -n 4 ./heat 4000", call="cudaLaunchKernel"), run_as("./heat", call="hipLaunchKernel", ranks="3"),
    run_as("env OMP_NUM_THREADS=4 ./heat x", call="zeKernelCreate"), run_as(format="PyTorch profiler", ranks="8"),
)  # fmt: skip


@pytest.mark.parametrize("profile", RUNS)
def test_every_command_of_the_catalogue_parses(profile: Profile) -> None:
    told = [
        filled(profile, fitted(profile, each.next_measurement, name), "f(int)")
        for each in causes()
        for name in ("", "k", FUNCTOR)
    ]
    told += [filled(profile, each) for each in (counters(profile), counters(profile, FUNCTOR), timeline(profile))]
    assert {each: fault for each in told if (fault := wrong(each))} == {}


def literals() -> Iterator[tuple[str, str]]:
    """All texts of readers and of the diagnosis that hold a command, whole ones alone."""
    for folder in ("adapters", "chathpc/diagnosis"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            text = file.read_text()
            if "./app" not in text or file.name == "foreign.py":  # what errors say of files
                continue
            tree = ast.parse(text)
            parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
            for node in ast.walk(tree):
                text = node.value if isinstance(node, ast.Constant) and id(node) not in parts else None
                if isinstance(text, str) and is_command(text) and "./app" in text:
                    yield file.name, text


def test_every_command_in_the_texts_of_readers_and_rules_parses() -> None:
    found = list(literals())
    assert len(found) > 30
    for profile in RUNS:
        assert {each: fault for each in found if (fault := wrong(filled(profile, each[1])))} == {}


@pytest.mark.parametrize("database", sorted((ROOT / "examples").glob("*/database")), ids=lambda path: path.parent.name)
def test_every_command_of_an_example_parses(database: Path) -> None:
    report = explain(database, llm="none")
    told = [each.next_measurement for each in report.findings if each.next_measurement]
    told += [*report.profile.not_collected.values(), *(each.remedy for each in report.examined.skipped)]
    assert {each: fault for each in told if is_command(each) and (fault := wrong(each))} == {}
    assert not [each for each in told if "./app" in each]


@pytest.mark.parametrize(
    "command",
    [
        "perf stat --nonsense ./app", "ncu --sections X ./app", "hpcrun", "perf nonsense ./app", "OMP_NUM_THREADS=2", "nsys -k x ./app",
        "valgrind 'x", "hpcrun -t ./app …",
    ],
)  # fmt: skip
def test_a_command_that_no_tool_takes_is_found(command: str) -> None:
    assert wrong(command)


HELP = {"strace": ["--help"], "readelf": ["--help"], "valgrind": ["--tool=callgrind", "--help"], "grep": ["--help"]}


@pytest.mark.parametrize("name", [name for name in TOOLS if name.startswith("perf ") or name in HELP])
def test_the_options_of_the_table_are_those_of_the_installed_tool(name: str) -> None:
    tool, *sub = name.split()
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    asked = HELP.get(tool, [*sub, "-h"])
    done = subprocess.run([tool, *asked], capture_output=True, text=True, timeout=20, check=False)
    known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", done.stdout + done.stderr))
    if tool == "valgrind":  # of its two tools only one is asked
        known.add("--leak-check")
    if not known:  # perf c2c, where the processor samples no accesses
        assert "not supported" in done.stderr
        return
    options = {*TOOLS[name].values.split(), *TOOLS[name].flags.split()}
    lacking = {each for each in options - known if each.replace("--no-", "--") not in known}
    assert lacking == set()


def test_a_program_stands_behind_its_launcher() -> None:
    assert Program(("./a b",), ("srun", "-n", "2")).line == "srun -n 2 './a b'"


def test_cores_of_a_command_are_those_of_the_machine() -> None:
    command = "likwid-perfctr -C 0-7 -g MEM ./app"
    assert (
        filled(replace(run_as("./heat"), hardware={"processors": "2"}), command)
        == "likwid-perfctr -C 0-1 -g MEM ./heat"
    )
    assert (
        filled(replace(run_as("./heat"), hardware={"processors": "²"}), command)
        == "likwid-perfctr -C 0-7 -g MEM ./heat"
    )


def test_cores_of_a_command_are_as_many_as_threads_where_the_machine_is_not_known() -> None:
    command = "likwid-perfctr -C 0-7 -g MEM ./app"
    assert filled(replace(run_as("./heat"), where=ranks(1, 1)), command) == "likwid-perfctr -C 0 -g MEM ./heat"
    assert filled(replace(run_as("./heat"), where=ranks(1, 4)), command) == "likwid-perfctr -C 0-3 -g MEM ./heat"


def test_ranks_are_started_and_pinned_by_likwid_itself() -> None:
    launched = replace(run_as("mpirun -n 3 ./heat 8"), where=ranks(3, 1))
    assert filled(launched, "likwid-perfctr -C 0-7 -g MEM ./app") == "likwid-mpirun -np 3 -g MEM ./heat 8"


def test_who_has_hpctoolkit_is_told_its_command() -> None:
    told = filled(run_as("./heat", format="HPCToolkit v4.0"), "hpcrun -e REALTIME -t ./app")
    assert told == "hpcrun -e REALTIME -t ./heat"


def test_what_begins_in_python_is_a_script_and_counted_calls_are_not_counted_again(tmp_path: Path) -> None:
    sampled = build(call("<module>", line("heat.py:3", time=2.0), at="heat.py:1"))
    assert filled(sampled, COUNT_CALLS).startswith("python -m cProfile -s tottime app.py (")
    assert filled(sampled, "perf stat -e cycles ./app (Few.)").startswith("python -m cProfile -s tottime app.py (")
    counted = build(call("<module>", line("heat.py:3", time=2.0, values={"calls.count": 3.0}), at="heat.py:1"))
    assert filled(counted, COUNT_CALLS).startswith(
        "py-spy record --native -f speedscope -o lines.json -- python app.py ("
    )
