"""docs/scorecards_study.md and its figure from results/splits.csv: ``python -m experiments.scorecards.page``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from auclab.displays.canvas import BLUE, GREY, INK, PALE, RED, despine
from experiments.drawing import draw, panels
from experiments.scorecards.differences import PAIRS, SCORERS, SPLITS, Difference, difference, kept_values, means
from experiments.scorecards.splits import SETS
from experiments.study import FOLDER, read

PAGE = FOLDER.parent / "docs" / "scorecards_study.md"
PLACE = FOLDER.parent / "docs" / "scorecards"
NAMES = {
    **{"card5": "card, 5 items", "rounded5": "rounded, 5 items", "card10": "card, 10 items"},
    **{"rounded10": "rounded, 10 items", "logistic": "logistic", "ranksvm": "RankSVM²"},
}
#: Measure to its name and how many digits are shown.
MEASURES = {
    "auc": ("test AUC", 3),
    "bauc": ("test bAUC", 3),
    "size": ("items or columns with a weight", 1),
    "seconds": ("processor seconds", 2),
    "gap": ("certified gap, %", 1),
}
#: The solver's relative tolerance: up to it a card is proved optimal.
TOLERANCE = 1e-6


def page() -> str:
    """Text of the page."""
    values = kept_values()
    found = {key: [difference(values, key, *pair) for pair in PAIRS] for key in ("auc", "bauc")}
    command, origin, _ = read(SPLITS)
    parts = [_HEAD.format(command=command, origin=origin, tests=sum(map(len, found.values())), **_numbers(values))]
    for key, title in (("auc", "Test AUC"), ("bauc", "Test bAUC")):
        shown = [name for name in SETS if any(each.significant[name] for each in found[key])]
        parts.append(f"{title}:\n\n{_differences(found[key], shown)}\n")
    return "\n".join(parts)


def _numbers(values: pd.DataFrame) -> dict[str, object]:
    """What the text cites: the means, and how often a card is proved optimal."""
    gaps = values[values["measure"] == "gap"].assign(proved=lambda table: table["value"] <= TOLERANCE)
    proved, largest = gaps.groupby("scorer")["proved"].sum(), gaps.groupby("scorer")["value"].max()
    return {
        "overall": _overall(values),
        **{f"{key}_{name}": _number(means(values, key)[name].mean(), 3) for key in ("auc", "bauc") for name in SCORERS},
        **{f"proved_{name}": int(proved[name]) for name in ("card5", "card10")},
        **{f"gap_{name}": f"{100 * largest[name]:.0f} %" for name in ("card5", "card10")},
        "splits": values["seed"].nunique() * len(SETS),
    }


def _overall(values: pd.DataFrame) -> str:
    tables = {key: means(values, key).mean() for key in MEASURES}
    rows = [[NAMES[name], *(_cell(tables[key].get(name), key) for key in MEASURES)] for name in SCORERS]
    return _table(["mean over ten sets", *(name for name, _ in MEASURES.values())], rows)


def _differences(found: list[Difference], shown: Iterable[str]) -> str:
    rows = [[name, *(_tested(each.by_set[name], each.p_values[name]) for each in found)] for name in shown]
    rows.append(["**mean, signed ranks**", *(f"**{_tested(each.mean, each.signed_rank)}**" for each in found)])
    rows.append(["sets where the card is better", *(f"{each.better} of {len(SETS)}" for each in found)])
    better = [int((each.significant & (each.by_set > 0)).sum()) for each in found]
    worse = [int((each.significant & (each.by_set < 0)).sum()) for each in found]
    rows.append(["p < .05: better, worse", *(f"{more}, {less}" for more, less in zip(better, worse, strict=True))])
    head = ["5 items: card − rounded", "10: card − rounded", "10: card − logistic", "10: card − RankSVM²"]
    return _table(["data set", *head], rows)


def _tested(value: float, p_value: float) -> str:
    sign = "−" if value < 0 else "+"
    p = "p < .001" if p_value < 0.001 else f"p = {_number(p_value, 2 if p_value >= 0.1 else 3)}"
    return f"{sign}{_number(abs(value), 3)} ({p})"


def _cell(value: float | None, key: str) -> str:
    if value is None:
        return ""
    return _number(100 * value if key == "gap" else value, 3 if key == "seconds" and value < 0.1 else MEASURES[key][1])


def _number(value: float, digits: int) -> str:
    """Without the zero before the point."""
    return f"{value:.{digits}f}".removeprefix("0") if digits > 1 else f"{value:.{digits}f}"


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def differences() -> Figure:
    """The card against the other scorer of a pair, by test AUC and by test bAUC: a dot per data set."""
    values = kept_values()
    figure, axes = panels(1, 2, (6.6, 2.3), sharey=True)
    for ax, key in zip(axes, ("auc", "bauc"), strict=True):
        for height, pair in enumerate(PAIRS):
            _dots(ax, height, difference(values, key, *pair))
        ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        ax.set_xlabel(f"{MEASURES[key][0]}, card − the other")
        ax.grid(axis="x", color=PALE)
        despine(ax)
    labels = [f"{NAMES[first]}\n− {NAMES[second]}" for first, second in PAIRS]
    axes[0].set_yticks(range(len(PAIRS)), labels)
    axes[0].invert_yaxis()
    return figure


def _dots(ax: Axes, height: float, found: Difference) -> None:
    """Red triangles: the test of the set has p < .05; the line is the mean."""
    for place, name in enumerate(sorted(SETS, key=found.by_set.__getitem__)):
        significant = bool(found.significant[name])
        shift = 0.44 * place / (len(found.by_set) - 1) - 0.22
        colour, mark = (RED, "^") if significant else (BLUE, "o")
        ax.plot(found.by_set[name], height + shift, mark, color=colour, ms=4, mew=0)
    ax.plot([found.mean] * 2, [height - 0.33, height + 0.33], color=INK, linewidth=1.4, zorder=1)


def main(target: Path = PAGE) -> None:
    """Write the page and draw the figure."""
    target.write_text(page(), encoding="utf-8")
    draw({"differences": differences}, PLACE)


_HEAD = """# Scorecards against rounding: a study

Generated by `python -m experiments.scorecards.page` from `experiments/scorecards/results/splits.csv`
(`{command}`;
{origin}).

**In short.** [Scorecards](scorecards.md) that are optimal on the training rows (proved in most splits) are not better
on new rows than a rounded logistic regression on the same candidate items. On average they are slightly worse. With 5
items the card has test AUC {auc_card5}, the rounded regression {auc_rounded5} (bAUC {bauc_card5} and
{bauc_rounded5}); with 10 items {auc_card10} and {auc_rounded10} (bAUC {bauc_card10} and {bauc_rounded10}). Logistic
regression on all columns has {auc_logistic}, RankSVM with a squared penalty {auc_ranksvm}. The means of all but
RankSVM are within .021 of each other in AUC.

## What was run

The study has ten medical and credit data sets with ten splits each, 70 % for training, and at most 2,000 training and
5,000 test rows (a limit for mammography and adult).

* **card**: `ScorecardClassifier` with at most 5 or 10 items of 12 candidates, points −5 to 5, ten seconds of
  search (wall-clock time of a busy machine), tolerance 10⁻⁶.
* **rounded**: the usual practice. An l1 logistic regression selects 5 or 10 of the same 12 candidates. A logistic
  regression almost without penalty is fitted to these. Its coefficients are divided by the largest absolute value,
  multiplied by 5, and rounded.
* **logistic**: scikit-learn's logistic regression (C = 1) of all standardised columns.
* **RankSVM²**: `AUCClassifier("ranksvm", squared=True)` of the same columns, with the penalty chosen
  among five values on 3 inner folds.

Seconds are for fitting. Those of a card include the search for candidates, which `rounded` reuses; those of RankSVM²
include the inner folds. The cards were not tuned: neither a penalty, nor the number of candidates, nor the binning.

{overall}

## What a certified card gives

* **A proof about the training rows.** The search includes the rounded card: it has the same candidates, at most as
  many items, and points in the same range. If a card is proved optimal, no such card has a smaller pair hinge on
  these rows at the margins of the grid (to 10⁻⁶). Of {splits} splits this holds for {proved_card10} with 10 items and
  {proved_card5} with 5. The others have a bound with gaps of at most {gap_card10} and {gap_card5} (for breast_cancer,
  relative to an objective near 0). Five of twelve items are harder to prove than ten.
* **Exact limits and signs.** Limits on items or features, the range of points and `signs` are part of one optimisation
  problem, and the proof is for the cards that satisfy them. The usual steps (select, fit, divide, round) may each lose
  something.

## What it does not give

* **A better ranking of new rows.** With 10 items the rounded regression has the larger test AUC on all ten sets, by
  less than .012. This is small and on no single set significant, but it is significant over the sets. With 5 items
  the differences are larger and have both signs: the card is better on breast_cancer and breast_wisconsin_original,
  and worse by more than .01 on four sets, by .036 on german_credit.
* **A statement about new rows.** The gap is about the training rows. A card has no penalty to tune. RankSVM² has one,
  and real coefficients for all columns; its test AUC is larger on nine of ten sets.
* **Speed.** A card takes seconds, a rounded regression hundredths of a second.

The study does not explain why the optimum on the training rows is worse on new rows. Choose a card for its proof and
its constraints. If only the ranking of new rows matters, rounding is at least as good and faster, and a tuned scorer
with real coefficients is better on most sets.

## Paired tests

![Differences of test AUC and bAUC, card minus the other scorer, a dot per data set](scorecards/differences.png)

*One dot per set: mean difference over ten splits. Black: mean over the sets. Red triangles: p < .05 on that set.*

For a single set the tables have the mean difference over ten splits and the p-value of the corrected paired t-test
(Nadeau & Bengio 2003) with the ratio of test to training rows, 0.43 (1.68 for mammography and 2.5 for adult, which
makes the test conservative). Over the sets they have Wilcoxon's signed-rank test of the ten mean differences. No
p-value is adjusted. Of {tests} comparisons over the sets, those of 10 items with rounding (AUC and bAUC) stay below
.05 after Holm's correction, which allows for the number of tests; the others do not. Of the single sets the tables have
those with p < .05; the values of all are in the file of results.
"""


if __name__ == "__main__":
    main()
