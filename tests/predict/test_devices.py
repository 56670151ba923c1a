from pathlib import Path

import pytest

from chathpc.errors import UsageError
from chathpc.predict.devices import CLASSES, device, devices, own_processor


def test_programs_run_at_the_boost_clock_where_the_catalogue_has_the_base_clock() -> None:
    assert device("rtx3080").usual.clock == 1.71e9
    assert [device(name).usual.clock for name in ("rtx3090", "h100")] == [1.695e9, 1.83e9]


def test_the_peaks_of_the_public_labels_are_those_of_the_rtx_3080() -> None:
    # Bolet et al., arXiv 2505.03988: GFLOP/s, GINTOP/s and operations per byte.
    found = device("rtx3080")
    assert found.peak("fp32") / 1e9 == pytest.approx(25_067.52)
    assert found.peak("fp64") / 1e9 == pytest.approx(391.68)
    assert found.peak("integer") / 1e9 == pytest.approx(12_533.76)
    assert [round(found.balance(kind), 3) for kind in ("fp32", "fp64", "integer")] == [32.971, 0.515, 16.485]


@pytest.mark.parametrize(
    ("name", "kind", "peak"),
    [  # TFLOP/s that the makers' datasheets give
        ("v100", "fp64", 7.8), ("v100", "fp32", 15.7), ("v100", "tensor", 125),
        ("a100", "fp64", 9.7), ("a100", "fp32", 19.5), ("a100", "tensor", 312),
        ("h100-pcie", "fp64", 25.6), ("h100-pcie", "fp32", 51.2), ("h100-sxm", "tensor", 989.4),
        ("t4", "fp32", 8.1), ("l40s", "fp32", 91.6), ("rtx4090", "fp32", 82.6), ("rtx3090", "fp32", 35.6), ("b200", "tensor", 2250),
        ("rtx4090", "tensor", 165.2), ("rtx3090", "tensor", 71.2), ("rtx2080ti", "tensor", 53.8), ("rtx5090", "tensor", 209.5),
        ("l40", "tensor", 181.05), ("l40s", "tensor", 362.05), ("a10", "tensor", 125), ("rtxa6000", "tensor", 154.8), ("t4", "tensor", 65),
        ("l40", "fp32", 90.5),
        ("mi100", "fp64", 11.5), ("mi210", "fp64", 22.6), ("mi300x", "fp32", 163.4), ("mi300x", "tensor", 1307), ("max1550", "fp64", 52.4),
    ],
)  # fmt: skip
def test_peaks_are_those_of_the_datasheets(name: str, kind: str, peak: float) -> None:
    assert device(name).peak(kind) / 1e12 == pytest.approx(peak, rel=0.02)


def test_every_device_has_a_source_and_a_name_of_its_own() -> None:
    names = [name for each in devices() for name in (each.key, *each.aliases)]
    assert len(devices()) >= 30
    assert len(set(names)) == len(names)
    for each in devices():
        assert len(each.source) > 5, each.key
        assert set(each.rates) <= set(CLASSES)
        assert not each.gpu or each.max_threads in {1024, 1536, 2048, 2560, 4096}, each.key
        assert each.base <= each.clock <= (each.boost or each.clock)


def test_names_are_found_as_people_and_drivers_write_them() -> None:
    for name in ("RTX 3080", "NVIDIA GeForce RTX 3080", "rtx-3080", "3080"):
        assert device(name).key == "rtx3080"
    assert device("NVIDIA H100 80GB HBM3").key == device("H100").key == "h100-sxm"


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    with pytest.raises(UsageError, match=r"'rtx3800'\.\nNear it: .*rtx3080"):
        device("rtx3800")


def test_a_file_tells_what_differs_from_a_known_device(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: Half of it\nlike: rtx3080\nunits: 34\nclock: 1.71\n")
    found = device(str(path))
    assert (found.name, found.units, found.key) == ("Half of it", 34, "mine")
    assert found.peak("fp32") == pytest.approx(34 * 128 * 2 * 1.71e9)
    assert found.bandwidth == device("rtx3080").bandwidth
    assert device("3080").units == 68


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("units: 4", "lacks clock, bandwidth, rates"),
        ("like: rtx3080\nclock: fast", "clock of the device .* is not a positive number: 'fast'"),
        ("like: rtx3080\nunits: -1", "units of the device .* is not a positive number"),
        ("like: rtx3080\ncolour: red", "fields that are not known: colour"),
        ("like: rtx3080\nrates: {fp31: 3}", "rates of the device"),
        ("like: rtx30800", "No device is known as 'rtx30800'"),
        ("[1, 2]", "is not a table"),
        ("a: [", "cannot be read"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        device(str(path))


def test_this_machine_is_measured() -> None:
    found = own_processor(1)
    # Any machine that runs this moves 0.2 to 10,000 GB/s.
    assert 2e8 < found.bandwidth < 1e13
    assert found.peak("fp32") > 1e8
