"""Public samples of CPU profilers: totals recomputed here by other means, and the conclusion that a careful reader draws."""

from __future__ import annotations

import gzip
import json
import marshal
import os
import re
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from chathpc.adapters.foreign import foreign
from chathpc.adapters.glance import Glance
from chathpc.adapters.load import load
from chathpc.errors import AdapterError
from chathpc.pipeline import explain
from chathpc.profile.profile import Profile
from chathpc.report import Report
from tests.adapters.everything import touch_everything

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CHATHPC_TEST_DATA", REPOSITORY.parent / "shared" / "data")) / "profiles"
pytestmark = pytest.mark.skipif(
    not (DATA / "perf_script").is_dir(),
    reason="needs the public sample profiles (CHATHPC_TEST_DATA, or ../shared/data beside the repository)",
)


def opened(name: str) -> Profile:
    profile = load(DATA / name)
    touch_everything(profile)
    return profile


def explained(name: str) -> Report:
    return explain(opened(name), llm="none")


def own(profile: Profile, metric: str) -> dict[str, float]:
    table = profile.table("function", metric)
    return {name: value for name, value in zip(table["name"], table["exclusive"], strict=True) if value}


# -- perf script ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["own_perf_script.txt.gz", "simple-with-header.linux-perf.txt", "simple-with-pid.linux-perf.txt"]
)
def test_perf_script_counts_each_sample_for_its_innermost_frame(name: str) -> None:
    data = (DATA / "perf_script" / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    leaves, periods = Counter[str](), 0
    for block in re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip().split("\n\n"):
        head, *frames = block.strip("\n").split("\n")
        leaves[re.sub(r"\+0x[0-9a-f]+$", "", frames[0].split(None, 1)[1].rsplit(" (", 1)[0])] += 1
        period = re.search(r":\s+(\d+) cpu-clock", head)
        periods += int(period[1]) if period else 0
    profile = opened(f"perf_script/{name}")
    assert profile.sample_count == sum(leaves.values())
    metric = "cpu.time" if periods else "cpu.samples"
    assert profile.total(metric) == pytest.approx(periods * 1e-9 if periods else sum(leaves.values()))
    unit = profile.total(metric) / sum(leaves.values())
    if name.startswith("own"):
        assert (sum(leaves.values()), leaves["matmul_colmajor"]) == (3303, 3272)
        assert own(profile, metric)["matmul_colmajor"] == pytest.approx(3272 * unit)
    else:
        assert own(profile, metric) == pytest.approx({leaf: count * unit for leaf, count in leaves.items()}, rel=2e-2)


def test_perf_script_names_the_hottest_function() -> None:
    report = explained("perf_script/own_perf_script.txt.gz")
    assert report.findings[0].where.function == "matmul_colmajor"
    assert report.findings[0].share > 0.98
    for name in ("simple-with-header.linux-perf.txt", "simple-with-pid.linux-perf.txt"):
        assert explained(f"perf_script/{name}").findings[0].where.function == "beta"


# -- collapsed, speedscope -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["simple.txt", "simple-with-invalids.txt", "simple-utf16-le.txt"])
def test_collapsed_stacks_in_three_guises_are_one_profile(name: str) -> None:
    profile = opened(f"collapsed/{name}")
    assert own(profile, "cpu.samples") == {"b": 5, "c": 5, "d": 4}
    assert any("1 of 6 lines" in caveat for caveat in profile.caveats) == ("invalids" in name)
    assert explained(f"collapsed/{name}").verdict == "insufficient-data"


def test_the_speedscope_file_of_these_stacks_is_the_same_profile() -> None:
    profile = opened("speedscope/simple.speedscope.json")
    assert own(profile, "cpu.samples") == {"b": 5, "c": 5, "d": 4}
    assert explained("speedscope/simple.speedscope.json").verdict == "insufficient-data"


# -- callgrind -----------------------------------------------------------------------------------------------


def test_callgrind_adds_up_to_its_own_total() -> None:
    profile = opened("callgrind/own_callgrind.out.demo")
    assert profile.total("cpu.instructions") == 3_505_786_794
    hot = explained("callgrind/own_callgrind.out.demo").findings[0]
    assert (hot.where.function, hot.where.line) == ("matmul_colmajor", 8)
    path = DATA / "callgrind" / "own_callgrind.out.demo"
    try:
        done = subprocess.run(["callgrind_annotate", path], capture_output=True, text=True, timeout=60, check=True)
    except FileNotFoundError:
        return
    found = re.search(r"^\s*([\d,]+) \([^)]*\)\s+\S*demo\.c:matmul_colmajor", done.stdout, re.MULTILINE)
    assert found is not None
    assert own(profile, "cpu.instructions")["matmul_colmajor"] == int(found[1].replace(",", ""))


def test_callgrind_with_several_events_and_compressed_names() -> None:
    profile = opened("callgrind/multiple-event-types.log")
    assert own(profile, "cpu.time") == pytest.approx({"main": 20e-8, "func1": 100e-8, "func2": 700e-8})
    assert own(profile, "other.memory-bytes") == {"main": 15000, "func1": 15000, "func2": 8000}
    profile = opened("callgrind/name-compression.log")
    assert own(profile, "cpu.instructions") == {"main": 20, "func1": 100, "func2": 700}
    for name in ("multiple-event-types.log", "name-compression.log"):
        assert explained(f"callgrind/{name}").verdict == "insufficient-data"


# -- gprof ---------------------------------------------------------------------------------------------------


def test_gprof_and_its_hottest_function() -> None:
    profile = opened("gprof/own_gprof_flat_graph.txt")
    assert own(profile, "cpu.time") == {"matmul_colmajor": 6.89, "stencil": 0.01}
    assert own(profile, "calls.count") == {"matmul_colmajor": 3, "stencil": 100, "recurrence": 512, "transform": 512}
    assert explained("gprof/own_gprof_flat_graph.txt").findings[0].where.function == "matmul_colmajor"


def test_gprof2dot_has_the_shares_of_its_labels() -> None:
    name = "gprof_dot/callgrind.dot.64042.0.1"
    shares = Counter[str]()
    for label in re.findall(r'label="([^"]*)"', (DATA / name).read_text()):
        found = re.fullmatch(r"(?:.*\\n)?([^\\]+)\\n[\d.]+%\\n\(([\d.]+)%\)\\n\d+×", label)
        if found:
            shares[found[1]] += float(found[2])
    profile = opened(name)
    found_shares = own(profile, "cpu.share")
    rest = found_shares.pop("[omitted from the graph]", 0.0)
    assert found_shares == pytest.approx({function: share for function, share in shares.items() if share})
    assert rest == pytest.approx(100 - sum(shares.values()))
    assert max(found_shares, key=lambda function: found_shares[function]) == "main"
    assert found_shares["main"] == 53.77
    whole = profile.table("function", "cpu.share").set_index("name")["inclusive"]
    for function in ("PMPI_Reduce", "PMPI_Bcast", "PMPI_Waitany", "MPIR_Reduce_knomial_MV2", "main"):
        (told,) = re.findall(rf"\\n{function}\\n([\d.]+)%", (DATA / name).read_text())
        assert whole[function] == pytest.approx(float(told), abs=0.5)
    assert any(finding.where.function == "main" for finding in explained(name).findings)


# -- pprof ---------------------------------------------------------------------------------------------------


def test_words_of_gperftools() -> None:
    data = (DATA / "pprof" / "cppbench.cpu").read_bytes()
    words = struct.unpack(f"<{len(data) // 8}Q", data[: len(data) // 8 * 8])
    at, samples = 5, 0
    while words[at : at + 3] != (0, 1, 0):
        samples += words[at]
        at += 2 + words[at + 1]
    profile = opened("pprof/cppbench.cpu")
    assert profile.total("cpu.samples") == samples
    assert profile.total("cpu.time") == pytest.approx(samples * words[3] * 1e-6)


def test_texts_of_pprof() -> None:
    heap = opened("pprof/gobench.heap")
    assert heap.total("memory.in-use.bytes") > 1_595_680  # what was sampled, before it is scaled up
    assert explained("pprof/gobench.heap").verdict == "insufficient-data"
    locks = opened("pprof/java.contention")
    assert locks.total("lock.wait.time") == pytest.approx((1 + 14 + 2 + 2) * 100e-6)
    assert locks.total("lock.wait.count") == (1 + 1 + 2 + 3) * 100


@pytest.mark.parametrize(
    ("name", "hottest"), [("sample.cpu", "main.busyLoop"), ("speedscope_simple.pb.gz", "main.alpha")]
)
def test_messages_of_pprof(name: str, hottest: str) -> None:
    profile = opened(f"pprof/{name}")
    assert profile.total("cpu.time") == pytest.approx(profile.total("cpu.samples") * 0.01)  # 100 samples a second
    assert explained(f"pprof/{name}").findings[0].where.function == hottest


# -- Python --------------------------------------------------------------------------------------------------


def test_pyinstrument_says_that_imports_dominate() -> None:
    name = "pyinstrument/pyinstrument-hatchet-profile.json"
    root = json.loads((DATA / name).read_text())["root_frame"]
    alone, pending = Counter[str](), [root]
    while pending:
        frame = pending.pop()
        alone[frame["function"]] += frame["time"] - sum(child["time"] for child in frame["children"])
        pending += frame["children"]
    profile = opened(name)
    assert profile.total("cpu.time") == pytest.approx(root["time"], rel=1e-5)
    assert own(profile, "cpu.time")["<module>"] == pytest.approx(alone["<module>"], rel=1e-5)
    assert any("Importing modules takes" in caveat and "291 ms of it" in caveat for caveat in profile.caveats)
    hatchet = pytest.importorskip("hatchet")
    frame = hatchet.GraphFrame.from_pyinstrument(str(DATA / name)).dataframe
    assert float(frame["time"].sum()) == pytest.approx(profile.total("cpu.time"), rel=1e-4)


def test_cprofile_says_that_the_recursion_dominates() -> None:
    name = "cprofile/cprofile-cycle.pstats"
    stats = marshal.loads((DATA / name).read_bytes())  # a file of ours to trust, read the way Python does
    profile = opened(name)
    assert own(profile, "cpu.time") == pytest.approx({key[2]: facts[2] for key, facts in stats.items()})
    assert own(profile, "calls.count") == {key[2]: facts[1] for key, facts in stats.items()}
    assert explained(name).findings[0].where.function == "recursive"


# -- perf stat, and what is no profile -----------------------------------------------------------------------


@pytest.mark.parametrize(("name", "seconds", "used"), [("csv", 6.71082, "0.332"), ("json", 6.895188344, "0.462")])
def test_perf_stat_abstains(name: str, seconds: float, used: str) -> None:
    profile = opened(f"perf_stat/own_perf_stat.{name}")
    assert profile.total("cpu.time") == pytest.approx(seconds)
    assert not {"cpu.cycles", "cpu.instructions", "cpu.cache.misses"} & set(profile.metrics)
    report = explained(f"perf_stat/own_perf_stat.{name}")
    assert report.verdict == "insufficient-data"
    assert f"{used} processors in use" in report.headline


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        ("extrap/text/*", "Extra-P"), ("extrap/json/*", "Extra-P"), ("extrap/jsonl/*", "Extra-P"), ("extrap/talpas/*", "Extra-P"),
        ("prediction/*.csv.gz", "data set about kernels"), ("own_source/*.c", "source code"),
    ],
)  # fmt: skip
def test_what_is_no_profile_is_called_by_its_name(pattern: str, what: str) -> None:
    files = sorted(DATA.glob(pattern))
    assert files
    for path in files:
        found = foreign(Glance(path))
        assert found is not None
        assert what in found[0]
        with pytest.raises(AdapterError, match=re.escape(found[0])):
            load(path)


# -- Perfetto ------------------------------------------------------------------------------------------------


def test_a_trace_of_perfetto_has_the_times_between_begin_and_end_of_its_slices() -> None:
    """Nanoseconds added up from the events in the order of the file by a reader of twenty lines."""
    profile = load(DATA / "perfetto" / "python-source.proto")
    table = profile.table("function", "host.time").set_index("name")["exclusive"] * 1e9
    own = {"fib": 1125041, "_sum": 89829, "inefficient": 206399, "run": 124264, "main_loop": 1193551}
    assert {name: round(value) for name, value in table.items() if value} == own
    assert profile.total("calls.count") == 59
    assert profile.caveats == ()
