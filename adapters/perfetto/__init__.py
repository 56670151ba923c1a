"""Traces of Perfetto in its own form (protobuf): of rocprofv3, rocprof-sys and omnitrace, of Chrome, and of programs that use its SDK."""

from __future__ import annotations

from itertools import islice

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import HEAD, Glance
from chathpc.adapters.protobuf import BYTES, VARINT, Damaged, fields, varint

#: Fields that packets of every writer have (trace_packet.proto) → wire types: id of the trusted user, timestamp, sequence; packets in one.
_COMMON = {3: VARINT, 8: VARINT, 10: VARINT, 50: BYTES, 133: BYTES}
#: Packets that are looked at.
_LOOKED = 50


def recognises(glance: Glance) -> bool:
    """True for a message that holds packets (field 1) and nothing else, some of them with fields that all writers give."""
    content = glance.content
    if content[:1] != b"\x0a":
        return False
    known = False
    try:
        for number, kind, begin, end in islice(fields(content, 0, len(content)), _LOOKED):
            if number != 1 or kind != BYTES:
                return False
            known |= any(_COMMON.get(inner) == wire for inner, wire, _, _ in fields(content, begin, end))
    except Damaged:
        return known or (len(content) == HEAD and _begins(content))
    return known


def _begins(content: bytes) -> bool:
    """True if the first packet, which is longer than what was looked at, begins with such a field."""
    _, at = varint(content, 1, HEAD)
    key, _ = varint(content, at, HEAD)
    return _COMMON.get(key >> 3) == key & 7


ADAPTER = Adapter(
    name="perfetto",
    reads="traces of Perfetto (.pftrace, .proto, .perfetto-trace): rocprofv3, rocprof-sys, omnitrace, Chrome",
    recognises=recognises,
    read=reader("chathpc.adapters.perfetto.trace"),
    order=65,
)
