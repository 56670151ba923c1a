"""Questions in plain language, and what code takes them for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from chathpc.chat.conversation import Conversation
from chathpc.chat.intents import Last, match
from chathpc.chat.intents.match import examples
from chathpc.chat.intents.nearest import Nearest, words_of
from chathpc.chat.session import Session
from chathpc.chat.tools import TOOLS, call
from tests.chat.profiles import calls
from tests.chat.questions import FILE, FRESH, USED, left_out, questions, rates
from tests.chat.questions import session as profile_of


def test_questions_find_their_tool_and_what_is_not_sure_is_not_answered() -> None:
    for file, least in ((FILE, 0.95), (USED, 0.95)):  # most of them are examples
        found, _ = rates(file)
        assert found["right"] / sum(found.values()) >= least
    fresh, _ = rates(FRESH)  # none of them is one: 88.3 %, 6.7 %; one question is 1.7 %
    assert fresh["right"] / sum(fresh.values()) >= 0.85
    assert fresh["wrong"] / sum(fresh.values()) <= 0.07


def test_an_example_left_out_is_found_by_the_others_or_not_told() -> None:
    found = left_out(every=7)
    assert found["right"] >= 0.75  # 76.5 %, of examples that were chosen to differ
    assert found["wrong"] <= 0.18


def test_no_fresh_question_is_an_example() -> None:
    known = {" ".join(words_of(one.ask)) for one in examples()}
    assert not [one.ask for one in questions(FRESH) if " ".join(words_of(one.ask)) in known]


def test_every_example_asks_a_tool_that_exists_with_arguments_that_it_takes() -> None:
    used = set()
    for example in examples():
        used.add(example.tool)
        if example.tool in ("again", "nothing"):
            continue
        assert set(example.arguments) <= set(TOOLS[example.tool].arguments.model_fields)
    assert set(TOOLS) - used == {"query"}  # that one is for who knows hatchet's patterns


def test_each_way_to_ask_has_many_phrasings() -> None:
    ways: dict[object, int] = {}
    for example in examples():
        way = (example.tool, tuple(sorted(example.arguments.items())))
        ways[way] = ways.get(way, 0) + 1
    assert min(ways.values()) >= 15, {way: count for way, count in ways.items() if count < 15}


@pytest.mark.parametrize(
    ("question", "tool"),
    [("which file is read most?", "files"), ("which file was read most", "files"), ("is read slow?", "why"), ("how hot is read?", "measured")],
)  # fmt: skip
def test_a_participle_is_no_function_of_that_name(question: str, tool: str) -> None:
    found = match(question, Session(calls(("main", "solve", "dot", "read"))))
    assert (found.tool == "files") == (tool == "files")
    assert found.arguments.get("by", found.arguments.get("place")) == {"files": "read"}.get(tool, "read")


@pytest.mark.parametrize(
    "question",
    ["what would I gain from fixing the imbalance?", "what would I gain from fixing the biggest problem?", "what would I gain from fixing finding 1?"],
)  # fmt: skip
def test_what_a_repair_would_gain_is_told_as_the_finding_has_it(question: str) -> None:
    about = profile_of("mpi")
    bound = about.diagnosis.findings[0].speedup_bound
    assert bound is not None
    assert f"the run could be at most {bound:.2f}x as fast" in Conversation(about).ask(question).text


@pytest.mark.parametrize(
    "question",
    ["how much faster can it get?", "what's the most I can gain?", "what speedup can I expect?", "how much would I gain if the imbalance was gone?"],
)  # fmt: skip
def test_how_much_there_is_to_gain_is_told_by_finding(question: str) -> None:
    about = profile_of("omp")
    text = Conversation(about).ask(question).text
    known = {
        number: bound
        for number, one in enumerate(about.diagnosis.findings, 1)
        if (bound := one.speedup_bound) is not None
    }
    assert len(known) == 2
    assert all(f"{number}. " in text and f"at most {bound:.2f}x overall" in text for number, bound in known.items())
    assert text.endswith("The gains of 2 findings do not add up.")


def test_texts_are_as_alike_as_the_groups_of_letters_that_they_share() -> None:
    index = Nearest(["who calls @function", "hottest lines"])
    assert index.likeness("who calls @function") == pytest.approx([1.0, 0.0])
    assert index.likeness("hotest lines")[1] > 0.5
    assert list(index.likeness("xyzzy")) == [0.0, 0.0]
    # One word in threes: ' ab', 'abc', 'bc '; shared with `abd` is ' ab' only, the others are in one of the two texts.
    both = Nearest(["abc", "abd"])
    rare, common = math.log(3 / 2) + 1, 1.0
    assert both.likeness("abc")[1] == pytest.approx(common**2 / (2 * rare**2 + common**2))


def test_neighbours_that_say_the_same_in_the_same_words_count_once() -> None:
    index = Nearest(["who calls @function", "who calls @function now", "who is called by @function", "hottest lines"])
    kinds = np.array([0, 0, 1, 2])
    said = index.weighed(index.likeness("who calls @function"), kinds)
    assert said[0] > 0.6 > said[1]
    # Ridge regression by the book: k(x)' (K + 0.3 I)^-1 for the texts of a kind.
    kernel = np.array([index.likeness(text) for text in index.texts])
    weights = np.linalg.solve(kernel + 0.3 * np.eye(4), index.likeness("who calls @function"))
    assert said == pytest.approx([weights[:2].sum(), weights[2], weights[3]])


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(calls(("main", "solve", "dot_product", "std::vector<double>::resize(int)")))


@pytest.mark.parametrize(
    ("question", "tool", "arguments"),
    [
        ("who calls resize?", "callers", {"name": "std::vector<double>::resize(int)"}),
        ("who calls dot_prodct?", "callers", {"name": "dot_product"}),
        ("Tree below `main > solve`", "tree", {}),
        ("what if solve took 50 % less time?", "what_if", {"place": "solve", "factor": 2.0}),
        ("what if solve vanished?", "what_if", {"place": "solve", "factor": 1e9}),
        ("functions with most io.write.bytes", "top", {"by": "function", "metric": "io.write.bytes"}),
        ("top 500 functions", "top", {"by": "function", "limit": 100}),
        ("source of heat.c, line 12", "source", {"place": "heat.c:12"}),
    ],
)
def test_names_numbers_and_metrics_are_read(
    question: str, tool: str, arguments: dict[str, object], session: Session
) -> None:
    intent = match(question, session)
    assert intent.tool == tool
    assert arguments.items() <= dict(intent.arguments).items()


def test_what_was_taken_for_a_slip_of_the_pen_is_said(session: Session) -> None:
    assert match("who calls dot_prodct?", session).note == "'dot_prodct' was taken for dot_product."


@pytest.mark.parametrize(
    "question", ["", "?", "@", " ", "a" * 100_000, "\x00\x1b[31m", "((((" * 500, "E" * 4000, "1x" * 999]
)
def test_text_that_is_no_question_is_no_error(question: str, session: Session) -> None:
    match(question, session)


@pytest.mark.parametrize(
    ("question", "tool", "arguments"),
    [
        ("hotest functoins", "top", {"by": "function"}),
        ("wich lnies are hot", "top", {"by": "line"}),
        ("thred balance", "locations", {}),
        ("whats false shareing", "catalogue", {"words": "false sharing"}),
        ("fix for nr 2 pls", "findings", {"number": 2}),
        ("main calls what", "callees", {"name": "main"}),
        ("top ten", "top", {"limit": 10}),
        ("heat.c around 12", "source", {"place": "heat.c:12"}),
        ("how much is heat", "top", {"by": "module"}),
        ("who calls product", "callers", {"name": "dot_product"}),
        # How the answer is wanted.
        ("top 3 functions, inclusive", "top", {"by": "function", "order": "inclusive", "limit": 3}),
        ("tree below solve, two levels deep", "tree", {"depth": 2}),
        ("source of solve, 20 lines above and below", "source", {"context": 20}),
        ("which metrics about the cache were measured", "metrics", {"search": "cache"}),
        ('["*", {"name": "PMPI_*"}]', "query", {"query": '["*", {"name": "PMPI_*"}]'}),
    ],
)
def test_what_tired_people_type_is_understood(
    question: str, tool: str, arguments: dict[str, object], session: Session
) -> None:
    intent = match(question, session)
    assert intent.tool == tool
    assert arguments.items() <= dict(intent.arguments).items()


def test_a_function_called_kernel_is_meant_where_no_gpu_has_any() -> None:
    assert match("kernel time per rank", profile_of("mpi")).arguments == {"place": "kernel"}
    assert match("top kernels", profile_of("gpu")).arguments["by"] == "kernel"


def test_a_name_that_the_profile_does_not_have_is_looked_up_so_that_the_answer_says_so(session: Session) -> None:
    intent = match("who calls quux_step?", session)
    assert (intent.tool, dict(intent.arguments)) == ("callers", {"name": "quux_step"})


@pytest.mark.parametrize(
    ("question", "last", "tool", "arguments"),
    [
        ("and who calls it?", Last("tree", {"place": "solve"}, "`solve`"), "callers", {"name": "solve"}),
        ("and the lines of it", Last("callers", {"name": "solve"}, "`solve`"), "source", {"place": "solve"}),
        ("what does it call", Last("top", {"by": "function"}, "`solve`"), "callees", {"name": "solve"}),
        ("what about main", Last("callers", {"name": "solve"}, "`solve`"), "callers", {"name": "main"}),
        ("same for main", Last("locations", {"place": "solve"}, "`solve`"), "locations", {"place": "main"}),
        ("what about rank 1", Last("locations", {"who": "rank 0"}, "rank 0"), "locations", {"who": "rank 1"}),
        ("why", Last("locations", {}, "rank 1"), "locations", {"who": "rank 1"}),
        ("callers?", Last("tree", {"place": "solve"}, "`solve`"), "callers", {"name": "solve"}),
        ("the second one", Last("findings", {}, "finding 1", ("finding 1", "finding 2")), "findings", {"number": 2}),
        (
            "the second one",
            Last("top", {"by": "function"}, "`main`", ("`main`", "`solve`")),
            "tree",
            {"place": "solve"},
        ),
        ("who calls the second one", Last("top", {}, "`main`", ("`main`", "`solve`")), "callers", {"name": "solve"}),
        ("how long did it run", Last("tree", {"place": "solve"}, "`solve`"), "summary", {"about": "time"}),
        ("hottest lines", Last("tree", {"place": "solve"}, "`solve`"), "top", {"by": "line"}),
        # The last tool does not take a rank; and nobody asks for the answer that was just given.
        ("what about rank 1", Last("source", {"place": "solve"}, "`solve`"), "locations", {"who": "rank 1"}),
        ("what about rank 1", Last("summary", {"about": "size"}), "locations", {"who": "rank 1"}),
        ("why", Last("source", {"place": "solve"}, "`solve`"), "findings", {}),
        ("and the lines of it", Last("top", {"by": "function"}, "`solve`"), "source", {"place": "solve"}),
    ],
)
def test_a_question_may_go_on_from_the_last_answer(
    question: str, last: Last, tool: str, arguments: dict[str, object], session: Session
) -> None:
    intent = match(question, session, last)
    assert intent.tool == tool
    assert arguments.items() <= dict(intent.arguments).items()


@pytest.mark.parametrize("question", ["what about main", "and who calls it?", "the second one"])
def test_without_a_last_answer_nothing_is_gone_on_from(question: str, session: Session) -> None:
    assert match(question, session).tool not in ("again", "callers")


@pytest.mark.parametrize(
    ("question", "tool", "arguments"),
    [
        ("show line 12", "source", {"place": "heat.c:12"}),
        ("why is rank 1 slower than the others", "locations", {"who": "rank 1"}),
        ("is dot_product called in a loop", "loops", {"name": "dot_product"}),
        ("how many ranks and threads", "summary", {"about": "size"}),
        ("wall-clock time", "summary", {"about": "time"}),
        ("how do I fix finding 1", "findings", {"number": 1, "part": "fix"}),
        ("how confident are you", "findings", {"part": "confidence"}),
        ("what does POP efficiency mean", "catalogue", {"words": "pop efficiency"}),
        ("what is exclusive time", "catalogue", {"words": "exclusive time"}),
        ("what is a roofline", "catalogue", {"words": "roofline"}),
        ("how do I turn on load balancing", "catalogue", {"words": "load balance", "part": "advice"}),
        ("will it scale to 64 ranks", "scaling", {}),
        ("will it be faster with more threads", "scaling", {}),
        ("what did you not examine", "examined", {}),
        ("which tool measured this", "summary", {"about": "tool"}),
    ],
)
def test_what_people_ask_of_a_report_is_understood(
    question: str, tool: str, arguments: dict[str, object], session: Session
) -> None:
    intent = match(question, session)
    assert (intent.tool, dict(intent.arguments)) == (tool, arguments)


@pytest.mark.parametrize(
    "question",
    [
        "my job ran out of walltime what now",
        "why does it say 79% overhead",
        "is it pandas fault?",
        "what does iterrows cost?",
        "does OpenBLAS use threads?",
    ],
)
def test_a_term_in_a_question_of_something_else_is_not_explained(question: str) -> None:
    intent = match(question, Session(calls()))
    assert intent.tool != "catalogue"
    assert "words" not in intent.arguments


def test_what_a_term_means_is_told_where_it_is_asked_for() -> None:
    for question in ("what is walltime", "define walltime for a newbie"):
        assert match(question, Session(calls())).tool == "catalogue"


def test_a_program_without_a_gpu_is_told_no_cause_of_one() -> None:
    host = Session(calls())
    assert "histogram" not in match("how much would I gain if i fix the histogramm?", host).arguments.values()
    omp = profile_of("omp")
    assert "(omp-critical-contention)" in call(omp, "catalogue", {"words": "atomics", "part": "advice"}).text
    assert "gpu" not in call(omp, "catalogue", {"words": "atomics"}).text


def test_a_part_of_the_program_is_meant_where_the_whole_is_named_beside_it() -> None:
    # main has all of the 20 seconds with what it calls and 1 of its own; solve with all below it 18.
    asked = Session(calls(("heat", "solve", "exchange", "io_write")))
    intent = match("how much faster if heat exchange was free", asked)
    assert (intent.tool, intent.arguments["place"]) == ("what_if", "exchange")
    assert "is the whole program" in call(asked, "what_if", {"place": "heat", "factor": 1e9}).error
    assert "2.00x" in call(asked, "what_if", {"place": "exchange", "factor": 1e9}).text  # it has 10 of 20 seconds


def test_a_word_of_a_finding_means_it() -> None:
    told = match("how much would I gain if I fix the triangullar", profile_of("omp"))  # triangular_work, of finding 1
    assert (told.tool, told.arguments["place"]) == ("what_if", "triangular_work")
    asked = Session(profile_of("omp").measured)
    imports = replace(asked.diagnosis.findings[1], title="Imports have 15.0 % of the time")
    found = (asked.diagnosis.findings[0], imports)
    asked.__dict__["diagnosis"] = replace(asked.diagnosis, findings=found)  # as if a Python program's
    intent = match("how long do the imports take", asked)
    assert (intent.tool, intent.arguments) == ("findings", {"number": 2})


@pytest.mark.parametrize(
    "question",
    [
        "how much time does zork take?",
        "is zork slow?",
        "who calls zork?",
        "which lines of zork are hot?",
        "what if zork were twice as fast?",
    ],
)
def test_a_strange_word_where_a_name_stands_is_a_function_that_there_is_not(question: str, session: Session) -> None:
    assert "zork()" in str(match(question, session).arguments)


@pytest.mark.parametrize(
    ("question", "name"),
    [("who calls solve?", "solve"), ("why is solve slow?", "solve"), ("how long does update take?", "update"),
     ("who calls solver?", "solver"), ("who calls fix?", "fix"),
     ("what if fsync were free", "fsync"), ("how long does fsync take?", "fsync"), ("how long does cg take", "cg"),
     ("which lines of advance are hot?", "advance")],
)  # fmt: skip
def test_a_common_word_where_a_name_stands_is_a_function_that_there_is_not(question: str, name: str) -> None:
    about = Session(calls(("main", "work_item", "dot", "io_write")))
    assert f"{name}()" in match(question, about).arguments.values()
    assert f"no function or file '{name}()'" in (Conversation(about).ask(question).steps[0].error or "")


@pytest.mark.parametrize(
    "question",
    ["who calls it?", "run time in us", "how long does the run take", "how long does communication take",
     "work per rank", "how do I fix it", "is waiting slow", "memcpy share?"],
)  # fmt: skip
def test_a_common_word_where_no_name_stands_is_a_word(question: str) -> None:
    assert "()" not in str(match(question, Session(calls(("main", "work_item", "dot", "io_write")))).arguments)


def test_a_short_name_is_looked_for_among_the_calls_of_mpi() -> None:
    about = Session(calls(("main", "PMPI_Allreduce", "PMPI_Barrier [libmpi.so.40]", "io_write")))
    for question in ("how long does allreduce take?", "who calls allreduce"):
        assert "PMPI_Allreduce" in match(question, about).arguments.values()
    assert (
        call(about, "what_if", {"place": "allreduce"}).text == call(about, "what_if", {"place": "MPI_Allreduce"}).text
    )
    assert match("is it the barrier", about).tool == "findings"
    own = Session(calls(("main", "allreduce", "PMPI_Allreduce", "io_write")))  # the program's own comes first
    assert match("how long does allreduce take?", own).arguments["place"] == "allreduce"


def test_whether_there_are_too_many_ranks_is_asked_of_the_findings_and_how_many_to_take_of_scaling() -> None:
    assert match("are there too many ranks?", profile_of("mpi")).tool == "findings"
    assert match("how many ranks should I use?", profile_of("mpi")).tool == "scaling"
    job = Session(calls(("main", "job", "dot", "io_write")))
    assert match("how long did the job run", job).arguments == {"about": "time"}
    assert match("how long does job take", job).arguments["place"] == "job"
    assert match("why is the application slow", job).tool == "findings"


def test_slips_of_words_are_no_strange_names(session: Session) -> None:
    assert not any(
        "()" in str(match(ask, session).arguments) for ask in ("wher is the bottelneck", "is the canteen open")
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("wher is teh tiem spnt", "where is the time spent"), ("whcih lien is slowst", "which line is slowest")],
)
def test_a_question_with_slips_is_understood_and_told_as_such(typed: str, meant: str, session: Session) -> None:
    found, plain = match(typed, session), match(meant, session)
    assert (found.tool, found.arguments) == (plain.tool, plain.arguments)
    assert found.note.startswith("Understood as: ")
    assert not plain.note


@pytest.mark.parametrize("question", ["is it NUMA?", "did I use AVX?", "what's the cache miss rate"])
def test_a_quantity_that_was_not_measured_is_told_with_what_measures_it(question: str, session: Session) -> None:
    assert "Not measured in this run; to measure it: " in Conversation(session).ask(question).text


def test_what_a_quantity_is_follows_on_whether_it_was_measured(session: Session) -> None:
    text = Conversation(session).ask("what is NUMA").text
    assert text.startswith("Not measured in this run; to measure it: ")
    assert "NUMA: Memory belongs to a socket" in text


def test_the_fastest_follows_on_the_slowest() -> None:
    conversation = Conversation(profile_of("mpi"))
    slowest = conversation.ask("which rank is slowest?").steps[0]
    fastest = conversation.ask("and the fastest?").steps[0]
    assert fastest.rows == slowest.rows[::-1]
    assert fastest.text.startswith("The fastest is ")


def test_which_function_grows_is_a_question_of_scaling() -> None:
    assert match("which function grows fastest?", Session(calls())).tool == "scaling"
    assert (
        match("should I use std::map or an array?", Session(calls(("main", "std::map<int>::at", "dot", "io")))).tool
        == ""
    )


def test_what_goes_on_from_an_answer_is_not_that_answer_again() -> None:
    mpi, omp = profile_of("mpi"), profile_of("omp")
    against = Last("locations", {"who": "rank 0 against rank 1"}, "rank 0 against rank 1")
    told = match("what fraktion is mpi", mpi, against)
    assert (told.tool, told.arguments) == ("activities", {"kind": "mpi"})
    shown = Last("source", {"place": "work_item"}, "`work_item`")
    assert match("show its source", omp, shown).arguments == {"place": "work_item"}  # asked for in these words, it is
    conversation = Conversation(omp)
    conversation.ask("is it cache misses?")  # of which there is no finding
    assert match("what is the speedup if I fix it", omp, conversation.last).arguments == {"number": 1, "part": "fix"}


def test_messages_that_were_not_counted_are_not_answered_by_a_time() -> None:
    told = Conversation(profile_of("mpi")).ask("how many messages did it send")
    assert told.steps[0].error == "This profile has no metric 'messages'."


def test_functions_of_the_system_are_no_example_of_a_question() -> None:
    suggested = Conversation(profile_of("omp")).ask("thx bye").suggestions
    assert f"who calls {profile_of('omp').diagnosis.findings[0].where.function}?" in suggested


def test_a_word_that_only_the_system_has_a_function_of_is_a_word() -> None:
    kernel = replace(
        calls(("main", "solve", "dot", "schedule")),
        tree=calls(("main", "solve", "dot", "schedule"), module="[kernel.kallsyms]").tree,
    )
    told = match("which schedule should i use", Session(kernel))
    assert (told.tool, told.arguments.get("words")) == ("catalogue", "schedule")
    assert match("who calls schedule", Session(kernel)).arguments == {"name": "schedule"}
