"""Small TAU runs with every feature that the adapter knows between them."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic.tau import Tree, text_of, write_run

APP = ".TAU application"
SEND = "MPI_Send()  "


def tree(factor: float = 1.0) -> Tree:
    """A small program that calls itself and MPI; own microseconds and calls."""
    return {
        (APP,): (100.0 * factor, 1),
        (APP, "main [{heat.c} {10,1}-{50,1}]"): (200.0, 1),
        (APP, "main [{heat.c} {10,1}-{50,1}]", "Loop: sweep [{heat.c} {20,3}-{30,3}]"): (400.0 * factor, 7),
        (APP, "main [{heat.c} {10,1}-{50,1}]", SEND): (50.0, 3),
    }


SAMPLED = [
    f'"{APP}" 1 0 1000 1000 0 GROUP="TAU_DEFAULT" ',
    f'"[CONTEXT] {APP}" 10 0 900 900 0 GROUP="TAU_SAMPLE_CONTEXT" ',
    f'"{APP} => [CONTEXT] {APP}" 10 0 900 900 0 GROUP="TAU_SAMPLE_CONTEXT" ',
    f'"{APP} => [CONTEXT] {APP} => [SUMMARY] sweep [{{/src/heat.c}}]" 9 0 850 850 0 GROUP="TAU_SAMPLE" ',
    f'"{APP} => [CONTEXT] {APP} => [SUMMARY] sweep [{{/src/heat.c}}] => [SAMPLE] sweep [{{/src/heat.c}} {{22}}]" '
    '6 0 600 600 0 GROUP="TAU_SAMPLE" ',
    f'"{APP} => [CONTEXT] {APP} => [SUMMARY] sweep [{{/src/heat.c}}] => [SAMPLE] sweep [{{/src/heat.c}} {{23}}]" '
    '3 0 250 250 0 GROUP="TAU_SAMPLE" ',
]


def write_samples(folder: Path) -> list[Path]:
    """A run of two ranks, one with two threads and two metrics, a sampled one, one file alone."""
    ranks = write_run(
        folder / "ranks",
        {(0, 0, 0): tree(), (1, 0, 0): tree(2.0)},
        events=('"Message size sent to all nodes" 3 800 100 400 1', '"Bytes Written" 2 10 10 10 200'),
        groups={SEND: "MPI"},
        metadata="<metadata><attribute><name>Username</name><value>x</value></attribute></metadata>",
    )
    several = folder / "several"
    threads = {(0, 0, 0): tree(), (0, 0, 1): tree(0.5)}
    write_run(several / "MULTI__TIME", threads, metric="TIME", depth=2)
    write_run(several / "MULTI__PAPI_TOT_CYC", threads, metric="PAPI_TOT_CYC", depth=2)
    sampled = folder / "sampled"
    sampled.mkdir()
    (sampled / "profile.0.0.0").write_text(text_of(SAMPLED))
    flat = write_run(folder / "flat", {(0, 0, 0): tree()}, depth=0, metric="")
    return [ranks, several, sampled, flat / "profile.0.0.0"]
