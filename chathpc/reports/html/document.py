"""The page as a file: the data as a block of JSON, our style and script, and a policy that lets nothing else in.

The policy names style and script by their hashes (Content Security Policy Level 3, 2.3.1), forbids every request, and with trusted
types every way from text to markup. The data is inert: a `<` in it is escaped, so no name can end the block.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html import escape
from importlib.resources import files

from chathpc.profile.text import REPLACEMENT
from chathpc.reports.html.data import PageData

#: In the order in which they are put together: what a part uses stands before it.
SCRIPTS = (
    "dom", "format", "tree", "flame", "table", "threads", "lanes", "roofline", "source", "report", "diff", "fix", "main",
)  # fmt: skip
#: A browser could read these in a block of JSON as markup, or as the end of a line of script.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
#: How Python holds bytes of file names that are not UTF-8 (PEP 383).
_SURROGATE = re.compile("[\ud800-\udfff]")


def document(page: PageData) -> str:
    """The page of `page` as one file of HTML."""
    style, script = page_style(), page_script()
    title = escape(page.parts["title"])
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<div id="top"></div>
<main id="main"><noscript><pre>{escape(page.text)}</pre></noscript></main>
<script type="application/json" id="data">{block(page)}</script>
<script>{script}</script>
</body>
</html>
"""


def policy(style: str, script: str) -> str:
    """The content security policy of a page with this style and script."""
    return (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def digest(text: str) -> str:
    """The hash of a style or script as a policy names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def block(page: PageData) -> str:
    """The data as JSON that holds no markup; without the text for readers without scripts, which stands beside it."""
    content = {**page.parts, "view": None if page.view is None else page.view.model_dump(mode="json")}
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(REPLACEMENT, text).translate(_ESCAPED)


@cache
def page_style() -> str:
    """Our style sheet."""
    return (files(__package__) / "page.css").read_text("utf-8")


@cache
def page_script() -> str:
    """Our script: all parts in one function, so that they leave no name behind."""
    parts = [(files(__package__) / "js" / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"
