"""Generated profiles that allow no conclusion: whatever is wrong with the program, the file does not say it."""

from __future__ import annotations

from pathlib import Path

from tests.accuracy.call_trees import Part, write_hpctoolkit
from tests.accuracy.draw import Draw
from tests.accuracy.gpu_runs import copied
from tests.accuracy.recipes import Truth, recipe, truth
from tests.synthetic import collapsed, nsys_stats, rocprof
from tests.synthetic.gpu_program import for_rocprof
from tests.synthetic.perf_script import Fields, Frame, Sample, write

KIND = "insufficient-data"


def nothing(form: str, profiles: list[str], why: str) -> Truth:
    """The truth of such a case."""
    return truth(KIND, form, profiles, 0.0, why, visible=True)


@recipe(KIND, KIND, 2)
def few_samples(draw: Draw, folder: Path) -> Truth:
    names = [draw.names.function() for _ in range(4)]
    count = draw.whole(5, 14)
    samples = [
        Sample((Frame(draw.random.choice(names), "/opt/app/bin/app"), Frame("main", "/opt/app/bin/app")), comm="app",
               seconds=100 + n * 0.01, period=10_000_000)
        for n in range(count)
    ]  # fmt: skip
    (folder / "perf-script.txt").write_text(write(samples))
    return nothing("Linux perf", ["perf-script.txt"], f"{count} samples: any share is a guess")


@recipe(KIND, KIND, 2)
def without_names(draw: Draw, folder: Path) -> Truth:
    samples = [
        Sample((Frame("[unknown]", "[unknown]", address=draw.whole(0x7F0000000000, 0x7F00FFFFFFFF)),), comm="app",
               seconds=100 + n * 0.004, period=4_000_000)
        for n in range(draw.steps(400, 900))
    ]  # fmt: skip
    (folder / "perf-script.txt").write_text(write(samples, Fields(one_line=draw.chance(0.5))))
    return nothing("Linux perf", ["perf-script.txt"], "no sample has a name, a load module or a call path")


@recipe(KIND, KIND, 2)
def short_run(draw: Draw, folder: Path) -> Truth:
    file, each = draw.names.file(), 1 / 256
    parts = [Part(draw.names.function(), [each * draw.whole(1, 4)], (), file, 20 + 9 * n, 95 + n) for n in range(4)]
    profiles = write_hpctoolkit(folder, Part("main", [each], parts, file, 90))
    return nothing("HPCToolkit", profiles, "the run ended after a few samples")


@recipe(KIND, KIND, 1)
def copies_alone(draw: Draw, folder: Path) -> Truth:
    program, _ = copied(draw, "h2d")
    rocprof.write_csv(folder / "out", of=for_rocprof(program))
    file = next((folder / "out").rglob("*memory_copy_trace.csv"))
    file.rename(folder / "memory_copy_trace.csv")
    return nothing(
        "rocprof", ["memory_copy_trace.csv"], "only copies were exported: what the device did between them is not known"
    )


@recipe(KIND, KIND, 1)
def sums_of_copies(draw: Draw, folder: Path) -> Truth:
    (folder / "copies.csv").write_text(nsys_stats.COPIES)
    return nothing(
        "Nsight Systems statistics", ["copies.csv"], "sums of copies without the time of kernels or of the run"
    )


@recipe(KIND, KIND, 2)
def few_stacks(draw: Draw, folder: Path) -> Truth:
    made = [(("main", draw.names.function()), draw.whole(1, 4)) for _ in range(4)]
    (folder / "stacks.txt").write_text(collapsed.write(made))
    return nothing("collapsed stacks", ["stacks.txt"], "a dozen samples: any share is a guess")
