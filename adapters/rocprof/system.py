"""What a GPU can do, as far as rocprof-compute writes it down: sysinfo.csv and roofline.csv, or the same in a database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chathpc.profile.remark import Device
from chathpc.profile.text import clean

#: Peak of the device's memory in bytes per second, where a workload does not tell it (AMD's data sheets of the series).
_MEMORY_PEAK = {
    "MI100": 1228.8e9, "MI200": 1638.4e9, "MI210": 1638.4e9, "MI250": 1638.4e9, "MI250X": 1638.4e9, "MI300A": 5300e9,
    "MI300X": 5300e9, "MI308X": 5300e9, "MI325X": 6000e9, "MI350": 8000e9, "MI350X": 8000e9, "MI355X": 8000e9,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class System:
    """A GPU's size and peaks; None where nothing tells it. Rates in bytes and operations per second; the peaks of
    `roofline.csv` were measured on the machine."""

    model: str = ""
    architecture: str = ""
    compute_units: float | None = None
    waves_per_unit: float | None = None
    dies: float = 1.0
    clock: float | None = None
    memory_peak: float | None = None
    l2_peak: float | None = None
    l1_peak: float | None = None
    fp32_peak: float | None = None
    fp64_peak: float | None = None

    def device(self) -> Device | None:
        """The GPU as a Device, None if nothing is known of it."""
        if not self.model:
            return None
        units = self.compute_units
        return Device(
            f"AMD {self.model}",
            multiprocessors=int(units) if units is not None else None,
            bandwidth=self.memory_peak,
            clock=self.clock,
            capability=self.architecture,
        )


def system_of(info: Mapping[str, object], roofline: Mapping[str, object]) -> System:
    """The system from the columns of sysinfo.csv and one row of roofline.csv; of the former only facts about the GPU."""
    model = _text(info.get("gpu_model")) or _text(info.get("gpu_series")) or _text(info.get("name"))
    clock, said = positive(info.get("max_sclk")), positive(info.get("hbm_bw"))
    measured = positive(roofline.get("HBMBw"))
    peak = measured or said
    known = model.upper().split("_")[0]
    return System(
        model=model,
        architecture=_text(info.get("gpu_arch")),
        compute_units=positive(info.get("cu_per_gpu")),
        waves_per_unit=positive(info.get("max_waves_per_cu")),
        dies=positive(info.get("num_xcd")) or 1.0,
        clock=None if clock is None else clock * 1e6,
        memory_peak=peak * 1e9 if peak is not None else _MEMORY_PEAK.get(known),
        l2_peak=_giga(roofline.get("L2Bw")),
        l1_peak=_giga(roofline.get("L1Bw")),
        fp32_peak=_giga(roofline.get("FP32Flops")),
        fp64_peak=_giga(roofline.get("FP64Flops")),
    )


def positive(value: object) -> float | None:
    """A positive, finite number as it stands in a file; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value[:40])
        except ValueError:
            return None
    if isinstance(value, (int, float)) and 0 < value < 1e15:
        return float(value)
    return None


def _giga(value: object) -> float | None:
    found = positive(value)
    return None if found is None else found * 1e9


def _text(value: object) -> str:
    return (
        clean(value.strip()[:60]) if isinstance(value, str) and value.strip().upper() not in ("", "NA", "NONE") else ""
    )
