"""pprof: the protobuf form (gzip or plain) that Go and others write, and the older forms of gperftools."""

from __future__ import annotations

import re
from pathlib import Path

from chathpc.adapters.adapter import Adapter
from chathpc.adapters.content import read_bytes
from chathpc.adapters.glance import HEAD, Glance
from chathpc.adapters.pprof import legacy, message
from chathpc.adapters.protobuf import BYTES, VARINT, Damaged, fields
from chathpc.profile.profile import Profile

#: First lines of the older text forms.
TEXT = re.compile(r"\s*(?:heap profile:\s|--- ?(?:contention|mutex|contentionz|heapz)\b|\w{1,40} profile: total \d)")

#: Fields of the message Profile in profile.proto → wire types; the repeated numbers may be packed.
_FIELDS = {
    1: (BYTES,), 2: (BYTES,), 3: (BYTES,), 4: (BYTES,), 5: (BYTES,), 6: (BYTES,), 7: (VARINT,), 8: (VARINT,),
    9: (VARINT,), 10: (VARINT,), 11: (BYTES,), 12: (VARINT,), 13: (VARINT, BYTES), 14: (VARINT,), 15: (VARINT,),
}  # fmt: skip


def recognises(glance: Glance) -> bool:
    """True for the message of profile.proto, the words of a CPU profile of gperftools, and the heads of its texts."""
    content = glance.content
    if TEXT.match(content[:200].decode("latin-1")):
        return True
    return legacy.layout(content) is not None or looks_like_profile(content, whole=len(content) < HEAD)


def looks_like_profile(data: bytes, *, whole: bool) -> bool:
    """True if `data` begins as a message Profile: its fields and wire types, sample types of two numbers each."""
    seen: set[int] = set()
    count = 0
    try:
        for number, kind, begin, end in fields(data, 0, len(data)):
            count += 1
            if kind not in _FIELDS.get(number, ()):
                return False
            if number == 1:
                inner = list(fields(data, begin, end))
                if not inner or len(inner) > 2 or any(n > 2 or k != VARINT for n, k, _, _ in inner):
                    return False
            seen.add(number)
            if count > 2000:
                break
    except Damaged:
        if whole and count < 3:
            return False
    return count >= 3 and 1 in seen and bool(seen & {2, 4, 5, 6})


def read(path: Path) -> Profile:
    """Read a profile of pprof in any of its forms."""
    data = read_bytes(path)
    if TEXT.match(data[:200].decode("latin-1")):
        return legacy.text_profile_of(data.decode("utf-8", "replace"), path)
    if legacy.layout(data) is not None:
        return legacy.cpu_profile_of(data, path)
    return message.profile_of(data, path)


ADAPTER = Adapter(
    name="pprof",
    reads="pprof profiles (protobuf) and those of gperftools (CPU, heap, contention)",
    recognises=recognises,
    read=read,
    order=60,
)
