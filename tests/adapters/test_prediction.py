"""Predictions beside profiles: what `chathpc predict` writes, and text that only looks so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chathpc.adapters.glance import Glance
from chathpc.adapters.prediction import ADAPTER, read
from chathpc.errors import AdapterError
from chathpc.profile.merge import merge
from tests.adapters.opened import opened
from tests.diagnosis.test_gpu import launch, program, timed
from tests.predict.predicted import data, kernel, sample


def written(folder: Path, content: object) -> Path:
    path = folder / "p.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_what_predict_writes_is_read(tmp_path: Path) -> None:
    profile = opened(ADAPTER, written(tmp_path, sample().model_dump_json(by_alias=True)))
    (found,) = profile.predicted
    assert (found.kernel, found.device, found.bound, found.limiter) == (
        "gemm<float>",
        "NVIDIA GeForce RTX 3080",
        "compute",
        "l1",
    )
    assert (found.kind, found.intensity, found.balance, found.seconds) == ("fp32", 64.0, 32.0, (12e-6, 10e-6, 15e-6))
    assert found.used == pytest.approx((1_048_576 + 65_536) / (32 * (65_536 + 2048)))
    assert "no measurements" in profile.insufficient


def test_it_lies_beside_a_profile_and_a_stranger_is_said_to_be_one(tmp_path: Path) -> None:
    view = read(written(tmp_path, data()))
    merged = merge([program(launch(timed("gemm<float>", 1.0))), view])
    assert [each.kernel for each in merged.predicted] == ["gemm<float>"]
    assert not any("another program" in text for text in merged.caveats)
    other = merge([program(launch(timed("saxpy", 1.0))), view])
    assert any("about another program" in text for text in other.caveats)


@pytest.mark.parametrize("text", ["{}", '{"schema": "chathpc-report/2"}', "", "[1]"])
def test_other_json_is_not_claimed(tmp_path: Path, text: str) -> None:
    assert not ADAPTER.recognises(Glance(written(tmp_path, text or " ")))


@pytest.mark.parametrize(
    "kernels",
    [
        [], [{}], "x", [kernel(bound="soon")], [kernel(probability=-1)], [kernel(probability="1")], [kernel(time={})], [kernel(roofs=[{}])],
        [kernel(bytes={"requested": {"global load": float("nan")}, "sectors": {}})], None, {},
    ],
)  # fmt: skip
def test_what_has_not_the_form_is_refused_with_what_to_do(tmp_path: Path, kernels: Any) -> None:
    with pytest.raises(AdapterError) as raised:
        read(written(tmp_path, data() | {"kernels": kernels}))
    assert "chathpc predict" in raised.value.hint


@given(cut=st.integers(0, 2000))
def test_a_cut_file_is_an_error_not_a_crash(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    with pytest.raises(AdapterError):
        read(written(tmp_path_factory.mktemp("cut"), json.dumps(data())[:cut]))
