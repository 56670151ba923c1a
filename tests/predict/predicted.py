"""A prediction with numbers chosen by hand: a product of two matrices, 128 x 128."""

from __future__ import annotations

from typing import Any

from chathpc.predict.record import PredictionRecord


def spread(value: float, factor: float = 1.0) -> dict[str, float]:
    return {"value": value, "low": value / factor, "high": value * factor}


def kernel(**changed: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kernel": "gemm<float>",
        "mangled": "_Z4gemmIfEviPKT_S2_PS0_",
        "headline": "gemm<float> on NVIDIA GeForce RTX 3080: 12.0 µs (10.0 µs to 15.0 µs), most of it for L1 and shared memory; "
        "compute-bound by the roofline (FP32 arithmetic, 92 % likely).",
        "bound": "compute",
        "probability": 0.92,
        "limiter": "fp32",
        "launch": {
            "grid": [8, 8, 1], "block": [16, 16, 1], "shared": 2048, "registers": 40, "local": 0, "occurrence": 0, "arguments": ["80000000"],
        },
        "operations": {"fp32": spread(4_194_304), "integer": spread(700_000), "special": spread(0)},
        "issued": {"fp32": 65_536.0},
        "roofs": [
            {"kind": "fp32", "operations": spread(4_194_304), "intensity": 64.0, "balance": 32.0, "of_peak": 0.0125},
            {"kind": "integer", "operations": spread(700_000), "intensity": 10.7, "balance": 16.5, "of_peak": 0.004},
        ],
        "bytes": {
            "requested": {"global load": 1_048_576.0, "global store": 65_536.0, "shared load": 16_777_216.0},
            "requests": {"global load": 8192.0, "global store": 512.0, "shared load": 163_840.0},
            "sectors": {"global load": 65_536.0, "global store": 2048.0, "shared load": 262_144.0},
            "footprint_read": 131_072.0,
            "footprint_written": 65_536.0,
            "memory_read": spread(131_072, 2),
            "memory_written": spread(0),
        },
        "time": {
            "seconds": {"value": 12e-6, "low": 10e-6, "high": 15e-6}, "limiter": "l1",
            "parts": {"l1": 8e-6, "latency": 4e-6, "memory": 0.1e-6},
            "blocks": 6, "warps": 48, "occupancy": 1.0, "occupancy_limiter": "warps", "waves": 0.157,
        },
        "lines": [
            {"file": "gemm.cu", "line": 21, "share": 0.754, "text": "for (int j = 0; j < tile; j++) sum += left[y][j] * right[j][x];"},
            {"file": "gemm.cu", "line": 18, "share": 0.068, "text": "left[y][x] = a[row * n + k + x];"},
        ],
        "change": [
            "It would take less time with fewer passes, most of which are for shared loads: keep values in registers and use each several times.",
            "It would be bandwidth-bound with 2x fewer single-precision operations, or 2x more bytes.",
        ],
        "assumptions": ["The program's arguments are those of `make run`: 128."],
        "followed": 1.0,
    }  # fmt: skip
    return found | changed


def data(*kernels: dict[str, Any]) -> dict[str, Any]:
    """As JSON holds it."""
    return {
        "schema": "chathpc-prediction/1",
        "program": "gemm.cu",
        "device": {
            "key": "rtx3080", "name": "NVIDIA GeForce RTX 3080", "architecture": "sm_86", "units": 68, "clock": 1.44e9, "bandwidth": 760e9,
            "peaks": {"fp32": 25e12, "integer": 12.5e12}, "source": "datasheet",
        },
        "compiled_for": "sm_86",
        "tools": {"nvcc": "13.5.37"},
        "kernels": list(kernels or (kernel(),)),
    }  # fmt: skip


def sample(*kernels: dict[str, Any]) -> PredictionRecord:
    return PredictionRecord.model_validate(data(*kernels))
