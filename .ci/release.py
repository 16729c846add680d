"""A release checked from its tag to an installation: versions, changelog, sdist, wheel, commands, missing extras.

    python .ci/release.py v0.3.0                 what the tag holds, built in an empty folder
    python .ci/release.py --rehearse             the same for HEAD; the version may be one that is in development
    python .ci/release.py v0.3.0 --dist dist     keep the two files in this folder

Needs build and twine, and minutes: the environment is fresh. Exit code 1 at the first thing that is wrong.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: The groups of a version in the changelog, in their order (keepachangelog.com).
GROUPS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
#: What is after the number of a version there.
DATED = r"\d{4}-\d{2}-\d{2}"
SMALL = ("dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=20", "dataset.n_features=2", "bounds=none")
#: A command that needs an extra, and what it says where that is missing. `last` is a run that is there.
EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "dask": (("run", *SMALL, "engine=dask"), "pip install 'auclab[dask]'"),
    "slurm": (("run", "-m", *SMALL, "hydra/launcher=slurm", "split.seed=0,1"), "pip install 'auclab[slurm]'"),
    "optuna": (
        ("run", "-m", *SMALL, "hydra/sweeper=optuna", "formulation=ranksvm", "formulation.penalty=interval(0.01,1)"),
        "pip install 'auclab[optuna]'",
    ),
    "onnx": (("export", "last", "--split", "0", "--to", "onnx"), "pip install 'auclab[onnx]'"),
    "remote": (
        ("run", "dataset=blocks", "dataset.path=s3://bucket/rows", "dataset.target=y", "solver=newton"),
        "pip install 'auclab[remote]'",
    ),
    "postgresql": (("runs", "--store", "postgresql+psycopg://me@127.0.0.1/runs"), "pip install 'auclab[postgresql]'"),
}
#: Extras without a command of their own: tools for the repository, what studies need, and
#: readers of files that a release has not at hand.
TOOLS = ("dev", "docs", "weka", "survival", "tables")
SOLVE = """
import auclab, numpy as np
from sklearn.utils.estimator_checks import check_estimator
from auclab.estimators import AUCClassifier
assert "site-packages" in auclab.__file__, auclab.__file__
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
solution = auclab.solve(auclab.RankSVM(0.1, squared=True), X, y)
assert str(solution.status) == "optimal" and solution.lower_bound <= solution.objective, solution
check_estimator(AUCClassifier())
print("solved, and check_estimator passed")
"""


def main() -> None:
    """Check a tag, or HEAD."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tag", nargs="?", help="such as v0.3.0")
    parser.add_argument("--rehearse", action="store_true", help="HEAD, whatever its version")
    parser.add_argument("--dist", type=Path, help="where the sdist and the wheel are kept")
    options = parser.parse_args()
    if (options.tag is None) != options.rehearse:
        parser.error("name a tag, or --rehearse")
    with tempfile.TemporaryDirectory(prefix="release-") as place:
        folder = Path(place)
        source = exported("HEAD" if options.rehearse else options.tag, folder / "source")
        version = stated_version(source)
        for fault in faults(source, version, tag=options.tag):
            sys.exit(f"error: {fault}")
        files = built(source, folder / "dist")
        look_into(*files, version)
        installed(files[1], folder, version)
        if options.dist is not None:
            options.dist.mkdir(parents=True, exist_ok=True)
            for file in files:
                shutil.copy2(file, options.dist)
    print(f"auclab {version}: every step passed")


def exported(name: str, folder: Path) -> Path:
    """The files of a commit, and nothing else of the checkout."""
    folder.mkdir()
    archive = folder.with_suffix(".tar")
    run("git", "archive", "--output", str(archive), name, folder=ROOT)
    with tarfile.open(archive) as content:
        content.extractall(folder, filter="data")
    return folder


def stated_version(source: Path) -> str:
    """The version in the one place that states it."""
    text = (source / "src" / "auclab" / "__init__.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return str(found)


def faults(source: Path, version: str, *, tag: str | None) -> list[str]:
    """What in the files does not fit the version; of a tag the version is that of a release."""
    found = []
    citation = (source / "CITATION.cff").read_text(encoding="utf-8")
    if f"\nversion: {version}\n" not in citation:
        found.append(f"CITATION.cff does not state version {version}")
    if f'  version: "{version}"\n' not in (source / "recipe" / "recipe.yaml").read_text(encoding="utf-8"):
        found.append(f"recipe/recipe.yaml does not state version {version}")
    heading, wrong = changelog_faults((source / "CHANGELOG.md").read_text(encoding="utf-8"))
    found += wrong
    if tag is not None:
        if tag != f"v{version}":
            found.append(f"the tag is {tag}, and the version {version}")
        if not re.fullmatch(rf"{re.escape(version)} \({DATED}\)", heading):
            found.append(f"CHANGELOG.md begins with {heading!r}; a release has its date: {version} (YYYY-MM-DD)")
    return found


def changelog_faults(text: str) -> tuple[str, list[str]]:
    """The first heading of a version, and what is not in the form of keepachangelog.com."""
    found = []
    versions = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    for part in versions:
        heading, _, body = part.partition("\n")
        if not re.fullmatch(rf"\d+\.\d+(\.\d+)? \((unreleased|not released|{DATED})\)", heading):
            found.append(f"CHANGELOG.md: the heading {heading!r} is not NUMBER (DATE) or NUMBER (unreleased)")
        groups = re.findall(r"^### (.+)$", body, re.MULTILINE)
        if groups != [group for group in GROUPS if group in groups]:
            found.append(
                f"CHANGELOG.md: {heading} has {', '.join(groups)}; a version has {', '.join(GROUPS)}, each once"
            )
    return versions[0].partition("\n")[0], found


def built(source: Path, target: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is made of it alone; both pass twine's check."""
    run(sys.executable, "-m", "build", "--outdir", str(target), str(source), folder=source)
    sdist, wheel = next(target.glob("*.tar.gz")), next(target.glob("*.whl"))
    run(sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel), folder=source)
    return sdist, wheel


def look_into(sdist: Path, wheel: Path, version: str) -> None:
    """Names and contents of the two files."""
    assert (sdist.name, wheel.name) == (f"auclab-{version}.tar.gz", f"auclab-{version}-py3-none-any.whl"), sdist.name
    with tarfile.open(sdist) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    needed = {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "PKG-INFO"}
    needed |= {"conf/config.yaml", "conf/dataset/ionosphere.csv"}
    assert needed <= names, f"the sdist lacks {needed - names}"
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB, {len(names)} files; {wheel.name}: "
          f"{wheel.stat().st_size / 1e6:.1f} MB")  # fmt: skip


def installed(wheel: Path, folder: Path, version: str) -> None:
    """The wheel in a fresh environment and an empty folder: commands, a solve, check_estimator, missing extras."""
    run(sys.executable, "-m", "venv", "fresh", folder=folder)
    scripts = folder / "fresh" / ("Scripts" if os.name == "nt" else "bin")
    python, auclab = str(scripts / "python"), str(scripts / "auclab")
    run(python, "-m", "pip", "install", "--quiet", str(wheel), folder=folder)
    empty = folder / "empty"
    empty.mkdir()
    assert run(auclab, "--version", folder=empty).strip() == f"auclab {version}"
    run(auclab, "run", "solver=highs", "dataset=ionosphere", folder=empty)
    run(auclab, "doctor", folder=empty)
    run(auclab, "check", "last", folder=empty)
    run(python, "-c", SOLVE, folder=empty)
    for extra, (words, line) in EXTRAS.items():
        said = run(auclab, *words, folder=empty, fails=True)
        assert line in said, f"{extra}: {said}"
        assert "Traceback" not in said, f"{extra}: {said}"
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {*EXTRAS, *TOOLS} == set(needed), f"extras without a line: {set(needed) - {*EXTRAS, *TOOLS}}"


def run(*words: str, folder: Path, fails: bool = False) -> str:
    """What a command prints; the end of this one if it ends otherwise than it should."""
    print(
        "·", " ".join(Path(word).name if "/" in word else word.strip().partition("\n")[0] for word in words), flush=True
    )
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHONPATH", "AUCLAB"))}
    environment = kept | {"COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    if (done.returncode != 0) != fails:
        sys.exit(f"error: {' '.join(words)} ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout + done.stderr


if __name__ == "__main__":
    main()
