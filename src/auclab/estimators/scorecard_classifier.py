"""Integer scorecards as a scikit-learn estimator: from a table to a card."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted, column_or_1d

from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_array
from auclab._core.validation import both_classes_weighted, check_types
from auclab.estimators.checked import two_classes
from auclab.formulations import Scorecard
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.scorecard import MARGINS, POINTS
from auclab.samples.as_sample import as_sample
from auclab.scorecards.card import Card, rising_shares
from auclab.scorecards.items import Item, ItemEncoder, as_table
from auclab.solvers.dispatch import solve


class ScorecardClassifier(ClassifierMixin, BaseEstimator):
    """A scorecard of few items with integer points, with a proved optimum or gap of its pair hinge.

    Numeric features are binned, and nominal ones have one item per category (`auclab.scorecards.ItemEncoder`); then
    `auclab.formulations.Scorecard` is minimised over the points.

    Parameters
    ----------
    points : (int, int)
        The lowest and the highest number of points of an item.
    max_items, max_features : int, optional
        Largest number of items, and of features, with points.
    margins : sequence of int
        Margins γ to try.
    signs : mapping of str or int to {1, −1}, optional
        Features by name or number. 1: the points of the bins of a numeric feature never fall from one bin to the next,
        and those of a category are never negative; −1 the other way.
    binning, bins, cut_points, nominal, least_share, max_candidates
        As in `auclab.scorecards.ItemEncoder`, except that `max_candidates` is 12 by default: with 12 candidates a card
        is usually proved optimal in seconds. None keeps all items.
    tolerance : float
        Relative gap at which the search ends.
    time_limit : float, optional
        Time limit of the search in seconds; the best card so far is then returned with its proved gap.

    Attributes
    ----------
    card_ : Card
        ``print(card_)``; `card_.write_json`.
    solution_ : Solution
        Points, objective, lower bound, gap.
    encoder_ : ItemEncoder
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    >>> classifier = ScorecardClassifier(bins=2).fit(X, y)
    >>> [(each.item.label, each.points) for each in classifier.card_.items], classifier.predict(X).tolist()
    ([('x0 ≥ 3', 1)], [0, 0, 1, 1])

    See Also
    --------
    auclab.estimators.AUCClassifier : Real coefficients, every formulation.
    """

    def __init__(
        self,
        points: tuple[int, int] = POINTS,
        *,
        max_items: int | None = 8,
        max_features: int | None = None,
        margins: Sequence[int] = MARGINS,
        signs: Mapping[Any, int] | None = None,
        binning: str = "quantile",
        bins: int = 3,
        cut_points: Mapping[Any, Sequence[float]] | None = None,
        nominal: Sequence[Any] | None = None,
        least_share: float = 0.02,
        max_candidates: int | None = 12,
        tolerance: float = 1e-6,
        time_limit: float | None = 60.0,
    ) -> None:
        self.points = points
        self.max_items = max_items
        self.max_features = max_features
        self.margins = margins
        self.signs = signs
        self.binning = binning
        self.bins = bins
        self.cut_points = cut_points
        self.nominal = nominal
        self.least_share = least_share
        self.max_candidates = max_candidates
        self.tolerance = tolerance
        self.time_limit = time_limit

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Bin the features, find the points, and compute the share of positives at each total.

        Raises
        ------
        AuclabError
            Other than two classes; settings that are not possible.
        """
        check_types(self)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        X, y = as_table(X), column_or_1d(as_array("y", y), warn=True)
        check_consistent_length(X, y)
        self.classes_ = two_classes(y)
        positive = np.asarray(y == self.classes_[1])
        self.encoder_ = ItemEncoder(
            self.binning, self.bins, self.cut_points, self.nominal, self.least_share, self.max_candidates
        )
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, y, ensure_non_negative=True)
        if weight is not None and (weight == 0).any():  # such rows are none
            both_classes_weighted(positive, weight)
            X, positive, weight = X[weight > 0], positive[weight > 0], weight[weight > 0]
        matrix = self.encoder_.fit(X, positive, weight).transform(X)
        self.n_features_in_ = self.encoder_.n_features_in_
        if hasattr(self.encoder_, "feature_names_in_"):
            self.feature_names_in_ = self.encoder_.feature_names_in_
        program = Scorecard(
            points=(self.points[0], self.points[1]),
            max_items=self.max_items,
            max_features=self.max_features,
            margins=tuple(self.margins),
            features=tuple(int(group) for group in self.encoder_.groups_),
        )
        names = [str(name) for name in getattr(self, "feature_names_in_", range(self.n_features_in_))]
        constraints = sign_constraints(self.encoder_.items_, self.signs, names)
        self.solution_ = solve(
            program,
            matrix,
            positive,
            tolerance=self.tolerance,
            time_limit=self.time_limit,
            sample_weight=weight,
            constraints=constraints,
        )
        labels = [str(label) for label in self.classes_]
        self.card_ = card_of(self.encoder_.items_, self.solution_, matrix, positive, weight, labels=labels)
        return self

    def total(self, X: Any) -> NDArray[np.int64]:
        """Total points, shape (n_samples,)."""
        check_is_fitted(self)
        return np.rint(self.encoder_.transform(X) @ self.solution_.coef).astype(np.int64)

    def decision_function(self, X: Any) -> Array:
        """Total points minus the lowest total predicted as the second class, plus ½; shape (n_samples,)."""
        totals = self.total(X)
        first = self.card_.threshold
        return np.asarray(totals - (self.card_.range[1] + 1 if first is None else first) + 0.5, dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """The second class from the total at which its share exceeds ½, otherwise the first; shape (n_samples,)."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(int)])

    def predict_proba(self, X: Any) -> Array:
        """Shares of the classes among the training rows with that total, shape (n_samples, 2)."""
        share = np.asarray(self.card_.probability(self.total(X))) if hasattr(self, "card_") else self.total(X)
        return np.column_stack([1.0 - share, share])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def sign_constraints(
    items: Sequence[Item], signs: Mapping[Any, int] | None, names: Sequence[str]
) -> ColumnConstraints | None:
    """What the signs of features say about the points of their items; None without signs."""
    if not signs:
        return None
    n = len(items)
    lower, upper, rows = np.full(n, -np.inf), np.full(n, np.inf), []
    for name, sign in signs.items():
        known = isinstance(name, int | np.integer) and 0 <= name < len(names)
        parts = {item.source for item in items if item.part is not None}
        if not known and str(name) not in {*names, *parts}:
            raise AuclabError(
                f"signs name the feature {name!r}, which does not exist; features are {', '.join(names[:10])}"
            )
        if sign not in (1, -1):
            raise AuclabError(f"the sign of {name} must be 1 or −1, got {sign!r}")
        at_column = int(name) if known else list(names).index(str(name)) if str(name) in names else None
        own = [at for at, item in enumerate(items) if item.feature == at_column or item.source == str(name)]
        for part in dict.fromkeys(items[at].part for at in own):
            chain = [at for at in own if items[at].part == part]
            ordered = [at for at in chain if items[at].category is None and not items[at].missing]
            if ordered:
                rows += _rising(items, ordered, sign, lower, upper)
            elif part is not None or all(items[at].part is None for at in own):  # not the gaps of dates
                for at in chain:
                    lower[at], upper[at] = (0.0, upper[at]) if sign > 0 else (lower[at], 0.0)
    return ColumnConstraints.of(
        n, lower=lower, upper=upper, matrix=np.array(rows).reshape(-1, n), limit=np.zeros(len(rows))
    )


def _rising(items: Sequence[Item], ordered: Sequence[int], sign: int, lower: Array, upper: Array) -> list[Array]:
    """Rows by which the points of bins rise, or fall, from bin to bin; bounds are entered into `lower` and `upper`."""
    rows: list[Array] = []
    # A bin without an item has 0 points: the lowest of two, or one that few rows have.
    ends = [None, *ordered, None]
    for first, second in itertools.pairwise(ends):
        if first is None or second is None or items[first].high != items[second].low:
            after, before = second, first
            if after is not None and items[after].low is not None:
                lower[after], upper[after] = (0.0, upper[after]) if sign > 0 else (lower[after], 0.0)
            if before is not None and items[before].high is not None:
                lower[before], upper[before] = (lower[before], 0.0) if sign > 0 else (0.0, upper[before])
        if first is not None and second is not None:
            row = np.zeros(len(items))
            row[first], row[second] = sign, -sign
            rows.append(row)
    return rows


def card_of(
    items: Sequence[Item],
    solution: Any,
    matrix: Array,
    positive: NDArray[np.bool_],
    weight: Array | None = None,
    *,
    labels: Sequence[str] = ("0", "1"),
    about: dict[str, Any] | None = None,
) -> Card:
    """The card of a solution of `Scorecard`, with the shares of its training part.

    `labels`: of the negative and the positive class. `about`: what else ``card.json`` says.
    """
    margin = solution.formulation.margin(solution.coef, as_sample(matrix, positive, weight))
    facts: dict[str, Any] = {name: getattr(solution, name) for name in ("objective", "lower_bound", "gap")}
    facts |= {"status": str(solution.status), "seconds": solution.timings.total, "margin": margin}
    card = Card.of(items, solution.coef, matrix, positive, weight, classes=tuple(labels), about=about or {}, **facts)
    shares = rising_shares(card.totals)
    likely = [total.low for total, share in zip(card.totals, shares, strict=True) if share > 0.5]
    return replace(card, threshold=min(likely, default=None))
