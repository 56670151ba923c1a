"""A prediction as a page: the roofline as a picture, and the text; one file of HTML without scripts."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from chathpc.predict.record import PredictionRecord
from chathpc.profile.text import clean
from chathpc.reports import predicted_roofline, predicted_terminal
from chathpc.reports.style import WIDEST, Style

#: Nothing may be loaded or run (Content Security Policy Level 3).
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = (
    ":root{color-scheme:light dark}body{font-family:system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "svg{max-width:100%;height:auto}pre{overflow:auto;font-size:.85rem}"
)


def render(record: PredictionRecord, style: Style) -> str:
    """The page; all kernels in full."""
    text = predicted_terminal.render(record, replace(style, width=WIDEST, colour=False, encoding="utf-8", verbose=True))
    title = escape(clean(f"{record.program} on {record.device.name}, predicted"))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f"{predicted_roofline.render(record, style)}<pre>{escape(text)}</pre>\n</body>\n</html>\n"
    )
