import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chathpc.diagnosis import catalogue
from chathpc.diagnosis.catalogue import cause, causes, common, ids
from chathpc.diagnosis.catalogue.entry import FAMILIES, GROUPS, TRAITS, Advice, Cause, Threshold, Thresholds
from chathpc.diagnosis.catalogue.schema import read_cause, read_thresholds
from chathpc.errors import ChathpcError, UsageError

FOLDER = Path(sys.modules[cause.__module__].__file__ or "").parent

#: Causes that a rule finds, each with its thresholds: the contract between the catalogue and the rules.
DETECTED = {
    "hot-compute": {"min_share": 0.10},
    "library-call": {"min_share": 0.10},
    "loop-invariant-work": {"min_share": 0.05, "min_called_share": 0.10},
    "strided-access": {"min_share": 0.10},
    "quadratic-algorithm": {"min_share": 0.10, "min_growth": 1.2},
    "redundant-recursion": {"min_share": 0.10},
    "memory-bandwidth": {
        "min_share": 0.10,
        "min_bytes_per_operation": 6,
        "min_streamed_bytes_per_operation": 10,
        "headroom_at_limit": 0.04,
    },
    "memory-latency": {"min_waiting_samples": 0.5, "min_share": 0.10, "headroom_at_limit": 0.04},
    "expensive-math": {"min_share": 0.10},
    "unoptimised-build": {"min_share": 0.03, "max_inlined_part": 0.2, "headroom_by_records": 0.6},
    "not-vectorised": {
        "min_share": 0.10,
        "min_operations": 2,
        "starting": 0.1,
        "interpreted": 0.9,
        "within_reach": 1.0,
        "last_digits": 0.7,
        "with_changes": 0.09,
        "nearest_loop": 40,
    },
    "not-inlined": {"min_share": 0.10, "max_lines": 5, "within_reach": 1.0, "with_changes": 0.5},
    "redundant-copies": {"min_share": 0.10, "min_device_share": 0.2},
    "allocation-churn": {"min_share": 0.10},
    "memory-leak": {"min_bytes": 1e6, "min_part": 0.02},
    "page-faults": {
        "min_share": 0.10,
        "min_times_held": 2.0,
        "max_window": 0.5,
        "min_density": 0.25,
        "seconds_per_fault": 5e-7,
    },
    "deep-recursion": {"min_depth": 64, "min_share": 0.10},
    "lock-contention": {"min_share": 0.05},
    "blocking-wait": {"min_share": 0.10, "min_idle_part": 0.3, "headroom_beside_work": 0.1, "min_sleep_part": 0.2},
    "io-bound": {
        "min_share": 0.10,
        "min_bytes": 6.7e7,
        "min_seconds": 10,
        "large_share": 0.5,
        "headroom_of_large": 0.05,
        "min_sync_part": 0.5,
        "max_possible": 1.05,
    },
    "io-small-requests": {
        "min_share": 0.10,
        "max_throughput": 1e8,
        "min_small_share": 0.5,
        "min_transfer_part": 0.3,
        "max_cached_throughput": 1e9,
    },
    "io-metadata-bound": {"min_share": 0.10},
    "io-imbalance": {"min_share": 0.10, "min_ratio": 1.5, "few_ranks": 4},
    "io-independent": {"min_share": 0.10, "min_part": 0.5},
    "io-storage-targets": {"min_share": 0.10, "min_ratio": 1.5, "few_targets": 4, "crowd": 16},
    "omp-load-imbalance": {"min_share": 0.05, "min_explained": 0.25, "even_ratio": 1.2},
    "omp-barrier-wait": {"min_share": 0.10, "min_explained": 0.25},
    "omp-critical-contention": {"min_share": 0.05},
    "omp-serial-fraction": {"min_share": 0.05, "min_explained": 0.25, "min_idle": 0.15, "max_overlap": 0.25},
    "omp-false-sharing": {"min_share": 0.10},
    "omp-fine-grained-regions": {
        "min_scheduling": 0.2,
        "min_starting": 0.5,
        "min_share": 0.10,
        "max_useful_share": 0.5,
        "min_explained": 0.25,
        "max_seconds_per_entry": 0.001,
        "min_changes": 4,
        "min_changes_ratio": 0.33,
    },
    "oversubscription": {"min_share": 0.05, "doubt_share": 0.3},
    "mpi-load-imbalance": {
        "min_share": 0.05,
        "min_explained": 0.4,
        "outlier_deviations": 3.5,
        "outlier_ratio": 1.1,
        "min_region_part": 0.25,
    },
    "mpi-collective-wait": {
        "min_share": 0.05,
        "min_exclusive_part": 0.7,
        "max_others_ratio": 0.02,
        "min_collective_part": 0.5,
        "min_function_share": 0.001,
    },
    "mpi-late-sender": {"min_share": 0.10, "late_rank": 1.5},
    "mpi-communication-bound": {"min_share": 0.10, "min_transfer_part": 0.3, "min_common_part": 0.7},
    "mpi-small-messages": {
        "min_share": 0.10,
        "min_calls": 10_000,
        "max_seconds_per_call": 5e-5,
        "max_bytes": 10_000,
    },
    "gpu-memory-latency": {
        "min_stall_share": 0.3,
        "max_throughput": 60,
        "leaning_part": 0.5,
        "leaning_ratio": 0.9,
        "clear_ratio": 1.5,
        "full_queue_part": 0.5,
        "min_host_misses": 0.4,
        "host_latency": 2,
        "min_host_sectors": 0.1,
        "min_host_fills": 0.1,
    },
    "gpu-dependency-stall": {"min_stall_share": 0.3},
    "gpu-barrier-stall": {"min_stall_share": 0.15},
    "gpu-launch-bound": {
        "min_share": 0.2,
        "max_kernel_seconds": 1e-5,
        "min_launches": 1000,
        "min_idle_share": 0.2,
        "max_gap_seconds": 2e-4,
    },
    "gpu-h2d-copy-bound": {"min_share": 0.3, "min_window_share": 0.03},
    "gpu-d2h-copy-bound": {"min_share": 0.3, "min_window_share": 0.03},
    "gpu-pageable-copies": {"min_share": 0.05, "min_mean_bytes": 65536, "fast_rate": 2e10, "min_pinned_part": 0.01},
    "gpu-no-overlap": {"min_share": 0.1, "max_overlap": 0.1},
    "gpu-host-copies": {"min_share": 0.1},
    "gpu-host-waits": {"min_share": 0.1},
    "gpu-start-up": {"min_share": 0.1},
    "gpu-idle-host-bound": {"min_share": 0.2},
    "gpu-sync-overuse": {"min_share": 0.15, "max_copy_bytes": 65536},
    "gpu-allocation-in-loop": {"min_share": 0.05, "min_gaps": 10},
    "gpu-unified-memory": {"min_share": 0.1, "min_beside": 0.1},
    "multi-gpu-imbalance": {"min_share": 0.1, "min_turns": 0.8},
    "nccl-bound": {"min_share": 0.1, "dominant_part": 0.5},
    "jit-compilation": {"min_share": 0.1},
    "gpu-small-grid": {
        "min_waves": 1.0,
        "min_kernel_share": 0.05,
        "few_blocks": 8,
        "many_blocks": 160,
        "max_active": 50,
        "min_computing_share": 0.1,
        "min_at_once": 1.2,
        "max_headroom": 0.9,
        "nearly_all_units": 0.75,
    },
    "gpu-low-occupancy": {
        "max_occupancy": 50,
        "min_kernel_share": 0.2,
        "assumed_waiting": 0.5,
        "small_block": 64,
        "next_block": 128,
        "large_block": 256,
    },
    "gpu-kernel-bound": {"min_share": 0.7, "min_kernel_share": 0.03},
    "gpu-memory-bandwidth": {"min_throughput": 80, "attainable": 91, "min_shared_part": 0.5},
    "gpu-uncoalesced-access": {
        "min_sectors_per_request": 8,
        "min_excess": 0.3,
        "ideal_sectors": 4,
        "widest_sectors": 16,
        "doubtful_part": 0.5,
        "min_pipe_part": 0.8,
        "max_hits": 80,
    },
    "gpu-shared-bank-conflicts": {"min_conflicts": 0.3, "min_stall_share": 0.2},
    "gpu-register-spill": {
        "min_instruction_share": 0.05,
        "min_kernel_share": 0.1,
        "min_spilled_bytes": 64,
        "by_compiler": 0.5,
        "few_registers": 64,
    },
    "gpu-divergence": {"max_threads": 20, "max_uniformity": 90},
    "gpu-atomics-contention": {"min_instruction_share": 0.02, "min_slice": 20, "slice_ratio": 2},
    "gpu-compute-bound": {"min_throughput": 80, "min_stall_share": 0.3, "min_queue_share": 0.2},
    "gpu-fp64-bound": {"min_throughput": 60, "full_rate": 2},
    "gpu-tensor-cores-unused": {"max_tensor": 1},
    "gpu-instruction-fetch": {"min_stall_share": 0.15},
    "gpu-tail-effect": {"max_waves": 5, "min_lost": 0.2, "full_occupancy": 0.95},
}

#: Causes that reports may name in future: ids are never renamed.
FURTHER: list[str] = []

#: What makes advice something to type: a call or clause, a name with an underscore, a flag, a scope, a capital inside a word.
ACTIONABLE = re.compile(
    r"\w\(|\w_\w|(^| )-{1,2}[A-Za-z]|::|\b[a-z]+[A-Z]|\b[A-Z]{2}|\b(omp|acc|qsort|const|float|restrict|std)\b|@|#pragma"
)

each_cause = pytest.mark.parametrize("entry", causes(), ids=lambda entry: entry.id)


# -- what is in it ---------------------------------------------------------------------------------------------


def test_every_cause_that_reports_may_name_has_one_entry():
    assert sorted(entry.id for entry in causes()) == sorted([*DETECTED, *FURTHER])
    assert ids() == tuple(sorted([*DETECTED, *FURTHER]))


def test_causes_with_a_rule_are_marked_as_detected():
    assert {entry.id for entry in causes() if entry.detected} == set(DETECTED)


def test_a_trait_is_one_that_is_known(tmp_path):
    file = tmp_path / "page-faults.yaml"
    file.write_text(yaml.safe_dump({**VALID, "traits": ["machine-limit", "fast"]}), encoding="utf-8")
    with pytest.raises(
        ChathpcError, match=r"traits: expected one of data-type, machine-limit, told-by-summary, found 'fast'"
    ):
        read_cause(file)
    assert {trait for each in causes() for trait in each.traits} == set(TRAITS)


@pytest.mark.parametrize(("name", "thresholds"), DETECTED.items(), ids=list(DETECTED))
def test_a_detected_cause_has_the_thresholds_that_its_rule_reads(name, thresholds):
    assert {key: cause(name).threshold(key) for key in cause(name).thresholds} == thresholds


def test_common_thresholds_are_those_that_all_rules_share():
    assert {name: (each.value, each.unit) for name, each in common().items()} == {
        "min_busy_seconds": (1e-5, "seconds"),
        "computing_ipc": (2.0, "ratio"),
        "min_window_seconds": (1e-3, "seconds"),
        "min_operations": (20, "launches"),
        "max_missing": (0.5, "share"),
        "max_nameless": (0.9, "share"),
        "min_samples": (100, "samples"),
        "sass_reach_fixed": (40, "instructions"),
        "sass_reach_short": (128, "instructions"),
        "sass_reach_long": (1024, "instructions"),
        "sigma": (3, "standard deviations"),
        "largest_bound": (10, "ratio"),
        "bound_sigma": (2, "standard deviations"),
        "verdict_weight": (0.05, "share"),
        "healthy_waiting": (0.1, "share"),
        "healthy_imbalance": (0.1, "share"),
        "dominating": (0.1, "share"),
        "pop_efficiency": (0.8, "share"),
        "clock_tolerance": (0.01, "share"),
        "phase_distance": (0.5, "share"),
        "min_start_up": (0.05, "share"),
        "repeat_match": (0.9, "share"),
        "start_up_share": (0.5, "share"),
        "short_run_seconds": (1, "seconds"),
        "seen_part": (0.8, "share"),
        "shortest_run_seconds": (1e-3, "seconds"),
        "min_kernel_share": (0.1, "share"),
        "most": (0.5, "share"),
        "nearly_all": (0.95, "share"),
        "worth_a_line": (0.1, "share"),
        "hardly_any": (0.01, "share"),
        "behind": (0.9, "ratio"),
        "few_launches": (20, "launches"),
        "warp_threads": (32, "threads"),
        "dominant_stall": (0.5, "share"),
        "least_stall": (0.15, "share"),
        "min_stall_reasons": (8, "reasons"),
        "close_use": (16, "instructions"),
        "launch_decides": (0.5, "share"),
        "min_waste_part": (0.5, "ratio"),
        "close_throughputs": (1, "percent"),
        "max_undecided": (0.5, "share"),
        "remedy_taken": (0.9, "share"),
        "min_hidden": (0.2, "share"),
        "missing_wait": (0.01, "seconds"),
        "progress_thread": (0.9, "share"),
        "default_period": (0.005, "seconds"),
        "few_values": (30, "values"),
        "overhead_note": (0.2, "share"),
        "period_quantile": (0.1, "share"),
        "shortest_period": (1e-06, "seconds"),
        "traced_part": (0.5, "ratio"),
        "set_up_note": (0.05, "share"),
        "team_part": (0.5, "share"),
        "known_launches": (0.9, "share"),
        "beside_device": (0.5, "share"),
        "min_iterations": (3, "iterations"),
        "same_code": (0.9, "share"),
        "min_elsewhere": (0.05, "share"),
    }


@pytest.mark.parametrize("name", ["hot-compute", "gpu-kernel-bound"])
def test_a_place_that_is_only_busy_has_no_headroom(name):
    assert cause(name).headroom == 0


@each_cause
def test_an_entry_is_complete(entry: Cause):
    assert entry.family in FAMILIES
    assert 0 <= entry.headroom <= 1
    assert len(entry.headroom_source) > 20
    assert all(len(threshold.source) > 10 for threshold in entry.thresholds.values())
    assert len(entry.what) > 40
    assert len(entry.why) > 40
    assert entry.keywords
    assert entry.next_measurement.tells.endswith(".")


@each_cause
def test_texts_are_sentences(entry: Cause):
    texts = [entry.what, entry.why, entry.gain, *entry.evidence, *entry.speaks_against]
    texts += [advice.do for advice in entry.advice]
    assert [text for text in texts if not text.endswith(".") or text[:1].islower()] == []


@each_cause
def test_advice_names_something_to_type(entry: Cause):
    actionable = [advice.do for advice in entry.advice if ACTIONABLE.search(advice.do)]
    assert len(actionable) >= max(1, len(entry.advice) - 2)
    assert ACTIONABLE.search(entry.advice[0].do) or entry.advice[0].example_after


@each_cause
def test_the_next_measurement_is_a_bare_command(entry: Cause):
    assert not re.search(r"#|\n|\bor:", entry.next_measurement.command)
    assert re.search(r"\./app|readelf|FUNCTION|all_reduce_perf|nproc", entry.next_measurement.command)


@each_cause
def test_advice_is_an_order(entry: Cause):
    verbs = {advice.do.split()[0].rstrip(",") for advice in entry.advice}
    assert verbs.isdisjoint({"You", "The", "A", "It", "Use,", "Should", "Consider", "Try,", "Maybe", "This"})


def test_a_hash_in_a_file_is_never_taken_for_a_comment():
    swallowed = re.compile(r"^\s*(- )?(\w+: )?[^\s\"'|>].* #")
    found = []
    for file in FOLDER.glob("*.yaml"):
        plain = re.sub(r"^( *)(before|after|\w+): [|>]-?\n(\1  .*\n|\n)*", "", file.read_text(), flags=re.MULTILINE)
        found += [(file.name, line) for line in plain.splitlines() if swallowed.match(line) and '"' not in line]
    assert found == []


# -- advice for a program --------------------------------------------------------------------------------------


def test_the_most_specific_advice_comes_first():
    advice = cause("omp-load-imbalance").matching("fortran", "openmp")
    assert advice[0].applies == ("fortran", "openmp")
    assert "!$omp parallel do schedule" in advice[0].do
    assert not any("c" in each.applies for each in advice)


def test_advice_for_another_programming_model_is_left_out():
    assert not any("omp" in sentence for sentence in cause("page-faults").advice_for("c"))
    assert any("omp parallel for" in sentence for sentence in cause("page-faults").advice_for("c", "openmp"))


def test_advice_for_two_models_at_once_needs_both():
    both = "libdlb_mpi.so"
    assert not any(both in sentence for sentence in cause("mpi-load-imbalance").advice_for("c", "mpi"))
    assert any(both in sentence for sentence in cause("mpi-load-imbalance").advice_for("c", "mpi", "openmp"))


def test_an_unknown_language_leaves_advice_for_all_languages():
    applies = [each.applies for each in cause("omp-load-imbalance").matching("openmp")]
    assert ("c", "c++", "openmp") in applies
    assert ("fortran", "openmp") in applies


def test_a_gpu_problem_of_an_unknown_model_gets_advice_for_all_of_them():
    applies = {name for each in cause("gpu-h2d-copy-bound").matching() for name in each.applies}
    assert {"cuda", "hip", "openmp-target", "openacc"} <= applies


def test_a_hip_program_gets_no_cuda_advice():
    sentences = cause("gpu-launch-bound").advice_for("hip")
    assert "hipStreamBeginCapture" in sentences[0]
    assert not any("cudaStreamBeginCapture" in sentence for sentence in sentences)


def test_an_openmp_problem_needs_no_other_sign_of_openmp():
    assert cause("omp-barrier-wait").advice_for("c") == cause("omp-barrier-wait").advice_for("c", "openmp")


def test_cuda_without_a_language_is_taken_for_cpp():
    applies = [name for each in cause("unoptimised-build").matching("cuda") for name in each.applies]
    assert "c++" in applies
    assert "fortran" not in applies


@each_cause
def test_a_c_program_gets_advice_for_every_cause_of_its_model(entry: Cause):
    model = {"host": "pthreads", "openmp": "openmp", "mpi": "mpi", "gpu-system": "cuda", "gpu-kernel": "cuda"}
    special = {"jit-compilation": ("python",), "io-imbalance": ("c", "mpi"), "io-independent": ("c", "mpi")}
    assert entry.advice_for(*special.get(entry.id, ("c", model[entry.family])))


@given(
    st.sets(st.sampled_from(sorted(set().union(*GROUPS)))),
    st.sets(st.sampled_from(sorted(set().union(*GROUPS)))),
)
def test_advice_fits_its_own_names_best(applies, models):
    advice = Advice(tuple(applies) or ("any",), "Do it.")
    own = advice.fit(frozenset(applies))
    assert own == sum(bool(applies & group) for group in GROUPS)
    assert -1 <= advice.fit(frozenset(models)) <= own


# -- the loader ------------------------------------------------------------------------------------------------


def test_an_unknown_cause_is_refused_with_a_near_name():
    with pytest.raises(UsageError, match=r"no cause 'omp-imbalance'.*\n.*omp-load-imbalance"):
        cause("omp-imbalance")


@pytest.mark.parametrize("name", ["common", "../records", "", "hot-compute.yaml"])
def test_only_causes_can_be_loaded(name):
    with pytest.raises(UsageError):
        cause(name)


def test_one_cause_is_read_without_the_others(monkeypatch):
    opened = []
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: opened.append(self.name) or read(self))
    catalogue.built_in.cache_clear()
    assert cause("page-faults") is cause("page-faults")
    assert opened == ["page-faults.yaml"]


def test_thresholds_of_a_room_are_read_once_and_when_they_are_needed(tmp_path):
    file = tmp_path / "thresholds.yaml"
    room = Thresholds(file)  # not there yet
    file.write_text("least:\n  value: 3\n  unit: runs\n  source: a source\n")
    assert room.value("least") == 3
    file.unlink()
    assert room() == {"least": Threshold(3, "runs", "a source")}
    with pytest.raises(KeyError):
        room.value("most")


def test_thresholds_cannot_be_changed():
    with pytest.raises(TypeError):
        cause("hot-compute").thresholds["min_share"] = None  # type: ignore[index]


def test_the_loader_needs_no_heavy_import():
    code = "import sys; from chathpc.diagnosis.catalogue import causes; causes(); print({'pydantic', 'numpy', 'pandas'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


VALID = yaml.safe_load((FOLDER / "page-faults.yaml").read_text(encoding="utf-8"))


def changed(path, value):
    """VALID with another value at a path such as ("headroom", "value"); `...` removes the key."""
    entry = yaml.safe_load(yaml.safe_dump(VALID))
    *folders, last = path
    inner = entry
    for key in folders:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return entry


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("title",), ..., "title: expected a text, found 'nothing'"),
        (("title",), 7, "title: expected a text, found 7"),
        (("title",), " ", "title: expected a text"),
        (("title",), "a\tb", "without tabs and control characters"),
        (("title",), "a\x1b[31mb", "without tabs and control characters"),
        (("what",), "w" * 401, "lines of at most 400 characters"),
        (("id",), "page-fault", "id: expected 'page-faults', the file's name, found 'page-fault'"),
        (("family",), "gpu", "family: expected one of gpu-kernel, gpu-system, host, mpi, openmp, found 'gpu'"),
        (("detected",), "yes", "detected: expected true or false, found 'yes'"),
        (("evidence",), [], "evidence: expected a list with at least one element"),
        (("evidence",), "one", "evidence: expected a list"),
        (("evidence", 0), None, r"evidence\[0\]: expected a text, found None"),
        (("headroom", "value"), 1.01, "headroom.value: expected a number from 0 to 1, found 1.01"),
        (("headroom", "value"), True, "headroom.value: expected a number"),
        (("headroom", "source"), ..., "headroom.source: expected a text"),
        (("headroom",), 0.5, "headroom: expected a mapping, found 0.5"),
        (("thresholds", "min_share", "value"), "1e-1", r"min_share.value: expected a number \(1.0e\+6, not 1e6\)"),
        (("thresholds", "min_share", "value"), float("nan"), "min_share.value: expected a number"),
        (("thresholds", "min_share", "value"), 10, "min_share.value: expected a number from 0 to 1, found 10.0"),
        (("thresholds", "min_share", "unit"), "furlongs", "min_share.unit: expected one of"),
        (("thresholds", "min_share", "source"), ..., "thresholds.min_share.source: expected a text, found 'nothing'"),
        (("thresholds", "Min"), {}, "thresholds.Min: expected a name in lower_case"),
        (("advice", 0, "applies"), ["cobol"], r"advice\[0\].applies: expected names of any, c, "),
        (("advice", 0, "applies"), ["any", "c"], r"advice\[0\].applies: expected any, or names, not both"),
        (("advice", 0, "example", "language"), "basic", r"advice\[0\].example.language: expected one of"),
        (("advice", 0, "note"), "x", r"advice\[0\].note: expected only applies, do, example, found 'note'"),
        (("next_measurement", "tells"), ..., "next_measurement.tells: expected a text"),
        (("keywords",), ["Page"], r"keywords\[0\]: expected lower case, found 'Page'"),
        (("detectd",), True, "detectd: expected only advice, bound, detected, "),
    ],
)
def test_an_entry_that_breaks_the_schema_is_refused_with_file_and_key(tmp_path, path, value, words):
    file = tmp_path / "page-faults.yaml"
    file.write_text(yaml.safe_dump(changed(path, value)), encoding="utf-8")
    with pytest.raises(ChathpcError, match=rf"^page-faults\.yaml: .*{words}") as refused:
        read_cause(file)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file: expected a mapping, found None"),
        ("- 1\n", "the file: expected a mapping"),
        ("id: a\nid: b\n", "not valid YAML: the key 'id' appears twice"),
        ("id: [\n", "not valid YAML"),
        ("id: !!python/object/apply:os.system ['true']\n", "not valid YAML: could not determine a constructor"),
        ("\x00", "not valid YAML"),
    ],
)
def test_what_is_no_plain_yaml_mapping_is_refused(tmp_path, text, words):
    file = tmp_path / "x.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ChathpcError, match=rf"^x\.yaml: .*{words}"):
        read_cause(file)
    with pytest.raises(ChathpcError, match=r"^x\.yaml: "):
        read_thresholds(file)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ChathpcError, match=r"^x\.yaml: cannot be read: No such file"):
        read_cause(tmp_path / "x.yaml")


def test_an_entry_survives_being_written_and_read_again(tmp_path):
    file = tmp_path / "page-faults.yaml"
    file.write_text(yaml.safe_dump(VALID), encoding="utf-8")
    assert read_cause(file) == cause("page-faults")


# -- examples --------------------------------------------------------------------------------------------------

C_PRELUDE = """
#define _GNU_SOURCE
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Status;
enum { MPI_COMM_WORLD, MPI_DOUBLE, MPI_SUM };
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
int MPI_Send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int MPI_Recv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int MPI_Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
int MPI_Bcast(void *, int, MPI_Datatype, int, MPI_Comm);
int MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Allgather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int MPI_Sendrecv(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
"""

CXX_PRELUDE = """
#include <algorithm>
#include <ostream>
#include <unordered_set>
#include <vector>
"""


def examples(language):
    """(name, code) of every example in a language, before and after."""
    for entry in causes():
        for i, advice in enumerate(entry.advice):
            if advice.example_language == language:
                yield f"{entry.id} {i} before", advice.example_before
                yield f"{entry.id} {i} after", advice.example_after


def one_unit(language, prelude):
    """All examples in one translation unit of C++ or CUDA, each in a namespace of its own."""
    parts = [f"// {name}\nnamespace example_{i} {{\n{code}}}\n" for i, (name, code) in enumerate(examples(language))]
    return prelude + "\n".join(parts)


def compiled(command, code):
    result = subprocess.run(command, input=code, capture_output=True, text=True)
    return "" if result.returncode == 0 else result.stderr


def test_most_detected_causes_show_an_example():
    with_example = [entry for entry in causes() if entry.detected and any(each.example_after for each in entry.advice)]
    assert len(with_example) >= 0.8 * len(DETECTED)


def test_an_example_changes_something():
    for entry in causes():
        for advice in entry.advice:
            assert advice.example_before is None or advice.example_before != advice.example_after


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize(
    ("name", "code"), list(examples("c")), ids=[name.replace(" ", "-") for name, _ in examples("c")]
)
def test_c_examples_compile_without_warnings(name, code):
    flags = ["-std=gnu11", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-Wno-sign-compare", "-fsyntax-only"]
    assert compiled(["gcc", *flags, "-x", "c", "-"], C_PRELUDE + code) == ""


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_cpp_examples_compile_without_warnings():
    flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    assert compiled(["g++", *flags, "-x", "c++", "-"], one_unit("c++", CXX_PRELUDE)) == ""


@pytest.mark.proprietary
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_cuda_examples_compile(tmp_path):
    source = tmp_path / "examples.cu"
    source.write_text(one_unit("cuda", ""), encoding="utf-8")
    assert (
        compiled(["nvcc", "-std=c++17", "-rdc=true", "-c", "-o", str(tmp_path / "examples.o"), str(source)], "") == ""
    )


# -- the page --------------------------------------------------------------------------------------------------

PAGE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "catalogue_page.py"))


def test_the_page_has_a_section_for_every_cause():
    page = PAGE["page"]()
    assert re.findall(r"^### (.*)$", page, re.MULTILINE) == [entry.id for entry in causes()]
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == ["Contents", *FAMILIES.values(), "Thresholds of all rules"]


def test_links_of_the_contents_lead_to_sections():
    page = PAGE["page"]()
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) == {*(entry.id for entry in causes()), "thresholds-of-all-rules"}


def test_markup_in_texts_is_shown_as_it_is():
    page = PAGE["page"]()
    assert r"\_\_syncthreads()" in page
    assert page.count("```") % 2 == 0
    prose = re.sub(r"\\(.)", r"\1", re.sub(r"```.*?```", "", page, flags=re.DOTALL))
    assert [advice.do for entry in causes() for advice in entry.advice if advice.do not in prose] == []


def test_the_page_names_causes_that_no_rule_finds_yet():
    contents = PAGE["page"]().split("\n## ")[1]
    assert contents.count("(no rule yet)") == len(FURTHER)
