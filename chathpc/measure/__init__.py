"""Running a program under the best profiler that is there."""

from __future__ import annotations

from chathpc.measure.record import TOOLS, Measured, Runner, Step, Tool
from chathpc.measure.run import measure

__all__ = ["TOOLS", "Measured", "Runner", "Step", "Tool", "measure"]
