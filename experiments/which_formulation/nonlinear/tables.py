"""Tables of the two pages, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from experiments.which_formulation.nonlinear.answers import (
    MEASURES,
    PROPERTIES,
    Difference,
    certificates,
    correlations,
    means,
    properties,
    ratio,
    seconds,
    source_means,
)
from experiments.which_formulation.nonlinear.scorers import FINE, NAMES, SCORERS

TITLES = {"auc": "AUC", "bauc": "bAUC", "partial_auc": "partial AUC", "voros": "VOROS"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column to the left, the others to the right."""
    lines = [list(head), ["---", *["---:"] * (len(head) - 1)], *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float, digits: int = 3) -> str:
    """Without the zero before the point."""
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """With its sign.

    Examples
    --------
    >>> signed(-0.0123), signed(0.5, 2)
    ('−.012', '+.50')
    """
    return ("−" if value < 0 else "+") + number(abs(value), digits)


def probability(value: float) -> str:
    """A p-value."""
    return "< .001" if value < 0.001 else number(value, 2 if value >= 0.1 else 3)


def name(scorer: str) -> str:
    """As a reader knows it."""
    return NAMES[scorer]


def pair(each: Difference) -> str:
    """First minus second."""
    return f"{name(each.first)} − {name(each.second)}"


def of_pairs(values: pd.DataFrame, found: Sequence[Difference]) -> str:
    """A row for each difference by one measure, with the tests over sources and on each set."""
    of_sources = source_means(values, found[0].measure)
    head = ["first − second", "means", "difference, 95 %", "median", "sources +/−", "p", "p, Holm"]
    head += ["P(> .01), P(within), P(< −.01)", "sets p < .05: +/−", "after Holm: +/−"]
    rows = []
    for each in found:
        both = f"{number(of_sources[each.first].mean())}, {number(of_sources[each.second].mean())}"
        interval = " to ".join(signed(end) for end in each.interval)
        rows.append(
            [
                pair(each),
                both,
                f"{signed(each.mean)} ({interval})",
                signed(each.median),
                "/".join(map(str, each.wins)),
                probability(each.signed_rank),
                probability(each.adjusted),
                ", ".join(number(p, 2) for p in each.posterior),
                "/".join(map(str, each.significant())),
                "/".join(map(str, each.significant(corrected=True))),
            ]
        )
    return table(head, rows)


def of_measures(found: dict[str, list[Difference]]) -> str:
    """A row for each pair: mean difference and adjusted p-value by every measure."""
    rows = []
    for place, each in enumerate(found["auc"]):
        cells = [f"{signed(found[key][place].mean)} ({probability(found[key][place].adjusted)})" for key in MEASURES]
        rows.append([pair(each), *cells])
    return table(["mean difference (p, Holm)", *TITLES.values()], rows)


def largest(values: pd.DataFrame, each: Difference, count: int = 6) -> str:
    """The sets with the largest and the smallest difference by AUC, and their properties."""
    order = each.by_set.sort_values(ascending=False, kind="stable").index
    chosen = [*order[:count], *order[-count:]]
    of_sets: Any = properties(values)
    of_auc: Any = means(values, "auc")
    rows = []
    for key in chosen:
        holds = "" if each.p_holm[key] >= 0.05 else "*"
        rows.append(
            [
                str(key),
                number(float(of_auc.loc[key, each.first])),
                number(float(of_auc.loc[key, each.second])),
                signed(float(each.by_set[key])) + holds,
                probability(float(each.p_values[key])),
                f"{of_sets.loc[key, 'n_features']:.0f}",
                f"{of_sets.loc[key, 'minority']:.0f}",
                number(float(of_sets.loc[key, "share"]), 2),
            ]
        )
    head = ["data set", name(each.first), name(each.second), "difference", "p", "columns", "smaller class", "its share"]
    return table(head, rows)


def of_properties(values: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> str:
    """Rank correlations of a difference with properties: ρ (p, Holm's p)."""
    found: Any = correlations(values, pairs)
    rows = []
    for first, second in pairs:
        part = found[(found["first"] == first) & (found["second"] == second)].set_index("property")
        cells = [
            f"{signed(float(part.loc[key, 'rho']), 2)} ({probability(float(part.loc[key, 'p']))}, "
            f"{probability(float(part.loc[key, 'p_holm']))})"
            for key in PROPERTIES
        ]
        rows.append([f"{name(first)} − {name(second)}", *cells])
    return table(["gain of test AUC", *PROPERTIES.values()], rows)


def of_seconds(values: pd.DataFrame, scorers: Sequence[str] = tuple(SCORERS)) -> str:
    """Processor seconds and sizes."""
    found: Any = seconds(values)
    rows = []
    for key in scorers:
        row = found.loc[key]
        rows.append(
            [
                name(key),
                *(f"{row[column]:.2f}" for column in ("median", "ninety", "longest")),
                f"{row['fit']:.3f}",
                f"{row['median'] / found.loc['lightgbm', 'median']:.1f}",
                f"{row['size']:.0f}",
            ]
        )
    head = ["scorer", "median s", "90 %", "longest", "last fit, median", "median / LightGBM's", "size, median"]
    return table(head, rows)


def of_certificates(values: pd.DataFrame) -> str:
    """What was proved about the scorers that were kept."""
    found: Any = certificates(values, FINE)
    rows = []
    for key in found.index:
        fits, proved, null, rough = (int(found.loc[key, column]) for column in ("fits", "proved", "null", "rough"))
        largest = f"{found.loc[key, 'largest']:.0e}"
        rows.append([name(str(key)), f"{proved} of {fits}", largest, str(null), str(rough)])
    return table(["scorer", f"gap ≤ {FINE:g}", "largest gap", "0 is optimal", "fits with a limit on inner folds"], rows)


def of_sets(values: pd.DataFrame, measure: str = "auc") -> str:
    """Means over splits of every scorer on every set."""
    found: Any = means(values, measure)
    counts: Any = properties(values)
    ratios: Any = ratio(values)
    rows = []
    for key in sorted(found.index, key=lambda text: str(text)):
        cells = [number(float(value)) for value in found.loc[key]]
        best = found.loc[key].max()
        marked = [f"**{cell}**" if value == best else cell for cell, value in zip(cells, found.loc[key], strict=True)]
        size = f"{counts.loc[key, 'minority'] / counts.loc[key, 'share']:.0f}, {counts.loc[key, 'minority']:.0f}"
        rows.append([str(key), f"{size}, {counts.loc[key, 'n_features']:.0f}", number(float(ratios[key]), 1), *marked])
    return table(["data set", "rows, smaller class, columns", "test/train", *map(name, SCORERS)], rows)
