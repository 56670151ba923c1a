"""Tests in two tiers: what takes long is of a family, which `make check` leaves out and `make prove` samples.

A pytest plug-in. Tests of a family get the marker `prove`; `-m 'not prove'` leaves them out. `--prove all` leaves out all others,
`--prove sample` all but a sample of each family, drawn by a hash of `--seed` and the test's id: at least one test of each kind
(the marker `kind`), and as many in all as FAMILIES says. `python -m tests.proof` runs both and writes docs/proof.md.
`--cover` is for coverage, which makes tests three times as slow: of the families only those that run code which no other test runs, one case
of each kind, and few examples of Hypothesis.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Family:
    """Tests whose ids begin with one of `tests`: what they prove, and how many a sample has at least.

    `alone`: times are judged, nothing runs beside them. `covers`: they run code that no test outside of families does.
    """

    name: str
    proves: str
    sample: int
    tests: tuple[str, ...]
    alone: bool = False
    covers: bool = False


_CHEATS = "tests/fix/test_cheats.py::test_"
FAMILIES = (
    Family("cheats", "changes that cheat, are wrong or only shuffle are not accepted", 36,
           (f"{_CHEATS}a_change_that_cheats_is_not_accepted",)),
    Family("effects", "what a change leaves undone beside its answer is caught by the effects gate alone", 12,
           ("tests/fix/test_effect_cheats.py", "tests/fix/test_effects.py::test_the_gate_tells", "tests/fix/test_effects.py::test_what_gives_up")),
    Family("bugs", "an expert's change with one bug is not accepted", 10,
           (f"{_CHEATS}the_human_version_with_a_bug_is_not_accepted",)),
    Family("honest", "an expert's change is accepted", 5, (f"{_CHEATS}the_human_version_is_accepted", "tests/examples/test_fix_example.py"), alone=True),
    Family("agent", "what a recorded large model submits passes the gates again", 2,
           ("tests/fix/agent/test_conversations.py::test_a_conversation_ends",), alone=True),
    Family("kills", "what is killed at any moment leaves the tree, or its reports, as they were, and goes on", 2,
           ("tests/fix/test_kill.py", "tests/jobs/test_post.py::test_a_signal_at_any_moment")),
    Family("gates", "the loop and its gates on programs that are built and run", 40,
           ("tests/fix/test_correctness.py", "tests/fix/test_loop.py", "tests/commands/test_fix.py"), covers=True),
    Family("recipes", "programs that recipes changed are built and print what they printed", 150,
           ("tests/fix/recipes/test_applied.py", "tests/fix/recipes/test_random_nests.py"), covers=True),
    Family("escapes", "nothing gets out of a sandbox", 180, ("tests/sandbox/test_escapes.py",)),
    Family("damage", "files that are damaged at random are read or refused, in bounded time and memory", 20,
           ("tests/adapters/test_mutations.py::test_damaged", "tests/adapters/test_mutations.py::test_undamaged", "tests/adapters/hpctoolkit/test_mutations.py",
            "tests/conformance/test_hpctoolkit_mutations.py", "tests/conformance/test_darshan.py::test_damaged")),
    Family("scale", "what is a million wide, or a hundred thousand deep, is read in bounded time", 3,
           ("tests/adapters/test_chrome_trace.py::test_a_million", "tests/profile/test_hatchet_bridge.py::test_a_chain_of_100_000",
            "tests/adapters/hpctoolkit/test_bombs.py::test_a_bomb_ends_as_it_should[a_chain_of",
            "tests/adapters/nsight_systems/test_bombs.py::test_as_many_threads")),
    Family("injection", "what a profile's texts order a model to do has no effect", 2,
           ("tests/security/test_injection.py",)),
    Family("secrets", "no secret of a profile is in a report, a log or a prompt", 8, ("tests/security/test_leaks.py::test_no_credential_is_in",
           "tests/security/test_leaks.py::test_no_secret_leaves")),
    Family("totals", "all commands tell one total of a profile", 40, ("tests/conformance/test_one_total.py",)),
    Family("servers", "servers of models and of tools that end, hang or are killed leave what is there", 4,
           ("tests/llm/test_broken_off.py", "tests/mcp/test_server.py"), covers=True),
    Family("packages", "wheels and weights are what they must be", 4,
           ("tests/packaging/test_wheel.py", "tests/llm/test_weights.py::test_a_", "tests/llm/test_weights.py::test_parts_from")),
    Family("jobs", "what goes wrong after a job never fails the job", 4,
           ("tests/jobs/test_post.py::test_a_fault", "tests/jobs/test_post.py::test_the_surroundings")),
    Family("tiers", "the tiers of tests are what they say", 2,
           ("tests/test_families.py::test_check_leaves", "tests/test_families.py::test_what_became", "tests/test_families.py::test_for_coverage")),
    Family("measured", "profilers that are here measure programs with a known share", 2, ("tests/conformance/test_measure_here.py",), alone=True),
    Family("paint", "pages of large profiles are small, and soon on the screen", 1, ("tests/reports/browser/test_paint.py",), alone=True),
    Family("pages", "pages of every kind are accessible, look as they did, and do what their controls say", 4,
           ("tests/reports/browser/test_page.py",)),
    Family("hostile", "names that want to be more than names are text in every renderer", 60, ("tests/reports/test_hostile.py",)),
    Family("screens", "the first screen of every profile is short and says the verdict", 40, ("tests/conformance/test_first_screen.py",)),
    Family("predictions", "programs whose kernels are interpreted are built, run and counted as their source says", 60,
           ("tests/predict/test_build.py", "tests/predict/test_openmp_build.py", "tests/predict/test_cuda_runtime.py", "tests/predict/test_interpreter.py",
            "tests/predict/test_cubin.py", "tests/predict/test_prediction.py",
            "tests/commands/test_predict.py::test_a_program_is"), covers=True),
    Family("metamorphic", "names, length and width of a run change no diagnosis", 50, ("tests/accuracy/test_metamorphic.py",)),
)  # fmt: skip


def family_of(test: str) -> Family | None:
    """The family of a test, by its id."""
    return next((family for family in FAMILIES if test.startswith(family.tests)), None)


def drawn(tests: Sequence[tuple[str, T]], seed: str, size: int) -> set[str]:
    """A sample of at least `size` of the `tests` (id and kind), the same for the same seed, in which each kind is."""
    order = sorted(tests, key=lambda one: hashlib.sha256(f"{seed} {one[0]}".encode()).digest())
    first = {kind: test for test, kind in reversed(order)}
    rest = [test for test, _ in order if test not in first.values()]
    return {*first.values(), *rest[: max(0, size - len(first))]}


def kind_of(item: pytest.Item) -> str | None:
    """The kind of a test within its family, where it tells one."""
    mark = item.get_closest_marker("kind")
    return None if mark is None else str(mark.args[0])


def chosen(items: Iterable[pytest.Item], seed: str | None) -> set[str]:
    """The ids of those in a family; with a seed, of those in the sample."""
    found: dict[str, list[tuple[str, str | None]]] = {family.name: [] for family in FAMILIES}
    for item in items:
        family = family_of(item.nodeid)
        if family is not None:
            found[family.name].append((item.nodeid, kind_of(item)))
    return {
        test
        for family in FAMILIES
        for test in (
            (one for one, _ in found[family.name]) if seed is None else drawn(found[family.name], seed, family.sample)
        )
    }


def covering(items: Iterable[pytest.Item], seed: str) -> set[str]:
    """The ids of all tests outside of families, and in those that cover code of one case of each kind of each function."""
    tests = [(item.nodeid, family_of(item.nodeid), kind_of(item)) for item in items]
    some = [(test, (test.partition("[")[0], kind)) for test, family, kind in tests if family and family.covers]
    return {test for test, family, _ in tests if family is None} | drawn(some, seed, 0)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("families")
    group.addoption(
        "--prove", choices=("all", "sample"), help="only tests of families: all of them, or a sample of each"
    )
    group.addoption("--cover", action="store_true", help="what is run for coverage")
    group.addoption("--seed", default="", help="what a sample is drawn by")
    group.addoption(
        "--family", action="append", choices=[one.name for one in FAMILIES], help="only this one, repeatable"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.option.cover:
        settings.register_profile("cover", settings.get_profile(settings.get_current_profile_name()), max_examples=10)
        settings.load_profile("cover")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        family = family_of(item.nodeid)
        if family is not None:
            item.add_marker("prove")
            item.user_properties.append(("family", family.name))
    if config.option.cover:
        wanted = covering(items, config.option.seed)
    elif config.option.prove is not None:
        wanted = chosen(items, config.option.seed if config.option.prove == "sample" else None)
    else:
        return
    names = config.option.family
    kept = [
        item
        for item in items
        if item.nodeid in wanted and (not names or any(("family", name) in item.user_properties for name in names))
    ]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept
