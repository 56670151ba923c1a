"""Caliper profiles: .cali files, and the json-split files that cali-query and the hatchet profiles write."""

from __future__ import annotations

from chathpc.adapters.adapter import Adapter, reader
from chathpc.adapters.glance import Glance

#: Keys of a json-split document, one of which stands near its beginning.
_KEYS = ('"columns"', '"data"', '"column_metadata"', '"nodes"')


def recognises(glance: Glance) -> bool:
    """True for a .cali file by its first record, a json-split document by its keys, and a folder of .cali files."""
    if glance.is_folder:
        first = next((name for name in glance.names if name.endswith(".cali")), None)
        return first is not None and _is_cali(glance.inside(first))
    return _is_cali(glance) or _is_split(glance)


def _is_cali(glance: Glance) -> bool:
    return glance.text.lstrip()[:6] == "__rec="


def _is_split(glance: Glance) -> bool:
    text = glance.text.lstrip()
    if not text.startswith("{") or '"traceEvents"' in text:
        return False
    return text[1:].lstrip().startswith(_KEYS) and (
        '"columns"' in text
        or (
            text[1:].lstrip().startswith('"data"')
            and text.split(":", 1)[-1].lstrip()[:1] == "["
            and text.split("[", 1)[-1].lstrip()[:1] == "["
        )
    )


read = reader("chathpc.adapters.caliper.profile")
ADAPTER = Adapter(
    name="caliper",
    reads="Caliper profiles (.cali, also SPOT; JSON of cali-query -q 'format json-split')",
    recognises=recognises,
    read=read,
    order=30,
)
