from __future__ import annotations

from pathlib import Path

import pytest

from chathpc.diagnosis.catalogue import Threshold, cause, common
from tests.bench.labelled import CHURN, case, three
from tests.bench.sensitivity import measure, page, varied, watched


def test_a_threshold_has_another_value_while_it_is_varied_and_its_own_afterwards() -> None:
    with watched() as thresholds:
        limit = thresholds["allocation-churn.min_share"]
        with varied(limit, 1.25):
            assert cause("allocation-churn").threshold("min_share") == pytest.approx(0.125)
        assert cause("allocation-churn").threshold("min_share") == 0.1
        with varied(thresholds["common.max_nameless"], 1.25):
            assert common()["max_nameless"].value == 1.0  # no share is more
    assert type(cause("allocation-churn").thresholds["min_share"]) is Threshold


def test_a_case_at_the_edge_of_a_threshold_is_counted_as_changed(tmp_path: Path) -> None:
    # 12 % in malloc: above 10 and 8 %, below 12.5 %.
    stacks = ((("main", "parse", "malloc"), 12_000), (("main", "parse"), 58_000), (("main", "report"), 30_000))
    case(tmp_path / "edge", stacks, split="seen")
    with watched() as thresholds:
        changes, cases = measure(thresholds, [tmp_path])
        text = page(thresholds, changes, cases, ["edges"])
    found = changes["allocation-churn.min_share"]
    assert (cases, found.reads) == (1, 1)
    assert (found.first, found.worse) == ({0.8: 0, 1.25: 1}, {0.8: 0, 1.25: 1})
    assert "1 cases of the seen half of the [labelled profiles](accuracy.md) in edges;" in text
    assert "| allocation-churn.min_share | 0.1 share | 1 | 0 (+0 −0) | 0 | 1 (+0 −1) | 1 |" in text
    assert "- gpu-tail-effect.max_waves\n" in text.split("## Not measured")[1]


def test_of_the_halves_only_the_seen_one_is_looked_at(tmp_path: Path) -> None:
    three(tmp_path)  # one of three cases is seen
    case(tmp_path / "unreadable", CHURN, split="seen", profiles=["missing.folded"])
    with watched() as thresholds:
        assert measure(thresholds, [tmp_path])[1] == 1
