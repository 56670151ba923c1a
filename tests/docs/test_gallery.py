"""The gallery shows what is printed today, and has a picture for each example."""

from __future__ import annotations

import runpy

from tests.docs.test_docs import ROOT


def test_the_gallery_is_what_its_commands_print() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "gallery.py"))
    assert (ROOT / "docs" / "gallery.md").read_text("utf-8") == made["page"](), "python docs/gallery.py"
    for each in made["EXAMPLES"]:
        assert (ROOT / "docs" / "gallery" / f"{each.name}.png").stat().st_size > 10_000
