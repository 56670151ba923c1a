from pathlib import Path

import numpy as np
import pytest

from chathpc.errors import UsageError
from chathpc.predict import host_time, opencl
from chathpc.predict.opencl import Local
from chathpc.predict.program import Asked
from chathpc.predict.record import record
from chathpc.reports import prediction_renderers
from chathpc.reports.style import Style
from tests.predict.test_opencl import SMALL, needs_pocl

MACHINE = Path(__file__).parent / "opencl" / "machine.txt"
STREAM = MACHINE.parent / "stream.cl"
GRID, BLOCK = (64, 1, 1), (128, 1, 1)


def quiet(stage: str) -> None:
    pass


def test_arguments_are_made_as_they_are_written() -> None:
    written = "__global const float *x, __local double *part, const uint n, float a, global uchar *bytes"
    given = {"x": "n*2:iota", "n": "100", "bytes": "n:random"}
    (x, part, n, a, some), assumed = opencl._arguments("f", written, given, GRID, BLOCK)
    assert isinstance(x, np.ndarray)
    assert isinstance(some, np.ndarray)
    assert x.dtype == np.float32
    assert x.tolist() == list(range(200))
    assert part == Local(8 * 128)
    assert (bytes(np.array(n).tobytes()), bytes(np.array(a).tobytes())) == (
        np.uint32(100).tobytes(),
        np.float32(1).tobytes(),
    )
    assert (some.nbytes, int(some.max()) < 100) == (100, True)
    assert assumed == ["a was not given: 1."]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked(None), "has 4 kernels"),
        (Asked("none"), "no kernel none"),
        (Asked("triad"), "work-groups and work-items"),
        (Asked("triad", grid=GRID, block=BLOCK, values={"m": "1"}), "no parameter m"),
    ],
)
def test_what_is_missing_is_asked_for(asked: Asked, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        opencl.predict_opencl(STREAM, "", asked, quiet)


@needs_pocl
def test_a_kernel_is_predicted_on_the_cores_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its speeds are those of another machine; the code is made for the processor at hand, whatever that can do.
    told = host_time.host(MACHINE.read_text(), "native", SMALL)
    monkeypatch.setattr(host_time, "measured", lambda cpu, caches: told)
    values = {"n": "1<<20", "a": "n", "b": "n:random", "c": "n", "s": "2"}
    asked = Asked("triad", grid=(8192, 1, 1), block=BLOCK, values=values)
    found = opencl.predict_opencl(STREAM, "", asked, quiet)
    # One multiplication and one addition for each of 2^20 elements, of three arrays of 4 bytes.
    assert found.counts.total("fp32") == pytest.approx(2 * 2**20, rel=0.01)
    assert found.counts.footprint_read == pytest.approx(3 * 4 * 2**20, rel=0.05)
    assert found.counts.footprint_written == pytest.approx(4 * 2**20, rel=0.05)
    assert 0 < found.time.seconds.low < found.time.seconds.value < found.time.seconds.high
    text = prediction_renderers()["text"](record("stream.cl", [found]), Style())
    assert "grid 8,192, block 128" in str(text)
    assert "Occupancy" not in str(text)
