"""Every public sample is explained as a careful reader would, or refused with a true reason."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conformance.samples import DATA, Sample, complaint, explain, row, samples

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public samples are not here (CHATHPC_TEST_DATA)")

PAGE = Path(__file__).parents[2] / "docs" / "samples.md"
#: Formats that need an optional package.
PACKAGES = {".ncu-rep": "ncu_report", ".darshan": "darshan", "-otf2": "otf2"}


@pytest.mark.parametrize("sample", list(samples()), ids=lambda sample: sample.file)
def test_a_sample_is_explained_as_a_careful_reader_would(sample: Sample) -> None:
    package = next((name for ending, name in PACKAGES.items() if sample.file.endswith(ending)), None)
    if package is not None and find_spec(package) is None:
        pytest.skip(f"the package {package} is not installed")
    found = explain(sample)
    assert not complaint(sample, found)
    assert row(sample, found) in PAGE.read_text("utf-8").splitlines(), "make it again: its first lines say how"


def test_every_sample_is_in_the_table() -> None:
    listed = {sample.file for sample in samples()}
    folders = {file for file in listed if (DATA / file).is_dir()}
    companions = ("LICENSES/", "PROVENANCE.md", "INDEX.md", "sysinfo.csv", "roofline.csv", "timestamps.csv", "/cube/")
    for path in DATA.rglob("*"):
        name = str(path.relative_to(DATA))
        if path.is_file() and not any(part in name for part in companions) and name not in listed:
            assert any(name.startswith(f"{folder}/") for folder in folders), name
