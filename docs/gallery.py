"""Write docs/gallery.md and its pictures: the first screen and the page of six examples. `python docs/gallery.py` needs Chromium."""

from __future__ import annotations

import io
import os
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
WIDTH, HEIGHT = 1280, 800
HEAD = """# Gallery

The first screen and the page of six small programs. Texts and pictures are made by `python docs/gallery.py`; each page is one HTML file
([The page](page.md)), each screen is explained line by line in [Reading a report](reports.md).
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """One example: the folder that its command runs in, its profiles as they are given, and what there is to see."""

    name: str
    title: str
    folder: str
    paths: tuple[str, ...]
    says: str

    @property
    def command(self) -> str:
        """The command line, without where the answer goes."""
        return f"chathpc {'diff' if len(self.paths) > 1 else 'explain'} {' '.join(self.paths)}"


EXAMPLES = (
    Shown(
        "omp-triangle",
        "Uneven iterations (OpenMP)",
        "examples/omp-triangle",
        ("database",),
        "C, four threads: the iterations of a loop grow, and are dealt out in equal numbers.",
    ),
    Shown(
        "mpi-imbalance",
        "Uneven ranks (MPI)",
        "examples/mpi-imbalance",
        ("database",),
        "C, four ranks: rank 3 has most of the work.",
    ),
    Shown(
        "fortran-advect",
        "Loops in the wrong order (Fortran)",
        "examples/fortran-advect",
        ("database",),
        "Two sweeps over the same array, one of them across its columns.",
    ),
    Shown(
        "cpp-hoist",
        "Work that a loop repeats (C++)",
        "examples/cpp-hoist",
        ("database",),
        "A costly call whose arguments never change.",
    ),
    Shown(
        "gpu-steps",
        "Copies instead of kernels (Nsight Systems)",
        "exports",
        ("steps.sqlite",),
        "A time loop copies the same coefficients to the device again in each step. The export is generated (examples/tutorials).",
    ),
    Shown(
        "mesh-allocation",
        "Before and after a fix (diff)",
        "examples/mesh-allocation",
        ("before", "after"),
        "A list that was allocated again and again, measured before and after the change.",
    ),
)


def answers(form: str) -> Iterator[tuple[Shown, str]]:
    """What the command of each example answers in a format, without a model."""
    import chathpc
    from chathpc.fix.recipes.exact import exact_changes
    from chathpc.reports import diff_renderers, renderers
    from chathpc.reports.style import Style

    with tempfile.TemporaryDirectory() as scratch:
        runpy.run_path(str(ROOT / "examples" / "tutorials" / "make_exports.py"))["main"](Path(scratch) / "exports")
        for each in EXAMPLES:
            with chdir(Path(scratch) if each.folder == "exports" else ROOT), chdir(each.folder):
                drawn = form == "html"
                if len(each.paths) > 1:
                    found: Any = chathpc.diff(*map(chathpc.load, each.paths), view=drawn)
                    yield each, diff_renderers()[form](found, Style())
                else:
                    profile = chathpc.load(each.paths[0])
                    report = chathpc.explain(profile, llm="none", propose=exact_changes, view=drawn)
                    yield each, renderers()["screen" if form == "text" else form](report, Style())


def page() -> str:
    """docs/gallery.md."""
    parts = [HEAD]
    for each, text in answers("text"):
        where = "" if each.folder == "exports" else f" In `{each.folder}`:"
        parts.append(
            f"## {each.title}\n\n{each.says}{where}\n\n```text\n$ {each.command}\n\n{text}```\n\n"
            f"![The page of {each.name}](gallery/{each.name}.png)\n"
        )
    return "\n".join(parts)


def picture(program: str, html: str) -> bytes:
    """The top of a page as a PNG of 256 colours."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        file = Path(folder) / "page.html"
        file.write_text(html, encoding="utf-8")
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
        tab.goto(file.as_uri())
        tab.wait_for_selector("html[data-ready]")
        taken = tab.screenshot()
        browser.close()
    small = io.BytesIO()
    Image.open(io.BytesIO(taken)).convert("P", palette=Image.Palette.ADAPTIVE).save(small, "PNG", optimize=True)
    return small.getvalue()


def main() -> None:
    """Write the page and the pictures."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("There is no Chromium: apt-get install chromium.")
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
    (DOCS / "gallery").mkdir(exist_ok=True)
    for each, html in answers("html"):
        (DOCS / "gallery" / f"{each.name}.png").write_bytes(picture(program, html))
        print(f"docs/gallery/{each.name}.png written.")


if __name__ == "__main__":
    main()
