"""HPCToolkit databases, format 4: meta.db, profile.db, cct.db, trace.db, metrics/default.yaml, src/."""

from __future__ import annotations

from chathpc.adapters.hpctoolkit.database import read, recognises

__all__ = ["read", "recognises"]
