"""The job of the next run: its directives by arithmetic, and what bash does with it; a stand-in for chathpc writes down how it was called."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from chathpc.comparison.run import Run as Measured
from chathpc.profile.profile import COMMAND
from chathpc.scale.job import job
from chathpc.scale.series import Kind, Run, Series, series_of
from tests.scale.made import even, profile

#: Writes the folder, OMP_NUM_THREADS and the arguments, and a file into the folder behind -o, as chathpc measure does.
STAND_IN = """#!/bin/bash
printf '%s\\0' "$PWD" "${OMP_NUM_THREADS-}" "$@" >> "$CALLS"
printf '\\n\\0' >> "$CALLS"
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo > "$2/measure.json"; shift; done
exit 0
"""


def runs(
    values: tuple[int, ...], parameter: str = "n", command: str = "", workers: int = 1, where: Path = Path(), kind: Kind | None = None
) -> Series:  # fmt: skip
    """A run at each value, in folders such as `n=1000/rep1`; `{}` in the command is the value."""
    found = []
    for value in values:
        made = profile(value if parameter in ("ranks", "threads") else workers, {"solve": even(1.0)})
        told = {COMMAND: command.replace("{}", str(value))} if command else {}
        known = replace(made, run={**made.run, **told})
        place = where / f"{parameter}={value}" / "rep1"
        found.append(Run(place, Measured(known, known.metric("cpu.time")), {parameter: float(value)}))
    return series_of(found, "from names", kind=kind)


def recorded(series: Series, **record: object) -> Series:
    """The same with a record of chathpc measure for each run."""
    return replace(series, runs=tuple(replace(run, record=record) for run in series.runs))


def made(text: str, folder: Path) -> list[tuple[str, str, list[str]]]:
    """What the job calls when bash runs it in `folder`: (folder, OMP_NUM_THREADS, arguments of chathpc)."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "chathpc").write_text(STAND_IN)
    (tools / "chathpc").chmod(0o755)
    calls = folder / "calls"
    calls.write_text("")
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "CALLS": str(calls)}
    subprocess.run(["bash", "-c", text], cwd=folder, env=environment, check=True)
    lines = [each.split("\0")[:-1] for each in calls.read_text().split("\n\0")[:-1]]
    return [(where, threads, words) for where, threads, *words in lines]


def commands(text: str, folder: Path) -> list[str]:
    """The command that is measured, as words."""
    words = made(text, folder)[0][2]
    return words[words.index("--") + 1 :]


def test_a_job_measures_the_command_with_the_new_value_and_looks_again(tmp_path: Path) -> None:
    found = runs((1000, 2000, 4000), command="./app {} --steps 10", where=tmp_path / "runs")
    text = job(found, 16000.0, 2, 20.0, 64000.0)
    assert "#SBATCH --time=00:10:00" in text
    *measured, again = made(text, tmp_path)
    folder = tmp_path / "runs" / "n=16000"
    assert [words for _, _, words in measured] == [
        ["measure", "--no-overhead", "-o", str(folder / f"rep{number}"), "--", "./app", "16000", "--steps", "10"]
        for number in (1, 2)
    ]
    assert again[2] == ["scale", str(tmp_path / "runs"), "--at", "n=64000"]


def test_jobs_at_one_scale_take_the_next_free_repetitions(tmp_path: Path) -> None:
    found = runs((1000, 2000, 4000), command="./app {}", where=tmp_path)
    (tmp_path / "n=4000" / "rep1").mkdir(parents=True)
    text = job(found, 4000.0, 2, 20.0, 64000.0)
    names = [Path(words[3]).name for _ in range(2) for _, _, words in made(text, tmp_path) if words[0] == "measure"]
    assert names == ["rep2", "rep3", "rep4", "rep5"]


def test_a_job_that_cannot_write_ends(tmp_path: Path) -> None:
    found = runs((1000, 2000), command="./app {}", where=tmp_path)
    (tmp_path / "n=4000").write_text("no folder")
    with pytest.raises(subprocess.CalledProcessError):
        made(job(found, 4000.0, 1, 1.0, 8000.0), tmp_path)


def test_values_of_seven_digits_and_fractions_are_written_out(tmp_path: Path) -> None:
    found = runs((1000000, 2000000, 4000000), command="./app {}", where=tmp_path)
    (_, _, first), (_, _, again) = made(job(found, 16000000.0, 1, 1.0, 64000000.0), tmp_path)
    assert first[-1] == "16000000"
    assert first[3] == str(tmp_path / "n=16000000" / "rep1")
    assert again[-1] == "n=64000000"
    assert "n=0.25" in job(found, 0.25, 1, 1.0, 0.5)


def test_words_with_blanks_and_quotes_and_folders_with_them_stay_whole(tmp_path: Path) -> None:
    folder = tmp_path / "it's my $HOME"
    found = runs((1000, 2000), command="""./app {} 'two words' "it's" '$HOME' '*'""", where=folder)
    assert commands(job(found, 4000.0, 1, 1.0, 8000.0), tmp_path) == [
        "./app",
        "4000",
        "two words",
        "it's",
        "$HOME",
        "*",
    ]
    assert (folder / "n=4000" / "rep1").is_dir()


def test_a_parameter_of_any_name_is_no_part_of_the_script(tmp_path: Path) -> None:
    found = runs((1, 2), "n\ntouch evil\n$(touch evil)'", "./app {}", where=tmp_path / "runs")
    made(job(found, 4.0, 1, 1.0, 8.0), tmp_path)
    assert not (tmp_path / "evil").exists()


def test_runs_are_made_where_the_measured_ones_were_and_by_the_same_profiler(tmp_path: Path) -> None:
    (tmp_path / "project" / "build").mkdir(parents=True)
    found = runs((1000, 2000), command="./app {}", where=tmp_path / "runs")
    found = recorded(found, folder="../../../project/build", tool="perf")
    (where, _, words), _ = made(job(found, 4000.0, 1, 1.0, 8000.0), tmp_path)
    assert where == str(tmp_path / "project" / "build")
    assert words[1:4] == ["--no-overhead", "--tool", "perf"]
    # A folder that is not there, and a record that tells something else.
    other = replace(found.runs[0], record={"folder": "../../../gone", "tool": ["; rm"]})
    text = job(replace(found, runs=(other, *found.runs[1:])), 4000.0, 1, 1.0, 8000.0)
    assert "\ncd " not in text
    assert "--tool" not in text


def test_the_job_asks_for_tasks_cores_and_time() -> None:
    text = job(runs((2, 4, 8), "ranks", "mpirun -n {} ./app 100"), 32.0, 3, 600.0, 1024.0)
    assert "#SBATCH --ntasks=32\n#SBATCH --cpus-per-task=1\n#SBATCH --time=01:00:00\n" in text  # 3 runs of 600 s, twice
    text = job(runs((1, 2, 4), "threads", "./app"), 16.0, 3, 600.0, 64.0)
    assert "#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=16\n" in text
    # Nodes with one rank each, as long as nothing says otherwise; a size of the problem keeps its four workers.
    assert "#SBATCH --nodes=8\n" in job(runs((1, 2), "nodes", "./app"), 8.0, 1, 1.0, 16.0)
    assert "#SBATCH --cpus-per-task=4\n" in job(
        runs((1000, 2000), command="./app {}", workers=4), 4000.0, 1, 1.0, 8000.0
    )


def test_threads_of_the_job_are_those_of_the_runs(tmp_path: Path) -> None:
    calls = made(job(runs((1, 2, 4), "threads", "./app 7", where=tmp_path), 16.0, 1, 1.0, 64.0), tmp_path)
    assert calls[0][1] == "16"
    found = replace(runs((2, 4), "ranks", "srun -n {} ./app", where=tmp_path), fixed={"threads": 8.0})
    text = job(found, 8.0, 1, 1.0, 16.0)
    assert "#SBATCH --ntasks=8\n#SBATCH --cpus-per-task=8\n" in text
    assert "export OMP_NUM_THREADS=8 SRUN_CPUS_PER_TASK=8\n" in text


def test_parameters_that_stay_are_in_the_name_of_the_folder(tmp_path: Path) -> None:
    found = replace(runs((2, 4), "ranks", "mpirun -n {} ./app", where=tmp_path), fixed={"n": 1000000.0})
    assert "ranks=8,n=1000000/rep1" in made(job(found, 8.0, 1, 1.0, 16.0), tmp_path)[0][2][3]
    # In the order in which the others are named, so that repetitions lie in one folder.
    measured = tuple(replace(run, parameters={"n": 1000000.0, **run.parameters}) for run in found.runs)
    text = job(replace(found, runs=measured), 4.0, 1, 1.0, 16.0)
    assert "n=1000000,ranks=4/rep1" in made(text, tmp_path)[0][2][3]


@pytest.mark.parametrize(
    ("parameter", "command", "expected"),
    [
        ("n", "./app --size={} 7", "./app --size=8 7"),
        ("ranks", "./app 7", "mpirun -n 8 ./app 7"),
        ("ranks", "srun -n {} ./app 7", "srun -n 8 ./app 7"),
        ("ranks", "srun --mpi=pmi2 ./app 7", "srun --mpi=pmi2 ./app 7"),  # as many as the job has tasks
        ("ranks", "/opt/mpi/bin/mpirun -n 64 ./app 7", None),
        ("ranks", "srun --ntasks=64 ./app 7", None),
        ("n", "./app-{} x", None),
        ("n", "", None),
    ],
)
def test_where_the_value_stands_in_the_command(
    parameter: str, command: str, expected: str | None, tmp_path: Path
) -> None:
    text = job(runs((2, 4), parameter, command, where=tmp_path), 8.0, 1, 1.0, 16.0)
    found = " ".join(commands(text, tmp_path))
    assert found == (expected or "COMMAND")
    assert ("-- COMMAND  # <-- the program's command" in text) == (expected is None)


def test_the_series_is_read_again_as_it_was(tmp_path: Path) -> None:
    found = runs((2, 4), command="./app {}", where=tmp_path / "runs")
    flat = [str(run.path) for run in found.runs]

    def again(series: Series) -> list[str]:
        return made(job(series, 8.0, 1, 1.0, 16.0), tmp_path)[-1][2]

    assert again(replace(found, given=(tmp_path / "runs",)))[:2] == ["scale", str(tmp_path / "runs")]
    single = again(replace(found, given=tuple(map(Path, flat))))
    assert single[:-2] == ["scale", *flat, str(tmp_path / "runs" / "n=8")]
    known = runs((2, 4), command="./app {}", where=tmp_path / "runs", kind=Kind.PROBLEM_SIZE)
    assert again(known)[-2:] == ["--kind", "size"]
    assert again(replace(found, source="as given"))[0] == "measure"  # the file with the parameters lacks the new run
