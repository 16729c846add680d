"""The workflows of .github run what .ci/run and CONTRIBUTING.md run, on the versions that pyproject.toml names."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.lint

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = ROOT / ".ci" / "run"


def commands(path: Path) -> list[str]:
    """The shell lines of a workflow."""
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
    return [line for job in jobs for step in job["steps"] for line in step.get("run", "").splitlines()]


def test_steps_are_those_of_ci():
    """A step that .ci/run does not know ends it with 2; the matrix of checks and the tests are all its steps."""
    known = set(re.findall(r"^(\w+)\(\) \{", CI.read_text(encoding="utf-8"), re.MULTILINE))
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    called = {word for path in WORKFLOWS for line in commands(path) for word in re.findall(r"\.ci/run (\w+)", line)}
    named = [*tests["jobs"]["checks"]["strategy"]["matrix"]["step"], "tests", "weekly"]
    assert named == ["style", "site", "wheel", "tests", "weekly"]
    assert called <= set(named) <= known
    assert f'" {" ".join(named)} "' in CI.read_text(encoding="utf-8")


def test_an_unknown_step_is_refused():
    done = subprocess.run(["bash", CI, "stile"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.strip() == "no step stile; choose among style, site, wheel, tests, weekly"


def test_pythons_are_those_of_the_classifiers():
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    versions = [found[1] for entry in classifiers if (found := re.search(r"Python :: (3\.\d+)$", entry))]
    matrices = {
        name: yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))["jobs"][
            "tests"
        ]["strategy"]["matrix"]["python"]
        for name in ("tests", "nightly")
    }
    assert matrices == {"tests": [versions[0], versions[-1]], "nightly": versions}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_are_written_down(path: Path):
    """What a workflow runs beside .ci/run is in CONTRIBUTING.md, the README, or the README of the benchmark."""
    pages = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", ROOT / "benchmarks" / "benchopt_ranksvm" / "README.md"]
    told = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    own = [line for line in commands(path) if ".ci/run" not in line and not line.startswith(("test ", "source "))]
    known = lambda line: re.sub(r" --seed \$\{\{.*?\}\}", "", line).replace('"$GITHUB_REF_NAME"', "v0.3.0")  # noqa: E731
    assert [line for line in own if known(line) not in told] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_rights_are_stated(path: Path):
    """No workflow has more rights than it names."""
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}
