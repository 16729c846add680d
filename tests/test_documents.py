"""The pages agree with the files: links lead somewhere, every module has its place, versions are one."""

import json
import re
import runpy
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import pytest

import auclab

pytestmark = pytest.mark.lint

ROOT = Path(__file__).parents[1]
#: What a build of the site leaves in docs/.
GENERATED = {ROOT / "docs" / name for name in ("_build", "api", "drawn", "gallery", "repository", "tutorials_python")}
PAGES = sorted(
    path
    for folder in (ROOT, ROOT / "docs", ROOT / "experiments")
    for path in (folder.rglob("*.md") if folder != ROOT else folder.glob("*.md"))
    if not GENERATED & set(path.parents)
)
SOURCE = ROOT / "src" / "auclab"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [link for link in links if link and "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_architecture_names_every_folder_and_only_files_that_exist():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert sorted(name for name in folders if f"{name}/" not in page) == []
    named = set(re.findall(r"`((?:src/|tests/)?[a-z_]+(?:/[a-z_]+)*\.py)`", page))
    assert named
    assert sorted(name for name in named if not ((SOURCE / name).exists() or (ROOT / name).exists())) == []


def test_one_version():
    installed = distribution("auclab")
    origin = json.loads(installed.read_text("direct_url.json") or "{}").get("url")
    if origin in (None, ROOT.as_uri()):  # not that of another checkout
        assert installed.version == auclab.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (\S+)$", citation, re.MULTILINE)[1] == auclab.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    # What is being written for the next version is first, under two numbers.
    assert f"{auclab.__version__}.".startswith(re.search(r"^## (\S+)", changelog, re.MULTILINE)[1] + ".")


def test_hooks_run_what_ci_runs():
    """Every command of .pre-commit-config.yaml is one of .ci/run."""
    hooks = re.findall(r"entry: (\S+(?: [a-z]+)?)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert hooks
    assert [hook for hook in hooks if not re.search(rf"^ *{hook}", steps, re.MULTILINE)] == []


def test_ci_is_a_script_that_can_be_read():
    subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=True)


def test_the_tables_of_all_data_sets_are_those_of_the_results():
    """docs/all_data_sets.md shows what benchmarks/all_data_sets.py measured, and says why where nothing is proved."""
    script = runpy.run_path(str(ROOT / "docs" / "all_data_sets.py"))
    assert script["made"]() in (ROOT / "docs" / "all_data_sets.md").read_text(encoding="utf-8")
    reasons = json.loads(script["REASONS"].read_text(encoding="utf-8"))
    results = script["read"]()
    unexplained = [row for _, row in results[~results["certified"]].iterrows() if not script["reason"](row, reasons)]
    assert unexplained == []
