"""Several scorers on one sample: their metrics with intervals, paired tests, calibration, in one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_column
from auclab._core.validation import finite_vector, positive_mask
from auclab.inference.calibration import CalibrationCheck, check_calibration
from auclab.inference.catalogue import estimable
from auclab.inference.comparison import ScorerPair, all_pairs, compare_observations
from auclab.inference.components import Comparison, Estimate, Observations
from auclab.inference.estimation import check_level, choose_method, estimate_observations
from auclab.inference.pairs import compare_pairs, estimate_pairs
from auclab.samples.bicliques import LevelPairs, censored_pairs, checked_times, ordered_pairs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Measurement:
    """Metrics of one scorer or several on the same rows.

    Attributes
    ----------
    n, events : int
        Rows, and positives (of grades those above the lowest) or observed events.
    units : str
        What is independent: "rows", or clusters and groups with their number.
    estimates : dict
        By scorer and metric.
    comparisons : dict
        By metric, every pair of scorers with p after Holm.
    calibration : dict
        By scorer whose scores lie in [0, 1].
    level : float

    See Also
    --------
    measure : Computes it.

    Examples
    --------
    >>> found = measure([1, 1, 0, 0], {"a": [3, 2, 1, 0], "b": [3, 1, 2, 0]}, metrics=["auc"])
    >>> found.estimates["b"]["auc"].value, found.comparisons["auc"][0].comparison.difference
    (0.75, 0.25)
    """

    n: int
    events: int
    units: str
    estimates: dict[str, dict[str, Estimate]]
    comparisons: dict[str, tuple[ScorerPair, ...]]
    calibration: dict[str, CalibrationCheck]
    level: float
    notes: tuple[str, ...] = field(default=())

    @property
    def scorers(self) -> tuple[str, ...]:
        """Names of the scorers."""
        return tuple(self.estimates)

    def frame(self) -> pd.DataFrame:
        """A row for every scorer and metric, and for every pair and metric: value or difference, interval, p."""
        import pandas as pd

        rows = [
            (name, metric, each.value, each.lower, each.upper, math.nan, math.nan)
            for name, metrics in self.estimates.items()
            for metric, each in metrics.items()
        ] + [
            (self.name_of(pair), metric, pair.comparison.difference, *pair.comparison.interval, *self._p_values(pair))
            for metric, pairs in self.comparisons.items()
            for pair in pairs
        ]
        return pd.DataFrame(rows, columns=["scorer", "metric", "value", "lower", "upper", "p", "p (Holm)"])

    @staticmethod
    def _p_values(pair: ScorerPair) -> tuple[float, float]:
        return pair.comparison.p_value, pair.p_holm

    def name_of(self, pair: ScorerPair) -> str:
        """Two scorers, as a difference."""
        return f"{self.scorers[pair.first]} − {self.scorers[pair.second]}"

    def to_text(self) -> pd.DataFrame:
        """The table for a paper: n, events, value with interval, difference, p."""
        import pandas as pd

        table = self.frame()
        several = len(self.scorers) > 2
        return pd.DataFrame(
            {
                "scorer": table["scorer"],
                "metric": table["metric"],
                "n": self.n,
                "events": self.events,
                "value": [f"{value:.3f}" for value in table["value"]],
                f"{self.level:.0%} interval": [
                    f"{low:.3f} to {high:.3f}" for low, high in zip(table["lower"], table["upper"], strict=True)
                ],
                "p": [_in_words(p) for p in table["p"]],
                **({"p (Holm)": [_in_words(p) for p in table["p (Holm)"]]} if several else {}),
            }
        )

    def remarks(self) -> tuple[str, ...]:
        """Notes of the estimates, each once."""
        found = {
            f"{name}, {metric}: {note}"
            for name, metrics in self.estimates.items()
            for metric, each in metrics.items()
            for note in each.notes
        }
        return (*self.notes, *sorted(found))

    def written(self, language: str) -> str:
        """The table as ``"md"``, ``"tex"`` or ``"html"``, or as ``"csv"`` with every digit."""
        text = self.to_text()
        if language == "csv":
            return str(self.frame().to_csv(index=False))
        if language == "tex":
            return str(text.style.hide(axis="index").to_latex(hrules=True))
        if language == "html":
            return str(text.to_html(index=False, border=0))
        lines = [list(text.columns), ["---"] * text.shape[1], *text.to_numpy().tolist()]
        return "".join(f"| {' | '.join(str(cell).replace('|', '&#124;') for cell in line)} |\n" for line in lines)

    def _repr_html_(self) -> str:
        """The table, for a notebook."""
        return self.written("html")


def _in_words(p: float) -> str:
    """A p value as papers print it."""
    if math.isnan(p):
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def measure(
    y_true: ArrayLike,
    scores: Mapping[str, ArrayLike] | pd.DataFrame | ArrayLike,
    *,
    metrics: Sequence[str] = ("auc", "bauc"),
    event: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    level: float = 0.95,
) -> Measurement:
    """Metrics of scores from anywhere, with intervals, paired tests and, for probabilities, their calibration.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Two labels; grades with `groups`; times with `event`.
    scores : mapping, DataFrame or array
        A name and an array of shape (n_samples,) for every scorer, a DataFrame with a column for each, or one array.
    metrics : sequence of str
        Names in `auclab.metrics.METRICS`; with groups or times ``"auc"`` and ``"bauc"`` are those of the pairs within
        groups, or of comparable pairs (the concordance), and there are no others.
    event : array of shape (n_samples,), optional
        Whether the event of a time was observed: larger scores should have earlier events.
    groups : array of shape (n_samples,), optional
        Rows are compared within groups, which are independent.
    clusters, sample_weight, pos_label, level
        As in `auclab.estimate`, for two classes.

    Returns
    -------
    Measurement

    Raises
    ------
    AuclabError
        As `auclab.estimate` and `auclab.inference.estimate_pairs`; clusters beside groups or times.

    See Also
    --------
    auclab.estimate : One metric of one scorer.
    auclab.compare_scorers : Two scorers, with all options.

    Examples
    --------
    >>> measure([1, 1, 0, 0], {"a": [3, 2, 1, 0], "b": [3, 1, 2, 0]}, metrics=["auc"]).to_text()["value"].tolist()
    ['1.000', '0.750', '0.250']
    """
    check_level(level)
    named = _named(scores)
    if event is not None or groups is not None:
        if clusters is not None or (event is not None and groups is not None):
            raise AuclabError("give one of event, groups and clusters: groups are themselves what is independent")
        return _of_pairs(y_true, named, metrics, event, groups, sample_weight, pos_label, level)
    positive = positive_mask(y_true, pos_label)
    observed = {
        name: Observations.of(positive, each, sample_weight, None, name=name, clusters=clusters)
        for name, each in named.items()
    }
    known = {metric: estimable(metric, {}) for metric in metrics}
    plans = {metric: choose_method("auto", each) for metric, each in known.items()}

    def estimated(metric: str, of: Observations) -> Estimate:
        return estimate_observations(known[metric], of, level, plans[metric], None, 0)

    def compared(metric: str, first: str, second: str) -> Comparison:
        both = observed[first], observed[second]
        return compare_observations(known[metric], both, level, plans[metric], None, 0)

    estimates = {name: {metric: estimated(metric, of) for metric in metrics} for name, of in observed.items()}
    units = "rows" if clusters is None else f"{np.unique(as_column('clusters', clusters)).size:,} clusters"
    return Measurement(
        positive.size,
        int(positive.sum()),
        units,
        estimates,
        _compared(named, metrics, compared),
        {} if sample_weight is not None else _calibrated(positive, named, level),
        level,
        ("calibration is tested as if rows were independent",) if clusters is not None else (),
    )


def _named(scores: Any) -> dict[str, Array]:
    """The scores by the name of their scorer, checked."""
    if hasattr(scores, "columns"):
        scores = {str(name): scores[name].to_numpy() for name in scores.columns}
    if not isinstance(scores, Mapping):
        scores = {"score": scores}
    if not scores:
        raise AuclabError("there is no column of scores; give a name and an array for each scorer")
    return {str(name): finite_vector(str(name), each, infinite=True) for name, each in scores.items()}


def _compared(
    named: dict[str, Array], metrics: Sequence[str], compared: Callable[[str, str, str], Comparison]
) -> dict[str, tuple[ScorerPair, ...]]:
    """By metric every pair of scorers; nothing of one scorer."""
    names = list(named)

    def of(metric: str) -> tuple[ScorerPair, ...]:
        return all_pairs(len(names), lambda a, b: compared(metric, names[a], names[b]))

    return {metric: of(metric) for metric in metrics} if len(names) > 1 else {}


def _calibrated(positive: Any, named: dict[str, Array], level: float) -> dict[str, CalibrationCheck]:
    """The check of every scorer that looks like a probability: in [0, 1], and neither constant nor a label."""
    return {
        name: check_calibration(positive, each, level=level)
        for name, each in named.items()
        if each.min() >= 0.0 and each.max() <= 1.0 and np.unique(each[:1000]).size > 2
    }


def _of_pairs(
    y: ArrayLike,
    named: dict[str, Array],
    metrics: Sequence[str],
    event: ArrayLike | None,
    groups: ArrayLike | None,
    sample_weight: ArrayLike | None,
    pos_label: Any,
    level: float,
) -> Measurement:
    """Scorers on comparable pairs."""
    if event is not None:
        pairs: LevelPairs = censored_pairs(y, event, sample_weight=sample_weight)
        _, observed = checked_times(y, event)
        events, units = int(observed.sum()), "rows"
    else:
        pairs = ordered_pairs(y, groups, sample_weight, pos_label=pos_label)
        levels = np.unique(as_column("y_true", y))
        positive = positive_mask(y, pos_label) if levels.size == 2 else as_column("y_true", y) > levels[0]
        events, units = int(positive.sum()), f"{np.unique(as_column('groups', groups)).size:,} groups"

    def compared(metric: Any, first: str, second: str) -> Comparison:
        return compare_pairs(pairs, named[first], named[second], metric, level=level)

    def estimated(metric: Any, scores: Array) -> Estimate:
        return estimate_pairs(pairs, scores, metric, level=level)

    estimates = {name: {metric: estimated(metric, each) for metric in metrics} for name, each in named.items()}
    return Measurement(pairs.n_rows, events, units, estimates, _compared(named, metrics, compared), {}, level)
