"""A user's folder of patterns: what it adds, what it must not change silently, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from chathpc.diagnosis import catalogue
from chathpc.diagnosis.catalogue import cause, causes, extended, ids, own_causes
from chathpc.errors import UsageError
from tests.diagnosis.kernels import first, one, with_stalls
from tests.diagnosis.parts import diagnosed, finding, function, hot_loop, main, statements
from tests.profile.build import build, call, line

BUILT_IN = Path(catalogue.__file__).parent


def entry(**changes: Any) -> dict[str, Any]:
    """A whole new entry; a key with the value `...` is left out."""
    whole = {
        "id": "acme-plans", "title": "FFT plans are made again and again", "family": "host",
        "what": "The FFT library makes a plan before each transform.", "why": "A plan takes longer than a transform.",
        "evidence": ["Time in functions that make plans."], "speaks_against": ["Plans are made once at the start."],
        "gain": "Nearly all of it.", "headroom": {"value": 0.9, "source": "own measurement, cluster 1"},
        "thresholds": {"min_share": {"value": 0.1, "unit": "share", "source": "own measurement"}},
        "advice": [{"applies": ["any"], "do": "Make the plan once, with acme_plan(), before the loop."}],
        "next_measurement": {"command": "hpcrun -t ./app", "tells": "Where plans are made."},
        "references": ["Acme manual, chapter 2"], "keywords": ["fft", "plan"],
        "found_by": {"functions": ["acme_plan*"]},
    }  # fmt: skip
    return {key: value for key, value in (whole | changes).items() if value is not ...}


def write(folder: Path, name: str, content: object) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
    return file


def built_in(id: str) -> dict[str, Any]:
    return dict(yaml.safe_load((BUILT_IN / f"{id}.yaml").read_text(encoding="utf-8")))


# -- what a folder adds ----------------------------------------------------------------------------------------


def test_a_new_entry_stands_beside_the_built_in_ones_while_it_lasts(tmp_path: Path) -> None:
    before = ids()
    file = write(tmp_path, "acme-plans.yaml", entry())
    with extended(tmp_path):
        assert set(ids()) == {*before, "acme-plans"}
        assert (cause("acme-plans").detected, cause("acme-plans").origin) == (True, (str(file),))
        assert "acme-plans" in {each.id for each in causes()}
    assert ids() == before
    with pytest.raises(UsageError):
        cause("acme-plans")


def test_an_entry_that_names_no_functions_is_only_shown(tmp_path: Path) -> None:
    write(tmp_path, "acme-plans.yaml", entry(found_by=...))
    with extended(tmp_path):
        assert not cause("acme-plans").detected


def test_no_folder_and_an_empty_folder_add_nothing(tmp_path: Path) -> None:
    for folder in (None, tmp_path):
        with extended(folder):
            assert own_causes() == ()


def test_advice_of_the_user_comes_before_the_built_in_advice(tmp_path: Path) -> None:
    advice = [{"applies": ["openmp"], "do": "Ask the support team for acme_schedule()."}]
    write(tmp_path, "ours.yaml", {"extends": "omp-load-imbalance", "advice": advice, "keywords": ["triangle"]})
    plain = cause("omp-load-imbalance")
    with extended(tmp_path):
        changed = cause("omp-load-imbalance")
    assert changed.advice[0].do == advice[0]["do"]
    assert (changed.advice[1:], changed.thresholds, changed.detected) == (plain.advice, plain.thresholds, True)
    assert changed.keywords == (*plain.keywords, "triangle")


def test_several_files_may_extend_one_entry_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write(tmp_path, f"{name}.yaml", {"extends": "io-bound", "references": [f"Handbook {name}"]})
    with extended(tmp_path):
        assert cause("io-bound").references[-2:] == ("Handbook a", "Handbook b")
        assert [Path(file).name for file in cause("io-bound").origin] == ["a.yaml", "b.yaml"]


def test_a_threshold_of_the_user_decides(tmp_path: Path) -> None:
    copying = function("shift", line("app.c:21", call("memcpy [libc.so.6]", module="/lib/libc.so.6", time=3.0)))
    profile = build(main(copying, function("rest", hot_loop(7.0, "app.c:40"))))
    assert "redundant-copies" in {each.cause for each in diagnosed(profile).findings}
    threshold = {"value": 0.5, "unit": "share", "source": "this cluster copies at 2 TB/s"}
    write(
        tmp_path, "x.yaml", {"extends": "redundant-copies", "overrides": True, "thresholds": {"min_share": threshold}}
    )
    with extended(tmp_path):
        assert "redundant-copies" not in {each.cause for each in diagnosed(profile).findings}


def test_a_threshold_of_a_gpu_rule_can_be_changed_too(tmp_path: Path) -> None:
    # A kernel of 32 threads a block, of which the number of blocks limits the occupancy.
    limits = {"limit_registers": 40.0, "limit_shared_memory": 100.0, "limit_warps": 64.0, "limit_blocks": 32.0}
    kernel = one(sm_throughput=40, memory_throughput=42, occupancy=50, threads_per_block=32, **limits)
    profile = with_stalls(kernel, long_scoreboard=20)
    assert first(profile).advice[0].startswith("Launch blocks of 128 threads")
    threshold = {"value": 192, "unit": "threads", "source": "our devices hold six warps of a block best"}
    changed = {"extends": "gpu-low-occupancy", "overrides": True, "thresholds": {"next_block": threshold}}
    write(tmp_path, "x.yaml", changed)
    with extended(tmp_path):
        assert first(profile).advice[0].startswith("Launch blocks of 192 threads")


def test_an_entry_that_says_so_takes_the_place_of_a_built_in_one(tmp_path: Path) -> None:
    changed = built_in("page-faults") | {"title": "Faults", "overrides": True}
    del changed["detected"]
    write(tmp_path, "page-faults.yaml", changed)
    with extended(tmp_path):
        assert (cause("page-faults").title, cause("page-faults").detected) == ("Faults", True)


def test_time_below_the_named_functions_is_found_with_the_users_advice(tmp_path: Path) -> None:
    write(tmp_path, "acme-plans.yaml", entry())
    planning = call(
        "acme_plan_3d [libacme.so]", call("search", module="/lib/libacme.so", time=3.0), module="/lib/libacme.so"
    )
    profile = build(main(function("step", line("app.c:21", planning)), function("rest", hot_loop(7.0, "app.c:40"))))
    with extended(tmp_path):
        diagnosis = diagnosed(profile)
        found = finding(diagnosis, "acme-plans")
    assert (found.seconds, found.share, found.headroom, diagnosis.verdict) == (3.0, 0.3, 0.9, "bottleneck")
    assert found.advice == ("Make the plan once, with acme_plan(), before the loop.",)
    assert statements(diagnosis, "acme-plans") == [
        "Functions like acme_plan_3d [libacme.so] take 3.00 s of 10.0 s (30.0 %)."
    ]


def test_less_than_the_threshold_is_not_reported(tmp_path: Path) -> None:
    write(tmp_path, "acme-plans.yaml", entry())
    profile = build(main(call("acme_plan_3d", module="/lib/libacme.so", time=0.5), function("rest", hot_loop(9.5))))
    with extended(tmp_path):
        assert "acme-plans" not in {each.cause for each in diagnosed(profile).findings}


# -- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("page-faults", built_in("page-faults"), "id: expected 'overrides: true' beside it"),
        ("other", entry(), "id: expected 'other', the file's name"),
        ("acme-plans", entry(title=...), "title: expected a text, found 'nothing'"),
        ("acme-plans", entry(colour="red"), "colour: expected only"),
        ("acme-plans", entry(overrides=1), "overrides: expected true or false"),
        ("acme-plans", entry(found_by=..., detected=True), "detected: expected found_by"),
        ("acme-plans", entry(found_by={"functions": ["*"]}), r"functions\[0\]: expected a pattern that does not match"),
        ("acme-plans", entry(found_by={"functions": ["f"], "lines": 1}), "found_by.lines: expected only functions"),
        ("acme-plans", entry(thresholds={}), "thresholds.min_share: expected a share"),
        ("x", {"extends": "nothing-known"}, "extends: expected the id of an entry"),
        ("x", {"extends": "io-bound", "title": "T"}, "title: expected only extends"),
        ("x", {"extends": "io-bound", "thresholds": {}}, "thresholds: expected 'overrides: true' beside it"),
        (
            "x",
            {
                "extends": "io-bound",
                "overrides": True,
                "thresholds": {"least": {"value": 1, "unit": "share", "source": "us"}},
            },
            "thresholds.least: expected one of min_share",
        ),
        (
            "x",
            {
                "extends": "io-bound",
                "overrides": True,
                "thresholds": {"min_share": {"value": 1, "unit": "percent", "source": "us"}},
            },
            "thresholds.min_share.unit: expected 'share', found 'percent'",
        ),
        (
            "page-faults",
            built_in("page-faults") | {"overrides": True, "thresholds": {}},
            "thresholds.max_window: expected a threshold, as a rule reads it",
        ),
        (
            "page-faults",
            built_in("page-faults") | {"overrides": True, "found_by": {"functions": ["f"]}},
            "found_by: expected nothing",
        ),
        ("x", "a: &a [1]\nb: *a\n", "line 2: an alias"),
        ("x", "a: " + "[" * 50 + "]" * 50, "more than 12 levels"),
        ("x", "[" * 100_000, "more than 12 levels|maximum nesting depth"),  # PyYAML has a limit of its own since 6.0.4
        ("x", "? [a]\n: b\n", "not valid YAML"),
        ("x", "a: 2001-99-99\n", "not valid YAML"),
        ("x", "a: " + "9" * 5000, "not valid YAML"),
        ("x", "- 1\n", "the file: expected a mapping"),
        ("x", "\x00", "not valid YAML"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_key(tmp_path: Path, name: str, content: object, words: str) -> None:
    write(tmp_path, f"{name}.yaml", content)
    with pytest.raises(UsageError, match=words) as refused, extended(tmp_path):
        pass
    assert str(tmp_path / f"{name}.yaml") in refused.value.message
    assert refused.value.hint


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(UsageError, match="not valid YAML"), extended(tmp_path):
        pass


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "x.yaml", "#" * 300_000)
    with pytest.raises(UsageError, match="larger than 262,144 bytes"), extended(tmp_path):
        pass


def test_a_folder_with_too_many_files_is_refused(tmp_path: Path) -> None:
    for number in range(501):
        (tmp_path / f"{number}.yaml").touch()
    with pytest.raises(UsageError, match="501 patterns"), extended(tmp_path):
        pass


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"), extended(tmp_path / "none"):
        pass


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").mkdir()
    with pytest.raises(UsageError, match=r"x\.yaml is not a file"), extended(tmp_path):
        pass


def test_other_files_of_the_folder_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "README.md", "no YAML: [")
    with extended(tmp_path):
        assert own_causes() == ()


def test_two_files_cannot_have_the_same_entry(tmp_path: Path) -> None:
    write(tmp_path, "acme-plans.yaml", entry())
    write(tmp_path, "acme-plans.yml", entry())
    with pytest.raises(UsageError, match="another file of this folder has the entry"), extended(tmp_path):
        pass


def test_a_new_entry_can_be_extended_as_well(tmp_path: Path) -> None:
    write(tmp_path, "acme-plans.yaml", entry())
    write(tmp_path, "more.yaml", {"extends": "acme-plans", "keywords": ["wisdom"]})
    with extended(tmp_path):
        assert cause("acme-plans").keywords == ("fft", "plan", "wisdom")
