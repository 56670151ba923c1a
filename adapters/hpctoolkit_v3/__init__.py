"""HPCToolkit databases from before release 2022.10: experiment.xml (format 2.x) and files for each thread."""

from __future__ import annotations

from chathpc.adapters.hpctoolkit_v3.database import read, recognises

__all__ = ["read", "recognises"]
