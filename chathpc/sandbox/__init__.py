"""Where changed code is built and run: bubblewrap, else Landlock, else nowhere unless the user says so."""

from __future__ import annotations

from chathpc.sandbox.choose import choose, states
from chathpc.sandbox.contract import Completed, Limits, Request, Sandbox

__all__ = ["Completed", "Limits", "Request", "Sandbox", "choose", "states"]
