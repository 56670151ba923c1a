"""Small experiment.xml documents and the files of their threads, as hpcprof before 2022.10 wrote them."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

DTD = """<!DOCTYPE HPCToolkitExperiment [
<!ELEMENT PF (PF|Pr|L|C|S|M)*>
<!ATTLIST PF i CDATA #IMPLIED n CDATA #REQUIRED>
<!ATTLIST Pr a (1|0) "0">
]>
"""
TABLES = """
<LoadModuleTable><LoadModule i="2" n="heat"/><LoadModule i="3" n="libhpcrun.so"/></LoadModuleTable>
<FileTable><File i="4" n="./src/heat.c"/><File i="5" n="./src/heat.h"/><File i="6" n="placeholders.c"/></FileTable>
<ProcedureTable>
 <Procedure i="10" n="&lt;program root&gt;" f="1"/><Procedure i="11" n="main"/><Procedure i="12" n="sweep"/>
 <Procedure i="13" n="&lt;inline&gt;"/><Procedure i="14" n="&lt;gpu kernel&gt;" f="1"/><Procedure i="15" n="stencil"/>
 <Procedure i="16" n="&lt;no activity&gt;" f="3"/><Procedure i="17" n="&lt;unknown procedure&gt;"/>
</ProcedureTable>
"""
CPUTIME = """<Metric i="2" n="CPUTIME (usec):Sum (I)" o="0" v="derived-incr" t="inclusive" partner="3" show="1">
<MetricFormula t="combine" frm="sum($2, $2)"/><MetricFormula t="finalize" frm="$2"/>
<Info><NV n="units" v="events"/></Info></Metric>
<Metric i="3" n="CPUTIME (usec):Sum (E)" o="-1" v="derived-incr" t="exclusive" partner="2" show="1"/>"""
STORED = """<MetricDB i="0" n="CPUTIME (usec) (I)" t="inclusive" db-id="0" db-num-metrics="2" db-header-sz="24"/>
<MetricDB i="1" n="CPUTIME (usec) (E)" t="exclusive" db-id="1" db-num-metrics="2" db-header-sz="24"/>"""

TRACED = '<TraceDBTable><TraceDB i="0" db-glob="*.hpctrace" db-header-sz="32"/></TraceDBTable>'
TRACED_NS = TRACED.replace('i="0"', 'i="0" u="1000000000"')

# main:20 calls sweep twice; sweep has a loop with two statements, 600 and 300 µs, and an inlined function of 50 µs.
TREE = """<M n="2" v="1000"/>
<PF i="2" s="1" l="0" lm="3" f="6" n="10"><M n="2" v="1000"/>
 <C i="3" s="1" l="0"><M n="2" v="1000"/>
  <PF i="4" s="1" l="18" lm="2" f="4" n="11"><M n="2" v="1000"/><M n="3" v="50"/>
   <C i="5" s="1" l="20"><M n="2" v="950"/>
    <PF i="6" s="1" l="5" lm="2" f="4" n="12"><M n="2" v="950"/><M n="3" v="950"/>
     <L i="7" s="1" l="6" f="4"><M n="2" v="900"/><M n="3" v="900"/>
      <S i="8" s="1" l="7" it="31"><M n="2" v="600"/><M n="3" v="600"/></S>
      <S i="9" s="1" l="8" it="32"><M n="2" v="300"/><M n="3" v="300"/></S>
     </L>
     <Pr i="10" s="1" l="3" lm="2" f="5" n="13" a="1"><M n="2" v="50"/><M n="3" v="50"/>
      <S i="11" s="1" l="3"><M n="2" v="50"/><M n="3" v="50"/></S>
     </Pr>
    </PF>
   </C>
   <S i="12" s="1" l="21"><M n="2" v="50"/><M n="3" v="50"/></S>
  </PF>
 </C>
</PF>
<PF i="13" s="1" l="0" lm="3" f="6" n="16"><S i="14" s="1" l="0" it="19"/></PF>
"""
NODES = 14


def document(
    tree: str = TREE,
    metrics: str = CPUTIME,
    stored: str = STORED,
    more: str = "",
    version: str = "2.1",
    head: str = DTD,
) -> str:
    return (
        f'<?xml version="1.0"?>\n{head}<HPCToolkitExperiment version="{version}"><Header n="heat"><Info/></Header>'
        f'<SecCallPathProfile i="0" n="heat"><SecHeader><MetricTable>{metrics}</MetricTable>'
        f"<MetricDBTable>{stored}</MetricDBTable>{more}{TABLES}<Info/></SecHeader>"
        f"<SecCallPathProfileData>{tree}</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>\n"
    )


def database(folder: Path, text: str | bytes | None = None) -> Path:
    data = document() if text is None else text
    (folder / "experiment.xml").write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


def metric_db(inclusive: dict[int, float], nodes: int = NODES, metrics: int = 2) -> bytes:
    """A metric-db file: values of metric 0 by node number."""
    values = np.zeros((nodes, metrics), dtype=">f8")
    for node, value in inclusive.items():
        values[node - 1, 0] = value
    return b"HPCPROF-metricdb__00.10b" + struct.pack(">II", nodes, metrics) + values.tobytes()


def along_the_path(statement: int, value: float) -> dict[int, float]:
    """`value` at a statement of TREE and at all above it."""
    above = {8: [2, 3, 4, 5, 6, 7], 12: [2, 3, 4]}[statement]
    return dict.fromkeys([*above, statement], value)


def trace(samples: list[tuple[int, int]], flags: int = 0) -> bytes:
    packed = b"".join(struct.pack(">QI", *sample) for sample in samples)
    return b"HPCRUN-trace______01.01b" + struct.pack(">Q", flags) + packed


def packed(parts: list[tuple[int, int, bytes]]) -> bytes:
    """What hpcviewer makes of thread files: (rank, thread, content) each."""
    at = 8 + 16 * len(parts)
    table, body = struct.pack(">II", 2, len(parts)), b""
    for rank, thread, content in parts:
        table += struct.pack(">IIQ", rank, thread, at + len(body))
        body += content
    return table + body + bytes.fromhex("ffffffffdeadf00d")


def thread_name(rank: int, thread: int, suffix: str, group: str = "1.") -> str:
    return f"{group}heat-{rank:06}-{thread:03}-a8c00270-{160443 + rank}-0.{suffix}"
