"""docs/generate.py, run on a command line and a report of its own."""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import click
import jsonschema
import pytest

from chathpc.report import ExplanationRecord, ProfileRecord, PruningRecord, Report
from tests.reports.sample import sample

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "generate.py"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = spec_from_file_location("docs_generate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@click.group()
def cli() -> None:
    """Explains."""


@cli.group()
def models() -> None:
    """Weights."""


@models.command()
@click.option("--all", "everything", is_flag=True, help="Every one.")
def pull(everything: bool) -> None:
    """Fetch."""


@cli.command(hidden=True)
def secret() -> None:
    """Not shown."""


def test_every_command_has_a_place_and_hidden_ones_have_none(generate: ModuleType) -> None:
    assert list(generate.commands(cli)) == [(), ("models",), ("models", "pull")]


def test_a_help_page_carries_the_full_command_and_its_options(generate: ModuleType) -> None:
    page = generate.help_page(cli, ("models", "pull"))
    assert page.splitlines()[0] == "Usage: chathpc models pull [OPTIONS]"
    assert "--all   Every one." in page


def test_a_help_page_that_fails_stops_the_run(generate: ModuleType) -> None:
    with pytest.raises(SystemExit, match="chathpc nothing --help ended with 2"):
        generate.help_page(cli, ("nothing",))


def test_check_tells_what_is_out_of_date_and_writes_nothing(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    page = docs / "page.md"
    monkeypatch.setattr(generate, "DOCS", docs)
    monkeypatch.setattr(generate, "pages", lambda: {page: "new\n"})
    page.write_text("old\n")
    assert generate.main(["--check"]) == 1
    assert page.read_text() == "old\n"
    assert "docs/page.md is out of date" in capsys.readouterr().out
    assert generate.main([]) == 0
    assert page.read_text() == "new\n"
    assert generate.main(["--check"]) == 0


def test_a_report_conforms_to_the_published_schema_and_one_without_its_name_does_not(generate: ModuleType) -> None:
    schema = json.loads(generate.schema_page())
    report = Report(
        profile=ProfileRecord(
            format="f",
            paths=[],
            title="",
            shape="",
            run=sample().profile.run,
            contexts=0,
            locations=0,
            metrics=[],
            caveats=[],
            not_collected={},
        ),
        verdict="healthy",
        headline="",
        findings=[],
        evidence=[],
        notes=[],
        explanation=ExplanationRecord(text="", model=None),
        tree=None,
        pruning=PruningRecord(
            contexts_before=0, contexts_after=0, metrics_before=0, metrics_after=0, time_kept_share=1.0, tokens=0
        ),
        timings={},
        versions={},
    )
    written = json.loads(report.to_json())
    jsonschema.validate(written, schema)
    del written["schema"]
    with pytest.raises(jsonschema.ValidationError, match="'schema' is a required property"):
        jsonschema.validate(written, schema)
