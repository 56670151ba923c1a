"""Whatever stands in a profile, and whatever a model makes of it, nothing happens but a report without effects."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import chathpc
from chathpc.report import Report
from chathpc.reports import renderers
from chathpc.reports.style import Style
from tests.reports.test_hostile import ACTIVE, CONTROL
from tests.security.conftest import World
from tests.security.hostile import CHANNELS, STRINGS

#: Elements and attributes of HTML that do something when a page is opened or clicked.
_ELEMENTS = {
    "a",
    "img",
    "script",
    "iframe",
    "form",
    "object",
    "embed",
    "link",
    "meta",
    "svg",
    "base",
    "style",
    "video",
    "audio",
}
_CLAIMS = re.compile(r"memory bandwidth|812|42 times|larger cache")


class Live(HTMLParser):
    """Collects what acts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        acting = [name for name, _ in attrs if name.startswith("on") or name in ("href", "src", "style")]
        if tag in _ELEMENTS or acting:
            self.found.append(f"{tag} {attrs}")


def live(page: str) -> list[str]:
    parser = Live()
    parser.feed(page)
    parser.close()
    return parser.found


def test_there_are_enough_of_them() -> None:
    assert len(set(STRINGS)) == len(STRINGS) >= 100
    assert len(CHANNELS) == 6
    assert live("<p>x <a href=y>z</a> &lt;img onerror=q&gt;</p>") == ["a [('href', 'y')]"]


def check(report: Report) -> None:
    for name, render in renderers().items():
        page = render(report, Style(verbose=True, colour=True))
        assert not CONTROL.search(re.sub("\x1b\\[[0-9;]*m", "", page) if name == "text" else page), name
        if name == "markdown":
            parser = MarkdownIt("commonmark").enable("table")
            tokens = parser.parse(page)
            parts = [part for token in tokens for part in (token, *(token.children or ()))]
            assert not {part.type for part in parts} & ACTIVE
            plain = "\n".join(part.content for part in parts if part.type == "text")
            assert not re.search(r"://|www\.|\w@\w|(?<!\w)@\w|#\d", plain)  # what viewers make links of by themselves
            page = parser.renderer.render(tokens, parser.options, {})
        if name in ("markdown", "html"):
            assert live(page) == []


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("llm", ["scripted:puppet", "openai:puppet"])
def test_a_model_that_obeys_has_no_effect(channel: str, llm: str, world: World, tmp_path: Path) -> None:
    # A first run imports what is imported once.
    check(chathpc.explain(CHANNELS[channel]("plain"), llm=llm, confidential="none"))
    before = sorted(tmp_path.rglob("*"))
    plain = chathpc.explain(CHANNELS[channel]("plain"), llm="none")
    strings = STRINGS[llm.startswith("openai") :: 2]  # every string in every channel, for one of the two in turn
    for text in strings:
        profile = CHANNELS[channel](text)
        with world.watched():
            report = chathpc.explain(profile, llm=llm, confidential="none")
            check(report)
        assert report.verdict == plain.verdict
        assert [one.cause for one in report.findings] == [one.cause for one in plain.findings]
        if channel in ("source comment", "metric description"):  # in the others a claim is part of a name
            assert not _CLAIMS.search(report.explanation.text)
    assert world.happened == []
    assert sorted(tmp_path.rglob("*")) == before
    assert len(world.sent) == (len(strings) + 1 if llm.startswith("openai") else 0)


@pytest.mark.parametrize("channel", CHANNELS)
def test_with_placeholders_no_order_reaches_a_hosted_model(channel: str, world: World) -> None:
    for text in STRINGS[:: len(STRINGS) // 14 - 1]:
        world.sent.clear()
        check(chathpc.explain(CHANNELS[channel](text), llm="openai:puppet"))
        (body,) = world.sent
        for word in ("evil.example", "owned", "onerror", "everyone", "rm -rf"):
            assert word not in json.loads(body)["messages"][1]["content"], word


@pytest.mark.parametrize("mode", ["none", "default", "all"])
def test_no_control_character_and_no_token_of_a_chat_template_leaves(mode: str, world: World) -> None:
    for channel in CHANNELS.values():
        for text in STRINGS[::17]:
            world.sent.clear()
            chathpc.explain(channel(text), llm="openai:puppet", confidential=mode)
            prompt = world.sent[0].decode()
            assert "\\u001b" not in prompt
            assert not CONTROL.search(prompt)
            assert "<|im_" not in prompt
            assert "[INST]" not in prompt
