"""Whatever stands in a profile, and whatever a model makes of it, nothing happens but a report without effects."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import chathpc
from chathpc.reading.look import CALLS
from chathpc.report import Report
from chathpc.reports import renderers
from chathpc.reports.style import Style
from tests.reports.test_hostile import ACTIVE, CONTROL
from tests.security.conftest import World
from tests.security.hostile import CARRIERS, CHANNELS, PAYLOADS, STRINGS, carrying, in_channel, in_every_channel

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
        assert not CONTROL.search(re.sub("\x1b\\[[0-9;]*m", "", page) if name in ("text", "screen") else page), name
        if name == "markdown":
            parser = MarkdownIt("commonmark").enable("table")
            tokens = parser.parse(page)
            parts = [part for token in tokens for part in (token, *(token.children or ()))]
            assert not {part.type for part in parts} & ACTIVE
            plain = "\n".join(part.content for part in parts if part.type == "text")
            assert not re.search(r"://|www\.|\w@\w|(?<!\w)@\w|#\d", plain)  # what viewers make links of by themselves
            page = parser.renderer.render(tokens, parser.options, {})
        if name == "markdown":
            assert live(page) == []
        if name == "html":  # its own markup, and one block of data that no text can end
            head, data = page.split('<script type="application/json" id="data">')
            assert "<" not in data.split("</script>")[0]
            assert live(head.split("<main")[1].split("<noscript>")[1]) == []


@pytest.mark.parametrize("llm", ["scripted:puppet", "openai:puppet"])
def test_a_model_that_obeys_has_no_effect(llm: str, world: World, tmp_path: Path) -> None:
    # A first run imports what is imported once.
    check(chathpc.explain(carrying(compiler_message="plain"), llm=llm, confidential="none"))
    plain = chathpc.explain(carrying(source_comment="plain", compiler_message="plain"), llm="none")
    before = sorted(tmp_path.rglob("*"))
    for number in range(len(STRINGS)):
        profile = in_every_channel(number)
        with world.watched():
            report = chathpc.explain(profile, llm=llm, confidential="none")
            check(report)
        assert report.verdict in (plain.verdict, *(["suspected"] if plain.verdict == "hot-spot" else []))
        assert [one.cause for one in report.findings] == [one.cause for one in plain.findings]
    assert world.happened == []
    assert sorted(tmp_path.rglob("*")) == before
    # Each answer calls a tool that nobody offered, is told so as often as a model may look things up, and is then asked without tools.
    assert len(world.sent) == ((len(STRINGS) + 1) * (CALLS + 1) if llm.startswith("openai") else 0)


@pytest.mark.parametrize("channel", ["source comment", "metric description"])  # in the others a claim is part of a name
@pytest.mark.parametrize("llm", ["scripted:puppet", "openai:puppet"])
def test_a_claim_that_nobody_measured_is_not_told(channel: str, llm: str, world: World) -> None:
    for carrier in CARRIERS:
        report = chathpc.explain(in_channel(channel, carrier.format(PAYLOADS["claim"])), llm=llm, confidential="none")
        assert not _CLAIMS.search(report.explanation.text)


def test_what_is_watched_is_seen(world: World, tmp_path: Path) -> None:
    with world.watched():
        (tmp_path / "owned").touch()
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", 9), timeout=1)
        subprocess.run(["true"], check=True)
    seen = " ".join(world.happened)
    assert "owned" in seen
    assert "socket.connect" in seen
    assert "subprocess.Popen" in seen


def test_with_placeholders_no_order_reaches_a_hosted_model(world: World) -> None:
    for number in range(0, len(STRINGS), 3):
        world.sent.clear()
        check(chathpc.explain(in_every_channel(number), llm="openai:puppet"))
        prompt = json.loads(world.sent[0])["messages"][1]["content"]
        for word in ("evil.example", "owned", "onerror", "everyone", "rm -rf"):
            assert word not in prompt, word


@pytest.mark.parametrize("mode", ["none", "default", "all"])
def test_no_control_character_and_no_token_of_a_chat_template_leaves(mode: str, world: World) -> None:
    for number in range(0, len(STRINGS), 9):
        world.sent.clear()
        chathpc.explain(in_every_channel(number), llm="openai:puppet", confidential=mode)
        prompt = world.sent[0].decode()
        assert "\\u001b" not in prompt
        assert not CONTROL.search(prompt)
        assert "<|im_" not in prompt
        assert "[INST]" not in prompt
