"""The texts of NVIDIA's rules, with their links turned into words."""

from __future__ import annotations

import pytest

from chathpc.adapters.nsight_compute.launch import Launch, Rule
from chathpc.adapters.nsight_compute.remarks import plain, remarks_of


def place(address: int) -> str:
    return f"<{address:#x}>"


@pytest.mark.parametrize(("text", "expected"), [
    ("Look at @section:SchedulerStats:Scheduler Statistics@.", "Look at Scheduler Statistics."),
    ("See @url:The Guide:https://example.org/a/b.html#c@.", "See The Guide."),
    ("At PC @source:7f0000001010:0x7f0000001010@ and @sass:0x7f0000001020:LDG@", "At PC <0x7f0000001010> and <0x7f0000001020>"),
    ("In @source:/home/planted/app.cu:17:this line@", "In app.cu:17"),
    ("In @source:C:\\planted\\app.cu:17:this line@", "In app.cu:17"),
    ("Of @sass:unknown:the instruction@", "Of the instruction"),
    ("A rate of 12 byte/s, 3/4 of it, see https://example.org/x and a@b.", "A rate of 12 byte/s, 3/4 of it, see https://example.org/x and a@b."),
    ("Failed in /home/planted/Sections/X.py:3,\n'C:\\planted\\y.py' too", "Failed in X.py:3, 'y.py' too"),
    ("bad \x1b[31m text", "bad \N{REPLACEMENT CHARACTER}[31m text"),
])  # fmt: skip
def test_links_become_words_and_paths_lose_their_folders(text: str, expected: str) -> None:
    assert plain(text, place) == expected


def test_a_rule_that_names_several_instructions_is_about_the_kernel() -> None:
    text = "At @source:7f0000001010:a@ and @source:7f0000001020:b@"
    launch = Launch(
        "k", {}, rules=(Rule("R", "", 2, "", text), Rule("R", "", 2, "", text[:27]), Rule("R", "", 9, "", "  "))
    )
    remarks = remarks_of(launch, 5, lambda address: (address & 0xFF, f"node {address & 0xFF}"))
    assert [remark.node for remark in remarks] == [5, 0x10]
    assert remarks[0].title == "R"


def test_of_many_remarks_about_one_kernel_the_first_are_kept() -> None:
    launch = Launch("k", {}, rules=tuple(Rule(f"R{n}", "", 2, "", "text") for n in range(100)))
    assert len(remarks_of(launch, 0, lambda address: (-1, ""))) == 40
