"""What a search saves by loose solves on inner folds, and by leaving trials before all of their folds are solved.

    python benchmarks/search_pruning.py          measures; started again, it continues with the trials that are missing
    python benchmarks/search_pruning.py --page   writes the table of docs/sweeps.md

Trials are drawn at random, so that any order of them is as good as another: every rule is applied to the same measured
solves, in 100 orders.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict

import measured
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from auclab.datasets import load
from auclab.datasets.splits import holdout, kfold
from auclab.estimators import AUCClassifier
from auclab.formulations import RankSVM
from auclab.kernels import RBF

RESULTS, PAGE = measured.ROOT / "docs" / "search_pruning.csv", measured.ROOT / "docs" / "sweeps.md"
COMMAND, PAGE_COMMAND = "python benchmarks/search_pruning.py", "benchmarks/search_pruning.py --page"
FIELDS = ("data", "scorer", "trial", "penalty", "gamma", "fold", "tolerance", "seconds", "auc")
DATA = ("sonar", "ionosphere", "pima", "phoneme")
TRIALS, FOLDS, ORDERS = 32, 5, 100
#: Relative gaps of the solves on inner folds; the first is that of the model that is kept.
TOLERANCES = {"rbf": (1e-3, 1e-2, 1e-1), "linear": (1e-6, 1e-3, 1e-1)}
#: Trials before the first is left, and how far below the best a loose solve may be for an exact one to follow.
FIRST, MARGIN = 5, 0.02


def draws(columns: int) -> list[tuple[float, float]]:
    """λ and γ of all trials, even on the scale of logarithms."""
    rng = np.random.default_rng(0)
    return [(10 ** rng.uniform(-5, 0), 2 ** rng.uniform(-6, 4) / columns) for _ in range(TRIALS)]


def measure_trial(data: str, scorer: str, trial: int) -> list[dict[str, object]]:
    """Seconds of processor time and AUC of every solve of a trial; fold "all": the training part, AUC of the rest."""
    dataset = load(data)
    X, y = np.asarray(dataset.X, float), dataset.y
    split = holdout(y, test_size=0.3, seed=0)[0]
    penalty, gamma = draws(X.shape[1])[trial]
    inner = kfold(y[split.train], n_folds=FOLDS, seed=0)
    parts = [(str(k), split.train[each.train], split.train[each.test]) for k, each in enumerate(inner)]
    rows = []
    for fold, train, test in [*parts, ("all", split.train, split.test)]:
        scaler = StandardScaler().fit(X[train])
        for tolerance in TOLERANCES[scorer][: 1 if fold == "all" else None]:
            kernel = RBF(gamma=gamma) if scorer == "rbf" else None
            classifier = AUCClassifier(RankSVM(penalty, squared=True), kernel=kernel, tolerance=tolerance)
            start = time.process_time()
            classifier.fit(scaler.transform(X[train]), y[train])
            seconds = time.process_time() - start
            auc = roc_auc_score(y[test], classifier.decision_function(scaler.transform(X[test])))
            made = (data, scorer, trial, penalty, gamma, fold, tolerance, seconds, float(auc))
            rows.append(dict(zip(FIELDS, made, strict=True)))
    return rows


def measure() -> None:
    """All trials that the results file does not have."""
    whole = len(TOLERANCES["rbf"]) * FOLDS + 1
    kept = measured.read(RESULTS) if RESULTS.exists() else []
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    for row in kept:
        counts[row["data"], row["scorer"], row["trial"]] += 1
    kept = [row for row in kept if counts[row["data"], row["scorer"], row["trial"]] == whole]
    for scorer in TOLERANCES:  # compiled code is loaded
        measure_trial("sonar", scorer, 0)
    with measured.writer(RESULTS, COMMAND, FIELDS, kept) as keep:
        for data in DATA:
            for scorer in TOLERANCES:
                for trial in range(TRIALS):
                    if counts[data, scorer, str(trial)] != whole:
                        for row in measure_trial(data, scorer, trial):
                            keep(row)


class Trials:
    """The measured solves of one data set: arrays by trial and fold, for each tolerance."""

    def __init__(self, rows: list[measured.Row], scorer: str) -> None:
        shape, tolerances = (TRIALS, FOLDS), TOLERANCES[scorer]
        self.auc = {each: np.full(shape, np.nan) for each in tolerances}
        self.seconds = {each: np.full(shape, np.nan) for each in tolerances}
        self.kept = np.zeros(TRIALS)
        self.test = np.zeros(TRIALS)
        for row in rows:
            trial, seconds, auc = int(row["trial"]), float(row["seconds"]), float(row["auc"])
            if row["fold"] == "all":
                self.kept[trial], self.test[trial] = seconds, auc
            else:
                at = trial, int(row["fold"])
                self.auc[float(row["tolerance"])][at] = auc
                self.seconds[float(row["tolerance"])][at] = seconds
        self.tight, self.loose, self.looser = tolerances


def all_folds(trials: Trials, order: np.ndarray, tolerance: float) -> tuple[float, int]:
    """Every fold of every trial, and a model of each on the whole training part: seconds, and the chosen trial."""
    seconds = trials.seconds[tolerance].sum() + trials.kept.sum()
    return float(seconds), int(order[np.argmax(trials.auc[tolerance].mean(axis=1)[order])])


def with_pruning(trials: Trials, order: np.ndarray, tolerance: float) -> tuple[float, int]:
    """A trial is left after a fold where its mean is below the median, up to that fold, of those before it."""
    means: list[np.ndarray] = []
    seconds, best, chosen = 0.0, -np.inf, -1
    for trial in order:
        running = np.cumsum(trials.auc[tolerance][trial]) / np.arange(1, FOLDS + 1)
        limits = np.median(means, axis=0) if len(means) >= FIRST else np.full(FOLDS, -np.inf)
        left = np.flatnonzero(running[:-1] < limits[:-1])
        done = left[0] + 1 if len(left) else FOLDS
        seconds += trials.seconds[tolerance][trial, :done].sum()
        if done == FOLDS:
            means.append(running)
            seconds += trials.kept[trial]
            if running[-1] > best:
                best, chosen = running[-1], int(trial)
    return float(seconds), chosen


def coarse_to_fine(trials: Trials, order: np.ndarray, coarse: float) -> tuple[float, int]:
    """Loose solves first; those of all folds again, tight, where the mean is within the margin of the best so far."""
    seconds, best, chosen = 0.0, -np.inf, -1
    for trial in order:
        seconds += trials.seconds[coarse][trial].sum()
        if trials.auc[coarse][trial].mean() < best - MARGIN:
            continue
        seconds += trials.seconds[trials.tight][trial].sum() + trials.kept[trial]
        if (value := trials.auc[trials.tight][trial].mean()) > best:
            best, chosen = value, int(trial)
    return float(seconds), chosen


#: What is compared, by the words of the table.
RULES = {
    "all folds, loose": lambda trials, order: all_folds(trials, order, trials.loose),
    "all folds, loosest": lambda trials, order: all_folds(trials, order, trials.looser),
    "left by the median": lambda trials, order: with_pruning(trials, order, trials.tight),
    "left by the median, loose": lambda trials, order: with_pruning(trials, order, trials.loose),
    "loosest, then tight": lambda trials, order: coarse_to_fine(trials, order, trials.looser),
}


def shares(rows: list[measured.Row]) -> dict[tuple[str, str], dict[str, tuple[float, float]]]:
    """By scorer and data: "seconds" of all tight solves; of every rule its share of them, and what it loses."""
    blocks: dict[tuple[str, str], list[measured.Row]] = defaultdict(list)
    for row in rows:
        blocks[row["scorer"], row["data"]].append(row)
    found = {}
    for (scorer, data), block in sorted(blocks.items(), key=lambda each: (each[0][0] == "linear", each[0][1])):
        trials = Trials(block, scorer)
        value = trials.auc[trials.tight].mean(axis=1)
        whole = float(trials.seconds[trials.tight].sum() + trials.kept.sum())
        found[scorer, data] = {"seconds": (whole, 0.0)}
        for name, rule in RULES.items():
            rng = np.random.default_rng(0)
            taken = [rule(trials, rng.permutation(TRIALS)) for _ in range(ORDERS)]
            lost = np.mean([value.max() - value[chosen] for _, chosen in taken])
            found[scorer, data][name] = (float(np.mean([seconds for seconds, _ in taken])) / whole, float(lost))
    return found


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """Processor seconds of all tight solves, and of every rule its share of them and the inner AUC that it loses."""
    lines = [
        [data, scorer, measured.significant(block["seconds"][0])]
        + [f"{share:.2f} ({lost:.4f})" for name, (share, lost) in block.items() if name != "seconds"]
        for (scorer, data), block in shares(rows).items()
    ]
    return {"rules": measured.table(["data", "scorer", "seconds", *RULES], lines)}


def sentences(rows: list[measured.Row]) -> list[str]:
    """What docs/sweeps.md says of the table."""
    blocks = shares(rows).values()

    def ends(name: str) -> str:
        every = [block[name][0] for block in blocks]
        return f"{min(every):.2f} to {max(every):.2f}"

    losses = sorted(block["left by the median, loose"][1] for block in blocks)
    return [
        f"loose solves take {ends('all folds, loose')} of the processor time",
        f'pruning ("left by the median") takes {ends("left by the median")}',
        f"both together {ends('left by the median, loose')}. The inner AUC of the choice is lower by at most "
        f"{losses[-1]:.4f}, and by {losses[-2]:.4f} in the second worst of the {len(losses)} cases",
        f"takes {ends('loosest, then tight')}, because the best ones are solved twice",
    ]


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the table into docs/sweeps.md")
    if parser.parse_args().page:
        rows = measured.read(RESULTS)
        measured.fill(PAGE, PAGE_COMMAND, tables(rows))
        print(*sentences(rows), sep="\n")
    else:
        measure()


if __name__ == "__main__":
    main()
