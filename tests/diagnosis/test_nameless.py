"""Samples without names say that time was spent, and not where."""

from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.adapters.linux_perf.script import profile_of
from chathpc.diagnosis.diagnose import diagnose
from chathpc.diagnosis.records import Verdict
from tests.profile.build import build, call, called_code, entry
from tests.synthetic.perf_script import LOST, MAIN, SOLVE, Frame, Sample, write

STRIPPED = Frame("[unknown]", "/opt/app")


@pytest.mark.parametrize(
    ("lost", "found", "silent"),
    [
        ((LOST,), (SOLVE, MAIN), True),
        ((LOST,), (STRIPPED,), True),
        ((LOST, MAIN), (SOLVE, MAIN), False),
        ((STRIPPED,), (STRIPPED,), False),
    ],
)
def test_time_without_any_name_allows_no_conclusion(
    lost: tuple[Frame, ...], found: tuple[Frame, ...], silent: bool
) -> None:
    text = write([Sample(lost if number % 20 else found, seconds=number) for number in range(400)])
    diagnosis = diagnose(profile_of(text.split("\n"), Path("samples.txt")))
    assert (diagnosis.verdict == Verdict.INSUFFICIENT) == silent
    assert diagnosis.headline.startswith("95.0 % of the time is in frames without a name") == silent


def test_addresses_in_a_known_module_are_places() -> None:
    for module, silent in (("app", False), (None, True)):
        nodes = [called_code(module, time=20.0) for _ in range(400)]
        diagnosis = diagnose(build(entry("main thread", *nodes)))
        assert diagnosis.headline.startswith("100 % of the time is in frames without a name") == silent


@pytest.mark.parametrize("hot", [None, "PyDict_GetItem", "relax"])
def test_an_interpreter_whose_functions_are_unknown_is_not_healthy(hot: str | None) -> None:
    """Twenty functions of the interpreter, none of which stands out, one of them that does, or one of the program's extension."""
    names = [f"list_item_{letter}" for letter in "abcdefghijklmnopqrst"] + ([hot] if hot else [])
    module = {"relax": "/home/me/ext.so"}
    nodes = [
        call(name, module=module.get(name, "/lib/libpython3.11.so.1.0"), time=(200.0 if name == hot else 10.0))
        for name in names
    ]
    profile = build(entry("main thread", call("_PyEval_EvalFrameDefault", *nodes, module="/lib/libpython3.11.so.1.0")))
    diagnosis = diagnose(profile)
    assert (diagnosis.verdict == Verdict.INSUFFICIENT) == (hot != "relax")
    assert diagnosis.headline.startswith("100 % of the time is spent in Python's interpreter") == (hot != "relax")
