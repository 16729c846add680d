"""`auclab check` on a hundred stored runs, and on every one of twelve changes of such a run by hand.

    OMP_NUM_THREADS=1 AUCLAB_DATA=../shared/data python benchmarks/check_runs.py --folder /tmp/check_runs

Runs of every formulation on real data sets by several solvers are made (those already in the folder are kept), checked
with `auclab check` as they lie there, and listed: what is refuted or not checked by name, and the seconds it took.
Then copies are changed (`tests/tampered_runs.py`), and the claims that are refuted are listed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from auclab._core.base import AuclabError
from auclab.runs.checking.claims import Verdict
from auclab.runs.checking.command import check_folder, exit_code
from auclab.runs.config.compose import compose_experiment
from auclab.runs.experiment import run_experiment

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from tampered_runs import OF_DATA, OF_RUNS, read_certificate, write_limited

DATASETS = (
    *("breast_cancer", "ionosphere", "sonar", "pima", "heart_statlog", "liver_disorders", "house_votes", "wpbc"),
    *("german_credit", "monks1", "abalone", "mammography", "spambase", "phoneme"),
)
#: A formulation with its parameters, and the solvers that are asked.
SOLVES = (
    ("bauc", (), ("auto", "newton", "highs")),
    ("ranksvm", ("formulation.penalty=0.05",), ("auto", "newton")),
    ("ranksvm", ("formulation.penalty=0.02", "formulation.norm=l1"), ("auto", "cutting_plane")),
    ("ranksvm", ("formulation.penalty=0.01", "formulation.squared=true"), ("auto",)),
    ("generalized_bauc", ("formulation.threshold=-0.1",), ("auto",)),
    ("csvm", ("formulation.penalty=0.02",), ("auto", "newton")),
    ("ecsvm", ("formulation.threshold=-0.05", "formulation.norm=l1"), ("auto",)),
    ("ecsvm", ("formulation.threshold=0.0",), ("auto",)),
    ("partial_auc", ("formulation.max_fpr=0.3",), ("auto",)),
    ("partial_auc", ("formulation.max_fpr=0.2", "formulation.penalty=0.02"), ("auto",)),
)


def settings(count: int) -> Iterator[tuple[str, list[str]]]:
    """Name and overrides of as many runs: every solve in turn on the next data set."""
    solves = [(name, options, solver) for name, options, solvers in SOLVES for solver in solvers]
    each = min(len(DATASETS), -(-count // len(solves)))
    for first, (name, options, solver) in enumerate(solves):
        for dataset in (DATASETS * 2)[first % len(DATASETS) :][:each]:
            label = f"{dataset}-{name}-{'-'.join(option.partition('=')[2] for option in options) or 'plain'}-{solver}"
            yield label, [f"dataset={dataset}", f"formulation={name}", *options, f"solver={solver}"]


def make(folder: Path, overrides: list[str]) -> bool:
    """One run in the folder, unless it is there; False if it cannot be made."""
    if (folder / "certificate.json").exists():
        return True
    fixed = ["tracking=none", "bounds=none", "metrics=auc", "solver.time_limit=60"]
    try:
        run_experiment(compose_experiment([*fixed, *overrides]), folder=folder)
    except AuclabError as error:
        print(f"  not made: {folder.name}: {error}")
        return False
    return True


def check_all(folders: list[Path]) -> None:
    """Check the runs, and print what is not confirmed and a table of the verdicts."""
    codes: Counter[str] = Counter()
    seconds = []
    for folder in folders:
        began = perf_counter()
        checks = check_folder(folder)
        seconds.append(perf_counter() - began)
        certificate = read_certificate(folder)
        verdict = {0: "confirmed", 1: "refuted", 2: "not checked"}[exit_code(checks)]
        codes[f"{certificate['status']}: {verdict}"] += 1
        for claim in (claim for check in checks for claim in check.claims if claim.verdict is not Verdict.CONFIRMED):
            print(f"  {folder.name}: {claim.name}: claimed {claim.claimed}, {claim.found}: {claim.verdict}")
    for key, count in sorted(codes.items()):
        print(f"{count:4d}  {key}")
    print(f"{len(folders)} runs, {sum(seconds):.1f} s with preparing the data; longest {max(seconds):.2f} s")


def check_changed(folder: Path, place: Path) -> None:
    """Change a copy in every way, and print which claims are refuted."""
    for change, edit in (OF_RUNS | OF_DATA).items():
        copy = place / f"changed-{change.replace(' ', '-')}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder / {"status": "stopped", "norm_bound": "limited"}.get(change, "plain"), copy / "run")
        shutil.copy(folder / "data.csv", copy / "data.csv")
        path = copy / "run" / "config.yaml"
        path.write_text(path.read_text("utf-8").replace(str(folder / "data.csv"), str(copy / "data.csv")), "utf-8")
        edit(copy / "data.csv" if change in OF_DATA else copy / "run")
        refuted = [
            f"{claim.name} ({claim.verdict})" for check in check_folder(copy / "run") for claim in check.claims
            if claim.verdict in (Verdict.REFUTED, Verdict.UNPROVED)
        ]  # fmt: skip
        print(f"  {change:12} {'caught by ' + ', '.join(refuted) if refuted else 'NOT CAUGHT'}")


def make_for_changes(place: Path) -> Path:
    """Runs on a csv file of their own, which may be changed."""
    from sklearn.datasets import load_breast_cancer

    folder = place / "to-change"
    folder.mkdir(parents=True, exist_ok=True)
    table = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 4, 8, 9, 30]]
    table.columns = [*"abcde", "y"]
    table.to_csv(folder / "data.csv", index=False)
    data = ["dataset=file", f"dataset.path={folder / 'data.csv'}", "dataset.target=y", "split=none"]
    make(folder / "plain", [*data, "formulation=ranksvm", "formulation.penalty=0.03"])
    make(folder / "stopped", [*data, "formulation=ranksvm", "solver=cutting_plane", "solver.max_iters=4"])
    write_limited(folder, lambda overrides: make(folder / "limited", overrides))
    return folder


def main() -> None:
    """Make, check, change, check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/check_runs"), help="where the runs are kept")
    parser.add_argument("--runs", type=int, default=105, help="about as many runs (default: 105)")
    arguments = parser.parse_args()
    place = arguments.folder
    made = [place / name for name, overrides in settings(arguments.runs) if make(place / name, overrides)]
    check_all(made)
    check_changed(make_for_changes(place), place)


if __name__ == "__main__":
    main()
