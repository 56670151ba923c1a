"""What a profile tells of a kernel's launch: which kernel, how many blocks and threads, how long it took."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from chathpc.adapters.load import load
from chathpc.diagnosis.device import has, kernels
from chathpc.errors import UsageError
from chathpc.predict.prediction import Asked, Prediction
from chathpc.profile import numbers
from chathpc.profile.kernel_names import base_key, kernel_key

_COLLECT = "Collect it: nsys profile ./app"


@dataclass(frozen=True, slots=True)
class Profiled:
    """A kernel of a profile; `blocks` and `threads` of a block are 0 where it does not tell them; `seconds` of a launch on average."""

    kernel: str
    blocks: int
    threads: int
    seconds: float

    def asked(self, asked: Asked) -> Asked:
        """What is to be predicted, with what the user did not say taken from the profile: profiles tell how many blocks and threads
        there are, not how they are laid out, so they are taken along x, and hold for a kernel without a main alone.
        """
        return replace(
            asked,
            kernel=asked.kernel or kernel_key(self.kernel),
            alone_grid=(self.blocks, 1, 1) if self.blocks else None,
            alone_block=(self.threads, 1, 1) if self.threads else None,
        )

    def beside(self, found: Prediction) -> Prediction:
        """The prediction with what the profile measured, and whether its launch is that of the profile."""
        said = [f"In the profile a launch takes {numbers.seconds(self.seconds)} on average."] if self.seconds else []
        threads = found.launch.threads // max(found.launch.blocks, 1)
        if (self.blocks and self.blocks != found.launch.blocks) or (self.threads and self.threads != threads):
            said.append(
                f"In the profile it has {self.blocks:,} blocks of {self.threads:,} threads; this launch has {found.launch.blocks:,} of {threads:,}: "
                "give the same arguments (--args), or name the launch (--grid, --launch)."
            )
        return replace(found, assumptions=(*found.assumptions, *said))


def profiled(path: Path, kernel: str | None) -> Profiled:
    """The kernel of that name in a profile, the longest without a name. Errors: AdapterError, UsageError if it has no such kernel."""
    profile = load(path)
    found = kernels(profile)
    wanted = [
        each
        for each in found
        if kernel is None or kernel_key(each.name) == kernel_key(kernel) or base_key(each.name) == base_key(kernel)
    ]
    if not wanted:
        names = ", ".join(f"'{each.short}'" for each in found[:8])
        what = f"no kernel {kernel}" if found else "no kernels"
        raise UsageError(f"{path} has {what}.", hint=f"It has: {names}." if names else _COLLECT)
    first = wanted[0]

    def told(metric: str) -> int:
        value = profile.exclusive(metric).at(first.top) if has(profile, metric) else None
        return round(value) if value else 0

    each = first.seconds / first.launches if first.launches else 0.0
    return Profiled(first.name, told("gpu.kernel.blocks"), told("gpu.kernel.threads-per-block"), each)
