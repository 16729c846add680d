"""docs/linear_or_kernel.md and its figures from results/splits.csv.

``python -m experiments.which_formulation.nonlinear.pages`` writes all; nothing is trained.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd

from experiments.drawing import draw
from experiments.study import FOLDER
from experiments.which_formulation.nonlinear import tables
from experiments.which_formulation.nonlinear.answers import (
    KERNEL_PAIRS,
    LOSS_PAIRS,
    TREES_PAIRS,
    Difference,
    certificates,
    differences,
    kept_values,
    left_out,
    ranking,
    seconds,
    sources,
)
from experiments.which_formulation.nonlinear.figures import FIGURES
from experiments.which_formulation.nonlinear.scorers import (
    FAMILIES,
    FINE,
    GAMMAS,
    NAMES,
)
from experiments.which_formulation.nonlinear.sets import LEAST_MINORITY, MOST_MINORITY, MOST_TEST, MOST_TRAIN
from experiments.which_formulation.nonlinear.splits import RESULTS, read
from experiments.which_formulation.nonlinear.texts import LINEAR_OR_KERNEL

DOCS = FOLDER.parent / "docs"


def page() -> str:
    """Text of the page."""
    values = kept_values()
    command, origin, _ = read(RESULTS)
    return _wrapped(
        LINEAR_OR_KERNEL.format(command=command, origin=origin, **_study(values), **_cost(values), **_answers(values))
    )


def _wrapped(text: str) -> str:
    """Paragraphs in lines of at most 120 characters; tables, lists and figures as they are."""
    blocks = text.rstrip("\n").split("\n\n")
    kept = ("|", "!", "#", "* ", "Generated", "```")
    found = [
        each if each.startswith(kept) else fill(each, 120, break_long_words=False, break_on_hyphens=False)
        for each in blocks
    ]
    return "\n\n".join(found) + "\n"


def _study(values: pd.DataFrame) -> dict[str, object]:
    """What was run, and what is missing."""
    reasons = left_out()
    sets = values["set"].unique()
    counts = values.groupby("set")["n_train"].first()
    return {
        "sets": len(sets),
        "sources": sources(values).nunique(),
        "catalogue": sum(not str(name).startswith("keel_") for name in sets),
        "keel": sum(str(name).startswith("keel_") for name in sets),
        "fits": len(values),
        "few": sum("fewer than" in row.reason for row in reasons),
        "same": sum(row.reason.startswith("the rows of") for row in reasons),
        "late": sum(row.reason.startswith("the time ended") for row in reasons),
        "failed": sum(bool(row.scorer) for row in reasons),
        "limited": int(values["reason"].str.contains("fit:").sum()),
        "least": LEAST_MINORITY,
        "least_train": int(counts.min()),
        "most_train": MOST_TRAIN,
        "most_minority": MOST_MINORITY,
        "most_test": f"{MOST_TEST:,}",
        "gammas": _list(GAMMAS),
        "fine": f"{FINE:g}".removeprefix("0"),
    }


def _cost(values: pd.DataFrame) -> dict[str, object]:
    """Seconds as multiples, and how often 0 is the optimum of the linear program for partial AUC."""
    spent = seconds(values)
    proved: Any = certificates(values, FINE)
    pairs = [(f"{key}_rbf", f"{key}_linear") for key in FAMILIES]
    times = [spent[kernel] / spent[line] for kernel, line in pairs]
    return {
        "least_times": f"{min(times):.1f}",
        "most_times": f"{max(times):.1f}",
        "as_lightgbm": f"{spent['ranksvm2_rbf'] / spent['lightgbm']:.1f}",
        "as_svc": f"{spent['ranksvm2_rbf'] / spent['svc']:.0f}",
        "null": int(proved.loc["partial_linear", "null"]),
        "null_rbf": int(proved.loc["partial_rbf", "null"]) or "none",
        "null_of": int(proved.loc["partial_linear", "fits"]),
        "proved": f"{int(proved['proved'].sum()):,}",
        "proved_of": f"{int(proved['fits'].sum()):,}",
    }


def _list(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{number:g}".removeprefix("0") for number in numbers)


def _answers(values: pd.DataFrame) -> dict[str, object]:
    """Tables, and the numbers that the text cites."""
    kernel, trees, losses = (differences(values, pairs) for pairs in (KERNEL_PAIRS, TREES_PAIRS, LOSS_PAIRS))
    gain, against = _of(kernel["auc"], "ranksvm2_rbf"), _of(trees["auc"], "ranksvm2_rbf")
    ranks = ranking(values, "auc")
    averages, step = ranks.average_ranks, ranks.critical_difference
    best = str(averages.index[0])
    return {
        "kernel_table": tables.of_pairs(kernel),
        "trees_table": tables.of_pairs(trees),
        "loss_table": tables.of_pairs(losses),
        "d_ranksvm2_rbf": tables.signed(gain.mean),
        "i_ranksvm2_rbf": _interval(gain),
        "m_ranksvm2_rbf": tables.signed(gain.median),
        "clear_sets": _names(sorted({name for each in kernel["auc"] for side in each.clear for name in side})),
        "trees_ranksvm2_rbf": tables.signed(against.mean),
        "trees_interval": _interval(against),
        "trees_wins": against.wins[0],
        "trees_losses": against.wins[1],
        "worse_linear": _names(_of(trees["auc"], "ranksvm2_linear").clear[1]),
        "loss_logistic": tables.signed(losses["auc"][0].mean),
        "loss_csvm2": tables.signed(losses["auc"][1].mean),
        "svc_bauc": tables.number(losses["bauc"][2].mean),
        "svc_bauc_p": tables.probability(losses["bauc"][2].adjusted),
        "friedman": _equation(ranks.f_p_value),
        "critical": f"{step:.2f}",
        "best": NAMES[best],
        "separated": _names([NAMES[str(key)] for key in averages.index[averages >= averages[best] + step]]),
    }


def _interval(each: Difference) -> str:
    return " to ".join(map(tables.signed, each.interval))


def _equation(value: float) -> str:
    """What follows p: "< .001" or "= .034"."""
    text = tables.probability(value)
    return text if text.startswith("<") else f"= {text}"


def _names(sets: list[str]) -> str:
    return ", ".join(sets) or "none"


def _of(found: list[Difference], first: str) -> Difference:
    return next(each for each in found if each.first == first)


def main(docs: Path = DOCS) -> None:
    """Write the page and draw its figures."""
    (docs / "linear_or_kernel.md").write_text(page(), encoding="utf-8")
    draw(FIGURES, docs / "linear_or_kernel")


if __name__ == "__main__":
    main()
