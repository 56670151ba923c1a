"""Writes trace folders in Neutrino's layout: probe.toml, event.log, result/SECONDS.bin.

The layout was taken from the reading of Neutrino's sources (see docs/adapters.md); no trace of a real GPU is involved.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

TYPES = {"u64": "<u8", "u32": "<u4"}


@dataclass(frozen=True)
class Map:
    """What one probe records: level (thread or warp) and registers with their types."""

    name: str
    level: str
    registers: dict[str, str]

    @property
    def record(self) -> np.dtype:
        return np.dtype([(name, TYPES[kind]) for name, kind in self.registers.items()])


#: The three maps of Neutrino's own tools dmat, block_sched and gmem_bytes.
DMAT = Map("DMAT", "thread", {"clock": "u64", "addr": "u64"})
BLOCK_SCHED = Map("block_sched", "warp", {"start": "u64", "elapsed": "u32", "cuid": "u32"})
GMEM_BYTES = Map("gmem_bytes", "thread", {"sync_bytes": "u32", "async_bytes": "u32"})


@dataclass
class Launch:
    """One launch: kernel, grid, block, seconds, and for each map an array (rows, records of a row)."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    records: list[np.ndarray]
    shared: int = 0
    milliseconds: float = 1.0
    original: float | None = None
    extra: dict = field(default_factory=dict)


def probe_toml(maps: list[Map], older: bool = False) -> str:
    """The description of the probes, in the form of newer or of older releases."""
    text = 'author = "chathpc"\n'
    for one in maps:
        if older:
            kinds = set(one.registers.values())
            saves = "".join(
                f"SAVE.{kind} {{{', '.join('%' + name for name, k in one.registers.items() if k == kind)}}};"
                for kind in sorted(kinds, reverse=True)
            )
            text += f'\n[{one.name}]\nposition = "kernel"\ndatamodel = "{one.level}:{one.record.itemsize}"\nafter = "{saves}"\n'
        else:
            text += f'\n[map.{one.name}]\nlevel = "{one.level}"\ntype = "array"\nsize = {one.record.itemsize}\ncap = "dynamic"\n'
            text += f"[map.{one.name}.regs]\n" + "".join(f'{name} = "{kind}"\n' for name, kind in one.registers.items())
    return text


def result_bytes(launch: Launch, maps: list[Map], older: bool = False) -> bytes:
    """The content of a result file."""
    header = struct.pack("<8I", *launch.grid, *launch.block, launch.shared, len(maps))
    sections, data = b"", b""
    offset = len(header) + 16 * len(maps)
    for one, records in zip(maps, launch.records, strict=True):
        content = np.ascontiguousarray(records, dtype=one.record).tobytes()
        each = records.shape[1] * one.record.itemsize
        sections += (
            struct.pack("<QQ", len(content), offset)
            if older
            else struct.pack("<IIQ", each, 32 if one.level == "warp" else 1, offset)
        )
        data += content
        offset += len(content)
    return header + sections + data


def write_trace(
    folder: Path, maps: list[Map], launches: list[Launch], *, older: bool = False, command: str = "./app"
) -> Path:
    """Write the trace folder; launches are a millisecond apart."""
    (folder / "result").mkdir(parents=True)
    (folder / "kernel").mkdir()
    (folder / "probe.toml").write_text(probe_toml(maps, older))
    log = [f"[pid] {4242}", f"[cmd] {len(command)} {command}", "[info] dl 0x55d0c0ffee00", "[info] init success"]
    pointers: dict[str, str] = {}
    for number, launch in enumerate(launches):
        if launch.kernel not in pointers:
            pointers[launch.kernel] = f"0x55d0c0{len(pointers):06x}"
            digest = hashlib.sha1(launch.kernel.encode()).hexdigest()  # names a folder, as Neutrino does
            log.append(f"[probe] rename {launch.kernel} {len(pointers) - 1}_{digest}")
            log.append(f"[jit] finish {pointers[launch.kernel]} name {launch.kernel} n_param 4")
        content = result_bytes(launch, maps, older)
        name = f"{0.25 + number * 1e-3:.6f}.bin"
        (folder / "result" / name).write_bytes(content)
        grid, block = " ".join(map(str, launch.grid)), " ".join(map(str, launch.block))
        log += [
            f"[exec] funcmap-find {pointers[launch.kernel]} success",
            f"[exec] grid {grid} block {block} shared {launch.shared}",
            "[exec] succeed 0",
            f"[exec] save /traces/result/{name} size {len(content)}",
        ]
        if launch.original is None:
            log.append(f"[exec] prologue 0.100000 kernel {launch.milliseconds:.6f} epilogue 0.200000 ratio 1.3")
        else:
            log.append(
                f"[benchmark] prologue 0.1 kernel {launch.milliseconds:.6f} epilogue 0.2 original {launch.original:.6f} impact 2.0 0"
            )
    (folder / "event.log").write_text("\n".join(log) + "\n")
    return folder
