"""Lines of `perf script`: the head of a sample, a frame, the source line of a frame.

Which fields a line has depends on the version of perf and on its option -F. All of these are heads of samples:

    demo 30493  1693.302341:    2004008 cpu-clock:
    demo 30493/30495 [003]  1693.302341: cycles:u:
    demo 30493/30493 [003]  1693.302341:
    demo 30493  1693.302341:  2004008 cpu-clock:  ffffffff821eb0e7 clear_page+0x7 ([kernel.kallsyms])

The last one has its only frame on the same line, as perf writes it without call graphs.
"""

from __future__ import annotations

import re

#: Names of threads have at most 15 characters in Linux; perf itself adds a few (`:-1`, `kworker/u8:2-events`).
_HEAD = re.compile(
    r"\s{0,40}(?P<comm>\S.{0,40}?)\s++(?P<pid>-?\d{1,10})(?:/(?P<tid>-?\d{1,10}))?\s++"
    r"(?:\[(?P<cpu>\d{1,6})\]\s*+)?(?:[.a-zA-Z]{4,6}\s++(?=\d))?(?:(?P<time>\d{1,12}\.\d{3,9}):(?:\s++|$))?"
    r"(?:(?P<period>\d{1,20})\s++)?(?:(?P<event>[^\s:(]\S{0,200}?):(?:\s++|$))?"
    # One of these has to be there: a name that ends in a number must not be taken for name and process.
    r"(?(cpu)|(?(time)|(?(event)|(?!))))(?P<rest>.*)",
    re.DOTALL,
)
#: A frame: address, symbol with offset, load module in brackets (either may be missing).
_FRAME = re.compile(r"\s*+(?P<ip>[0-9a-f]{1,16})\s(?P<symbol>.*)", re.DOTALL)
_OFFSET = re.compile(r"\+0x[0-9a-f]{1,16}$")
_SOURCE_LINE = re.compile(
    r"\s++(?:(?P<file>\S.{0,4000}):(?P<line>\d{1,9})(?:\[\w*\])?|\S.{0,4000}\[[0-9a-f]{1,16}\]|:0)(?P<inlined> \(inlined\))?"
)

#: What follows the time in a record of --show-switch-events; `_CPU_WIDE` where whole processors were recorded.
SWITCH = re.compile(r"PERF_RECORD_SWITCH(?:_CPU_WIDE)?\s+(?P<way>IN|OUT)\b\s*(?P<preempt>preempt)?")
#: When a thread ends (perf script --show-task-events).
EXIT = "PERF_RECORD_EXIT("
UNKNOWN = "[unknown]"


def head(line: str) -> re.Match[str] | None:
    """The match of a line that begins a sample (groups comm, pid, tid, cpu, time, period, event, rest), else None."""
    return _HEAD.fullmatch(line)


def frame(line: str) -> tuple[str, str, str] | None:
    """(symbol, load module, address) of a line that is a frame, else None; `[unknown]` for a symbol that perf does not know."""
    match = _FRAME.fullmatch(line)
    if match is None:
        return None
    symbol, module = match["symbol"].strip(), ""
    if symbol.endswith(")"):
        depth = 0
        for position in range(len(symbol) - 1, max(len(symbol) - 4096, 0) - 1, -1):
            depth += (symbol[position] == ")") - (symbol[position] == "(")
            if depth == 0:
                break
        if depth == 0 and (position == 0 or symbol[position - 1] == " "):
            symbol, module = symbol[:position].rstrip(), symbol[position + 1 : -1]
    symbol = _OFFSET.sub("", symbol)
    return symbol or UNKNOWN, "" if module == UNKNOWN else module, match["ip"]


def source_line(line: str) -> tuple[str, int, bool] | None:
    """(file, line, whether perf calls the frame inlined) of a line that it adds below a frame with -F +srcline, else None.

    Without line information perf writes `??:0`, `:0`, or load module and address (`libmpi.so.40[2706]`): the file is `??` for all.
    """
    match = _SOURCE_LINE.fullmatch(line)
    return None if match is None else (match["file"] or "??", int(match["line"] or 0), match["inlined"] is not None)


def looks_like_samples(text: str) -> bool:
    """True if `text` begins with samples (a head, and a frame on the same line or below it) or with records of switches."""
    last_was_head = False
    found = 0
    for line in text[: 32 << 10].split("\n")[:400]:
        if not line.strip() or line.startswith("#"):
            continue
        if found == 0 and line.startswith(("PERF_RECORD_", "{", "[")):
            return False
        if last_was_head and line[0] in " \t" and frame(line) is not None:
            return True
        match = head(line) if len(line) < 2000 else None
        if match is None:
            found += 1
            if found > 20:
                return False
            last_was_head = False
            continue
        if match["time"] and SWITCH.match(match["rest"]):
            return True
        if match["time"] and match["event"] and frame(match["rest"]) is not None and match["rest"].endswith(")"):
            return True
        last_was_head = True
    return False
