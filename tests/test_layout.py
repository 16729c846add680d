"""The layout of the package: no loose modules at its top, and a folder of tests for every package."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.lint

REPOSITORY = Path(__file__).parents[1]
PACKAGE, TESTS = REPOSITORY / "src" / "auclab", REPOSITORY / "tests"
#: Modules that may lie at the top of the package.
TOP = {"__init__.py", "__main__.py", "testing.py"}


def packages():
    """Folders of the package that hold Python modules."""
    return sorted(folder.name for folder in PACKAGE.iterdir() if any(folder.glob("*.py")))


def test_no_loose_modules():
    assert {path.name for path in PACKAGE.glob("*.py")} <= TOP


def test_every_package_has_tests():
    missing = [name for name in packages() if not any((TESTS / name).glob("**/test_*.py"))]
    assert {"formulations", "solvers", "metrics"} <= set(packages())
    assert missing == []


def test_every_folder_of_tests_has_its_package():
    folders = [folder.name for folder in TESTS.iterdir() if any(folder.glob("**/test_*.py"))]
    # extension/ has pieces from outside the package; fuzz/ draws inputs at random; messages/ lists what is said;
    # matrix/ has every scorer with every use.
    assert sorted(folders) == sorted([*packages(), "experiments", "extension", "fuzz", "matrix", "messages"])


def test_modules_are_imported_by_path():
    """Every package folder is a package: a folder without __init__.py would be left out of some tools."""
    folders = {path.parent for path in PACKAGE.glob("**/*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []
