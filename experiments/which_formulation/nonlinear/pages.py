"""docs/linear_or_kernel.md, docs/kernels_or_trees.md and their figures from results/splits.csv.

``python -m experiments.which_formulation.nonlinear.pages`` writes all; nothing is trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd

from experiments.drawing import draw
from experiments.study import FOLDER
from experiments.which_formulation.nonlinear import tables
from experiments.which_formulation.nonlinear.answers import (
    KERNEL_PAIRS,
    LEVEL,
    LOSS_PAIRS,
    PROPERTIES,
    TREES_PAIRS,
    Difference,
    certificates,
    correlations,
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
    HARDEST,
    NAMES,
    PENALTIES,
    THRESHOLDS,
)
from experiments.which_formulation.nonlinear.sets import CATALOGUE, LEAST_MINORITY, MOST_MINORITY, MOST_TEST, MOST_TRAIN
from experiments.which_formulation.nonlinear.splits import RESULTS, read
from experiments.which_formulation.nonlinear.texts import KERNELS_OR_TREES, LINEAR_OR_KERNEL

DOCS = FOLDER.parent / "docs"


def pages() -> dict[str, str]:
    """Text of both pages by name."""
    values = kept_values()
    command, origin, _ = read(RESULTS)
    shared = _shared(values) | {"command": command, "origin": origin}
    return {
        "linear_or_kernel": _wrapped(LINEAR_OR_KERNEL.format(**shared, **_linear_or_kernel(values))),
        "kernels_or_trees": _wrapped(KERNELS_OR_TREES.format(**shared, **_kernels_or_trees(values))),
    }


def _wrapped(text: str) -> str:
    """Paragraphs in lines of at most 120 characters; tables, lists, figures and captions as they are."""
    blocks = text.rstrip("\n").split("\n\n")
    kept = ("|", "!", "#", "* ", "*A ", "*C", "*D", "*G", "Generated", "```")
    found = [
        each if each.startswith(kept) else fill(each, 120, break_long_words=False, break_on_hyphens=False)
        for each in blocks
    ]
    return "\n\n".join(found) + "\n"


def _shared(values: pd.DataFrame) -> dict[str, object]:
    reasons = left_out()
    few = [row.set for row in reasons if "fewer than" in row.reason]
    same = [f"{row.set} ({row.reason})" for row in reasons if row.reason.startswith("the rows of")]
    late = [row for row in reasons if row.reason.startswith("the time ended")]
    there = set(sources(values))
    first = [row.set for row in late if row.set in CATALOGUE or row.source not in there]
    failed = [row for row in reasons if row.scorer]
    limited = values["reason"].str.contains("fit:").sum()
    return {
        "sets": values["set"].nunique(),
        "sources": sources(values).nunique(),
        "catalogue": sum(not str(name).startswith("keel_") for name in values["set"].unique()),
        "keel": sum(str(name).startswith("keel_") for name in values["set"].unique()),
        "fits": len(values),
        "few": len(few),
        "few_names": ", ".join(few),
        "same": "; ".join(same),
        "late": len(late),
        "late_names": ", ".join(first) or "none",
        "late_others": len(late) - len(first),
        "failed": len(failed),
        "limited": int(limited),
        "least": LEAST_MINORITY,
        "most_train": MOST_TRAIN,
        "most_minority": MOST_MINORITY,
        "most_test": f"{MOST_TEST:,}",
        "gammas": _list(GAMMAS),
        "penalties": _list(PENALTIES),
        "thresholds": _list(THRESHOLDS),
        "hardest": _list(HARDEST),
        "fine": f"{FINE:g}".removeprefix("0"),
        **_cost(values),
    }


def _cost(values: pd.DataFrame) -> dict[str, object]:
    """Seconds as multiples, and how often 0 is the optimum of the linear program for partial AUC."""
    spent: Any = seconds(values)["median"]
    proved: Any = certificates(values, FINE)
    pairs = [(f"{key}_rbf", f"{key}_linear") for key in FAMILIES]
    times = [spent[kernel] / spent[line] for kernel, line in pairs]
    counts = values.groupby("set")["n_train"].first()
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
        "capped": int((counts == MOST_TRAIN).sum()),
        "least_train": int(counts.min()),
    }


def _list(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{number:g}".removeprefix("0") for number in numbers)


def _linear_or_kernel(values: pd.DataFrame) -> dict[str, object]:
    found = differences(values, KERNEL_PAIRS)
    return {
        "auc_table": tables.of_pairs(values, found["auc"]),
        "measures_table": tables.of_measures(found),
        "largest": tables.largest(values, _of(found["auc"], "ranksvm2_rbf")),
        "significant_pairs": _names(
            [NAMES[each.first].removesuffix(", RBF") for each in found["auc"] if each.adjusted < LEVEL]
        ),
        "properties": tables.of_properties(values, KERNEL_PAIRS),
        **_strongest(values, KERNEL_PAIRS),
        "seconds": tables.of_seconds(values),
        "certificates": tables.of_certificates(values),
        **_numbers(found["auc"]),
    }


def _kernels_or_trees(values: pd.DataFrame) -> dict[str, object]:
    found, losses = differences(values, TREES_PAIRS), differences(values, LOSS_PAIRS)
    ranks = ranking(values, "auc")
    averages, step = ranks.average_ranks, ranks.critical_difference
    best = str(averages.index[0])
    return {
        "auc_table": tables.of_pairs(values, found["auc"]),
        "partial_table": tables.of_pairs(values, found["partial_auc"]),
        "measures_table": tables.of_measures(found),
        "largest": tables.largest(values, _of(found["auc"], "ranksvm2_rbf"), 8),
        "properties": tables.of_properties(values, TREES_PAIRS),
        **_strongest(values, TREES_PAIRS),
        "significant_trees": _names([NAMES[each.first] for each in found["auc"] if each.adjusted < LEVEL]),
        "partial_auc_loss": tables.signed(_of(losses["auc"], "partial_rbf").mean),
        "partial_auc_p": tables.probability(_of(losses["auc"], "partial_rbf").adjusted),
        "partial_p": tables.probability(_of(losses["partial_auc"], "partial_rbf").adjusted),
        "svc_bauc": tables.number(losses["bauc"][2].mean),
        "svc_bauc_p": tables.probability(losses["bauc"][2].adjusted),
        "partial_loss": tables.signed(_of(losses["partial_auc"], "partial_rbf").mean),
        "loss_logistic": tables.signed(losses["auc"][0].mean),
        "loss_csvm2": tables.signed(losses["auc"][1].mean),
        "loss_svc": tables.number(losses["auc"][2].mean),
        "loss_svc_p": tables.probability(losses["auc"][2].adjusted),
        "loss_svc_set": str(losses["auc"][2].by_set.idxmax()),
        "seconds": tables.of_seconds(values),
        "loss_table": tables.of_pairs(values, losses["auc"]),
        "loss_measures": tables.of_measures(losses),
        "all_sets": tables.of_sets(values),
        "friedman": _equation(ranks.f_p_value),
        "critical": f"{ranks.critical_difference:.2f}",
        "best": NAMES[best],
        "separated": _names([NAMES[str(key)] for key in averages.index[averages >= averages[best] + step]]),
        "ranks": ", ".join(f"{NAMES[str(key)]} {rank:.2f}" for key, rank in ranks.average_ranks.items()),
        **_numbers(found["auc"]),
    }


def _strongest(values: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> dict[str, object]:
    """How many rank correlations there are and how many stay below .05, and the one with the smallest p."""
    found: Any = correlations(values, pairs)
    least = found.loc[found["p"].idxmin()]
    return {
        "correlations": len(found),
        "stay": int((found["p_holm"] < LEVEL).sum()),
        "strongest": f"that of {NAMES[least['first']]} − {NAMES[least['second']]} with the "
        f"{PROPERTIES[least['property']]}",
        "rho": tables.signed(float(least["rho"]), 2),
        "rho_p": _equation(float(least["p"])),
        "rho_holm": tables.probability(float(least["p_holm"])),
    }


def _equation(value: float) -> str:
    """What follows p: "< .001" or "= .034"."""
    text = tables.probability(value)
    return text if text.startswith("<") else f"= {text}"


def _names(sets: list[str]) -> str:
    return ", ".join(sets) or "none"


def _of(found: list[Difference], first: str) -> Difference:
    return next(each for each in found if each.first == first)


def _numbers(found: list[Difference]) -> dict[str, object]:
    """What the text cites of each pair, by the first scorer."""
    cited: dict[str, object] = {}
    for each in found:
        low, high = each.interval
        cited[f"d_{each.first}"] = tables.signed(each.mean)
        cited[f"i_{each.first}"] = f"{tables.signed(low)} to {tables.signed(high)}"
        cited[f"m_{each.first}"] = tables.signed(each.median)
        cited[f"p_{each.first}"] = tables.probability(each.adjusted)
        cited[f"w_{each.first}"], cited[f"l_{each.first}"] = each.wins
        cited[f"s_{each.first}"], cited[f"t_{each.first}"] = each.significant()
        cited[f"better_{each.first}"], cited[f"worse_{each.first}"] = map(_names, each.clear)
    return cited


def main(docs: Path = DOCS) -> None:
    """Write the pages and draw their figures."""
    for name, text in pages().items():
        (docs / f"{name}.md").write_text(text, encoding="utf-8")
        draw(FIGURES[name], docs / name)


if __name__ == "__main__":
    main()
