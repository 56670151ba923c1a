"""pprof: the protobuf form (gzip or plain) that Go and others write, and the older forms of gperftools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.glance import HEAD, Glance

if TYPE_CHECKING:
    from chathpc.profile.profile import Profile

#: First lines of the older text forms.
TEXT = re.compile(r"\s*(?:heap profile:\s|--- ?(?:contention|mutex|contentionz|heapz)\b|\w{1,40} profile: total \d)")


def recognises(glance: Glance) -> bool:
    """True for the message of profile.proto, the words of a CPU profile of gperftools, and the heads of its texts."""
    from chathpc.adapters.pprof.legacy_cpu import layout
    from chathpc.adapters.pprof.wire import looks_like_profile

    content = glance.content
    if TEXT.match(content[:200].decode("latin-1")):
        return True
    return layout(content) is not None or looks_like_profile(content, whole=len(content) < HEAD)


def read(path: Path) -> Profile:
    """Read a profile of pprof in any of its forms."""
    from chathpc.adapters.content import read_bytes
    from chathpc.adapters.pprof import legacy_cpu, legacy_text, message

    data = read_bytes(path)
    if TEXT.match(data[:200].decode("latin-1")):
        return legacy_text.profile_of(data.decode("utf-8", "replace"), path)
    if legacy_cpu.layout(data) is not None:
        return legacy_cpu.profile_of(data, path)
    return message.profile_of(data, path)


ADAPTER = Adapter(
    name="pprof",
    reads="pprof profiles (protobuf) and those of gperftools (CPU, heap, contention)",
    recognises=recognises,
    read=read,
    order=60,
)
