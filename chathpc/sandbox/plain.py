"""No sandbox: the same limits and the same end of all processes, but nothing is shut off. Only where the user says so."""

from __future__ import annotations

import shutil
import tempfile

from chathpc.sandbox import system
from chathpc.sandbox.contract import Completed, Request
from chathpc.sandbox.supervised import supervise


class Plain:
    """Runs commands as they are."""

    name = "none"
    relocates = False

    def run(self, request: Request) -> Completed:
        """Run it to its end or its limits. Errors: UsageError for an impossible request."""
        system.check(request)
        temporary = tempfile.mkdtemp(prefix="chathpc-")
        try:
            return supervise(request, system.environment(request, temporary), None)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
