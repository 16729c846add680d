"""What `.ci/release.py` checks of a release, on texts that are right and wrong; the recipe; lines of missing extras."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import auclab
from auclab.cli.main import main

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
#: Packages that conda-forge splits: the part without what auclab does not use.
CONDA_NAMES = {"cvxpy": "cvxpy-base", "matplotlib": "matplotlib-base"}
#: What each extra installs, as Python imports it.
MODULES = {
    "dask": ("distributed",),
    "slurm": ("hydra_plugins.hydra_submitit_launcher", "submitit"),
    "optuna": ("optuna",),
    "onnx": ("onnx",),
    "remote": ("fsspec", "fsspec.core"),
    "postgresql": ("psycopg",),
}


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_fit_the_version(release):
    assert release.stated_version(ROOT) == auclab.__version__
    assert release.faults(ROOT, auclab.__version__, tag=None) == []


@pytest.mark.parametrize(
    ("tag", "heading", "told"),
    [
        ("v0.4.0", "0.3.0 (2027-01-31)", ["the tag is v0.4.0, and the version 0.3.0"]),
        ("v0.3.0", "0.3.0 (unreleased)", ["begins with '0.3.0 (unreleased)'; a release has its date"]),
        ("v0.3.0", "0.3.0 (2027-01-31)", []),
    ],
)
def test_a_tag_has_its_version_and_a_date(release, tmp_path, tag, heading, told):
    for name, text in {
        "CITATION.cff": "title: x\nversion: 0.3.0\n",
        "recipe/recipe.yaml": 'context:\n  version: "0.3.0"\n',
        "CHANGELOG.md": f"# Changelog\n\n## {heading}\n\n### Added\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = release.faults(tmp_path, "0.3.0", tag=tag)
    assert len(found) == len(told)
    assert all(part in fault for part, fault in zip(told, found, strict=True))
    assert len(release.faults(tmp_path, "0.3.1", tag=None)) == 2  # CITATION.cff, the recipe


def test_the_form_of_the_changelog(release):
    _, found = release.changelog_faults("## 0.3 - soon\n### Added\n\n## 0.2.0 (2026-01-01)\n### Fixed\n### Added\n")
    assert found[0] == "CHANGELOG.md: the heading '0.3 - soon' is not NUMBER (DATE) or NUMBER (unreleased)"
    assert found[1].startswith("CHANGELOG.md: 0.2.0 (2026-01-01) has Fixed, Added; a version has Added, Changed")


def test_the_recipe_needs_what_the_package_needs():
    """The same lower bounds, under the names of conda-forge."""
    filled = re.sub(r"\$\{\{ python_min \}\}", PROJECT["requires-python"].removeprefix(">="), RECIPE)
    recipe = yaml.safe_load(filled)
    needed = [Requirement(line) for line in PROJECT["dependencies"]]
    mine = {CONDA_NAMES.get(each.name, each.name).lower(): each.specifier for each in needed}
    theirs = {each.name: each.specifier for line in recipe["requirements"]["run"] if (each := Requirement(line))}
    assert theirs.pop("python") == Requirement(f"x{PROJECT['requires-python']}").specifier
    assert theirs == mine
    (script,) = recipe["build"]["python"]["entry_points"]
    assert dict([script.split(" = ")]) == PROJECT["scripts"]
    assert recipe["about"]["summary"] == PROJECT["description"]


def test_every_extra_is_looked_at(release):
    assert {*release.EXTRAS, *release.TOOLS} == set(PROJECT["optional-dependencies"])
    assert set(MODULES) == set(release.EXTRAS)


@pytest.mark.parametrize("extra", MODULES)
def test_a_missing_extra_has_one_line(extra, release, store, tmp_path, monkeypatch, capsys):
    """As in a fresh environment; `.ci/release.py` types the same in one."""
    from importlib import metadata

    for name in MODULES[extra]:
        monkeypatch.setitem(sys.modules, name, None)
    known = metadata.version
    absent = lambda name: (_ for _ in ()).throw(metadata.PackageNotFoundError(name)) if name == extra else known(name)  # noqa: E731
    monkeypatch.setattr("auclab.estimators.baselines.version", absent)
    monkeypatch.chdir(tmp_path)
    words, line = release.EXTRAS[extra]
    if words[0] == "export":
        words = (*words, "--store", str(store))
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = [text for text in capsys.readouterr().err.splitlines() if text.startswith("error:")]
    assert ended.value.code == 1
    assert len(said) == 1
    assert line in said[0]


def test_the_list_of_versions_of_the_site():
    """Newest first; the last number is the release that banners lead to, and what is in development is not."""
    spec = importlib.util.spec_from_file_location("site_versions", ROOT / ".ci" / "site_versions.py")
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    found = site.entries(["0.2", "0.3", "dev"], "https://example.org/auclab")
    assert [entry["name"] for entry in found] == ["dev", "0.3 (stable)", "0.2"]
    assert [entry.get("preferred", False) for entry in found] == [False, True, False]
    assert found[2]["url"] == "https://example.org/auclab/0.2/"
    assert site.newest(["dev"]) == "dev"
    assert site.releases(["v0.10.0", "v0.3.0", "v0.3.1", "v0.4.0rc1"]) == {"0.3": "v0.3.1", "0.10": "v0.10.0"}
