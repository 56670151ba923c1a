"""The wheel holds the whole package, also what lies behind the links chathpc/adapters, pruners and prompts."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import PathDistribution, version
from pathlib import Path

import pytest

from tests.packaging.contents import ROOT, differences, package_files, wheel_files

pytestmark = [
    pytest.mark.xdist_group("wheel"),
    pytest.mark.skipif(
        int(version("setuptools").split(".")[0]) < 71,
        reason="needs setuptools 71 or newer to build a wheel: pip install 'chathpc[dev]'",
    ),
]

SOURCES = ("setup.cfg", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff")
FOLDERS = ("chathpc", "adapters", "pruners", "prompts")


def build(source: Path, target: Path, *options: str) -> Path:
    """The wheel that `python -m build` makes of the tree in `source`."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = target.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source tree, so that the build leaves nothing behind and finds nothing left behind."""
    copy = tmp_path_factory.mktemp("tree")
    for name in SOURCES:
        shutil.copy(ROOT / name, copy)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture(scope="module")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tree, tmp_path_factory.mktemp("direct"), "--wheel")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*command, str(wheel)], check=True)
    return target


def test_the_links_lead_to_the_real_folders() -> None:
    for name in ("adapters", "pruners", "prompts"):
        link = ROOT / "chathpc" / name
        assert link.is_symlink()
        assert link.readlink() == Path("..") / name


def test_every_file_of_the_package_is_in_the_wheel_and_nothing_else(tree: Path, wheel: Path) -> None:
    assert {"chathpc/py.typed", "chathpc/adapters/__init__.py", "chathpc/prompts/__init__.py"} <= package_files(tree)
    assert differences(tree, wheel) == []


def test_a_wheel_made_from_the_source_distribution_is_the_same(tree: Path, wheel: Path, tmp_path: Path) -> None:
    assert wheel_files(build(tree, tmp_path)) == wheel_files(wheel)


def test_the_linked_packages_are_imported_from_the_installed_wheel(installed: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import chathpc.adapters, chathpc.pruners, chathpc.prompts\n"
        "for module in (chathpc.adapters, chathpc.pruners, chathpc.prompts): print(module.__file__)"
    )
    command = [sys.executable, "-I", "-c", code, str(installed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    home = installed / "chathpc"
    assert done.stdout.split() == [str(home / name / "__init__.py") for name in ("adapters", "pruners", "prompts")]


def test_every_entry_point_leads_to_a_module_of_the_wheel(installed: Path) -> None:
    (metadata,) = installed.glob("chathpc-*.dist-info")
    entry_points = PathDistribution(metadata).entry_points
    assert [point.value for point in entry_points.select(group="console_scripts")] == ["chathpc.__main__:main"]
    for point in entry_points:
        module = installed / point.module.replace(".", "/")
        assert module.with_suffix(".py").is_file() or (module / "__init__.py").is_file(), point
