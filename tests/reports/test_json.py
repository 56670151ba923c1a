"""The JSON is a contract with other programs."""

from __future__ import annotations

import json

import jsonschema
import pytest

from chathpc.report import Report
from chathpc.reports import renderers
from chathpc.reports.style import Style
from tests.reports.sample import sample

#: Keys that programs rely on; more may come, none may go.
CONTRACT = {
    "": "schema profile verdict findings hypotheses evidence explanation examined flat flat_metric pruning timings versions",
    "profile": "format paths title run contexts locations metrics caveats not_collected",
    "profile.metrics.0": "id source_name unit total",
    "findings.0": "cause title where seconds share speedup_if_free speedup_bound typical_gain confidence evidence against advice change "
    "next_measurement origin status",
    "findings.0.change": "file line says edits",
    "findings.0.where": "function file line kernel path",
    "hypotheses.0": "id cause name where mechanism cites against confidence share trial change status by",
    "hypotheses.0.change.0": "file search replace",
    "evidence.0": "id kind statement subject metric value unit whole parts where source",
    "explanation": "text model audience statements note lack usage",
    "explanation.statements.0": "kind text cites by dropped_because",
    "examined": "run skipped",
    "examined.skipped.0": "checks reason remedy",
    "flat.0": "name share own",
    "pruning": "contexts_before contexts_after metrics_before metrics_after time_kept_share tokens",
}


def written(report: Report) -> dict[str, object]:
    return json.loads(renderers()["json"](report, Style()))  # type: ignore[no-any-return]


@pytest.mark.parametrize("path", CONTRACT)
def test_every_key_of_the_contract_is_there(path: str) -> None:
    part: object = written(sample(reader="m"))
    for step in filter(None, path.split(".")):
        part = part[int(step)] if isinstance(part, list) else part[step]  # type: ignore[index]
    assert isinstance(part, dict)
    assert set(CONTRACT[path].split()) <= set(part)


def test_the_top_level_has_these_keys_and_no_others() -> None:
    assert set(written(sample())) == {*CONTRACT[""].split(), "headline", "notes", "tree", "view"}


def test_the_json_is_valid_under_the_schema_of_the_report() -> None:
    schema = Report.model_json_schema(by_alias=True, mode="serialization")
    for report in (sample(), sample(model="m"), sample(reader="m")):
        jsonschema.validate(written(report), schema)


def test_reading_the_json_gives_the_same_report() -> None:
    report = sample(model="m")
    assert Report.model_validate_json(renderers()["json"](report, Style())) == report


def test_the_json_names_its_schema() -> None:
    assert written(sample())["schema"] == "chathpc-report/2"


def test_a_path_that_is_not_utf8_and_a_number_that_is_not_finite_are_valid_json() -> None:
    report = sample()
    profile = report.profile.model_copy(update={"paths": ["/data/d\udcff"]})
    finding = report.findings[0].model_copy(update={"speedup_bound": float("inf")})
    report = report.model_copy(update={"profile": profile, "findings": [finding]})
    content = json.loads(renderers()["json"](report, Style()).encode("ascii"), parse_constant=pytest.fail)
    assert content["profile"]["paths"] == ["/data/d\N{REPLACEMENT CHARACTER}"]
    assert content["findings"][0]["speedup_bound"] is None
    for form in ("text", "markdown"):
        renderers()[form](report, Style(verbose=True)).encode("utf-8")
