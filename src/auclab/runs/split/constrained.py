"""Constraints in names and units of the data: on the prepared columns, and what each costs at a solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from auclab._core.base import Array, AuclabError
from auclab._core.tolerances import EQUAL
from auclab._core.words import FEW, LINES, few
from auclab.datasets.columns import Encoding, share_of_category, sort_columns
from auclab.datasets.labels import as_labels
from auclab.datasets.preprocess import as_text, category_name
from auclab.datasets.records import Dataset
from auclab.datasets.steps import DateFeatures, category_of_gaps
from auclab.estimators.scorecard_classifier import sign_constraints
from auclab.export.formula import PreparedColumns, prepared_columns
from auclab.formulations import Program
from auclab.formulations.constraints import ColumnConstraints, Constraints
from auclab.formulations.programs import row_with
from auclab.runs.config.compose import Experiment
from auclab.runs.config.settings import as_constraints
from auclab.runs.split.formula import column_names
from auclab.scorecards.items import Item
from auclab.solvers.registry import check_solvable


@dataclass(frozen=True)
class ActiveConstraint:
    """A constraint that holds with equality.

    `text`: in the units of the data, such as ``debt ≥ 0``. `multiplier`: rate at which the optimum falls as the limit
    is relaxed; for an equation, its absolute value.
    """

    text: str
    multiplier: float


@dataclass(frozen=True)
class SolvedConstraints:
    """The constraints of a solution.

    `count`: inequalities, equations and bounds of coefficients. `active`: those that hold with equality, the largest
    multipliers first. `violation`: largest violation of the point. `used`: with `max_features` the columns of
    the data that are used; else None. `convex`: whether an inactive constraint costs nothing.
    """

    count: int
    active: tuple[ActiveConstraint, ...]
    violation: float
    used: tuple[str, ...] | None = None
    convex: bool = True

    @property
    def statement(self) -> str:
        """A one-line summary.

        Examples
        --------
        >>> SolvedConstraints(3, (ActiveConstraint("debt ≥ 0", 0.25),), 0.0).statement
        '1 of 3 holds with equality: debt ≥ 0 (0.25). In brackets: the rate at which the optimum falls if it is relaxed'
        >>> SolvedConstraints(1, (), 0.0).statement
        'none of 1 holds with equality: without them the optimum is the same'
        >>> SolvedConstraints(0, (), 0.0, used=("age", "debt")).statement
        '2 columns are used: age, debt'
        """
        if self.used is not None:
            also = f"; {self._equalities}" if self.count else ""
            several = "1 column is" if len(self.used) == 1 else f"{len(self.used)} columns are"
            return f"{several} used: {few(self.used, LINES) or 'none'}{also}"
        return self._equalities

    @property
    def _equalities(self) -> str:
        if not self.active:
            same = ": without them the optimum is the same" if self.convex and self.used is None else ""
            return f"none of {self.count} holds with equality{same}"
        shown = few(f"{each.text} ({each.multiplier:.3g})" for each in self.active)
        verb, which = ("holds", "it is") if len(self.active) == 1 else ("hold", "one is")
        meaning = f"In brackets: the rate at which the optimum falls if {which} relaxed"
        return f"{len(self.active)} of {self.count} {verb} with equality: {shown}. {meaning}"


def solved_constraints(
    solution: Any, names: Sequence[str], scales: Array, sources: Sequence[str] | None = None
) -> SolvedConstraints | None:
    """The constraints of a solution on prepared columns; None if it has none.

    `names`: of the prepared columns. `scales` (n_features,): divisor of each. `sources`: the column of the data that
    each is made from, which `max_features` counts; by default each is a column of the data.
    """
    stated: ColumnConstraints | None = getattr(solution, "constraints", None)
    if stated is None:
        return None
    # The solver works with w · scale instead of w.
    own, coef = stated.in_units(1.0 / scales), solution.coef / scales
    matrix, limit, equal = own.all_rows()
    found = solution.constraint_multipliers
    multipliers = np.zeros(limit.size) if found is None else abs(found)
    n_rows = stated.limit.size
    fixed, above, below = _bounds(stated)
    # A limit u of a coefficient in units of the data is u · scale for the prepared column.
    multipliers = multipliers * np.r_[np.ones(n_rows), scales[fixed], scales[above], scales[below]]
    texts = [_row(matrix[r], limit[r], bool(equal[r]), names) for r in range(n_rows)]
    texts += [f"{names[k]} = {own.upper[k]:g}" for k in fixed]
    texts += [f"{names[k]} ≤ {own.upper[k]:g}" for k in above] + [f"{names[k]} ≥ {own.lower[k]:g}" for k in below]
    terms = abs(matrix) @ abs(coef) + abs(limit)
    active = equal | (limit - matrix @ coef <= EQUAL * np.maximum(terms, 1e-12 * abs(coef).max(initial=0.0)))
    order = sorted(np.flatnonzero(active), key=lambda r: -multipliers[r])
    chosen = tuple(ActiveConstraint(texts[r], float(multipliers[r])) for r in order)
    limited = stated.max_features is not None
    counted = names if sources is None else sources
    used = tuple(dict.fromkeys(counted[int(k)] for k in np.flatnonzero(solution.coef))) if limited else None
    violation = float(solution.certificate.violation)
    return SolvedConstraints(limit.size, chosen, violation, used, bool(solution.formulation.is_convex))


def _bounds(constraints: ColumnConstraints) -> tuple[Any, Any, Any]:
    """The columns that are fixed, and those bounded above and below, in the order of `all_rows`."""
    is_fixed = constraints.lower == constraints.upper
    above, below = np.isfinite(constraints.upper) & ~is_fixed, np.isfinite(constraints.lower) & ~is_fixed
    return np.flatnonzero(is_fixed), np.flatnonzero(above), np.flatnonzero(below)


def _row(row: Array, limit: float, equal: bool, names: Sequence[str]) -> str:
    """A row such as ``age − 2 debt ≤ 0``."""
    used = np.flatnonzero(row)
    words: list[str] = []
    for place in used[:FEW]:
        size = "" if abs(row[place]) == 1 else f"{abs(row[place]):.4g} "
        sign = "− " if row[place] < 0 else "+ " if words else ""
        words.append(f"{sign}{size}{names[place]}")
    rest = f" + {used.size - FEW} more" if used.size > FEW else ""
    return f"{' '.join(words) or '0'}{rest} {'=' if equal else '≤'} {limit:g}"


#: The last column of a nominal one with many categories, as `auclab.datasets.preprocess.category_name` names it.
_OTHERS = "infrequent_sklearn"


@dataclass(frozen=True)
class DataConstraints:
    """Constraints on a scorer of a data set, in the units of the data.

    `columns`: of the data, before preprocessing. `possible`: names of columns that preprocessing may make, each with
    its source column; those that a training part lacks (no such category, or a single value) have the coefficient 0.
    """

    constraints: Constraints
    columns: tuple[str, ...]
    possible: tuple[tuple[str, str], ...]

    def on(self, preprocessing: Pipeline) -> ColumnConstraints:
        """The constraints on the columns of a fitted preprocessing."""
        if (items := getattr(preprocessing[-1], "items_", None)) is not None:
            return _on_items(self.constraints, items, self.columns)
        prepared = prepared_columns(preprocessing, self.columns)
        return _restricted(self._everywhere(prepared), prepared)

    def solved(self, solution: Any, preprocessing: Pipeline) -> SolvedConstraints | None:
        """The constraints of a solution on the prepared columns, with the active ones."""
        prepared = prepared_columns(preprocessing, self.columns)
        return solved_constraints(solution, prepared.names, prepared.scales, prepared.sources)

    def check(self) -> None:
        """Refuse constraints that no data can satisfy, before anything is solved."""
        self._everywhere(PreparedColumns((), (), np.empty(0)))

    def _everywhere(self, prepared: PreparedColumns) -> ColumnConstraints:
        """Constraints on the prepared columns followed by the merely possible ones, unscaled."""
        absent = [(name, source) for name, source in self.possible if name not in set(prepared.names)]
        names = [*prepared.names, *(name for name, _ in absent)]
        return self.constraints.on_columns(names, features=[*prepared.sources, *(source for _, source in absent)])


def _on_items(constraints: Constraints, items: Sequence[Item], columns: Sequence[str]) -> ColumnConstraints:
    """Signs of columns as constraints on the points of their items: all ≥ 0 (≤ 0), and rising (falling) by the bins."""
    stated = [each.name for each in fields(constraints) if getattr(constraints, each.name) not in ((), [], {}, None)]
    if others := [name for name in stated if name not in ("nonnegative", "nonpositive")]:
        raise AuclabError(
            f"constraints.{others[0]} is not for the items of a scorecard; constraints.nonnegative and nonpositive "
            "are, and formulation.max_features limits the columns"
        )
    signs: dict[Any, int] = dict.fromkeys(constraints.nonnegative, 1)
    if both := [name for name in constraints.nonpositive if name in signs]:
        raise AuclabError(f"column {both[0]!r} is in constraints.nonnegative and nonpositive; it can be in one of them")
    signs |= dict.fromkeys(constraints.nonpositive, -1)
    found = sign_constraints(items, signs, columns)
    assert found is not None  # there are no constraints without a sign
    of_items = np.array([signs.get(item.source, signs.get(item.name, 0)) for item in items])
    lower = np.where(of_items > 0, np.maximum(found.lower, 0.0), found.lower)
    upper = np.where(of_items < 0, np.minimum(found.upper, 0.0), found.upper)
    return replace(found, lower=lower, upper=upper)


def on_prepared(
    formulation: Any, constraints: DataConstraints | None, X: Any, preprocessing: Pipeline
) -> dict[str, Any]:
    """Parameters of an `AUCClassifier` on prepared columns: constraints, and a formulation with its groups.

    `X` (n_samples, n_features): rows before preprocessing. `preprocessing`: fitted.
    """
    found: dict[str, Any] = {} if constraints is None else {"constraints": constraints.on(preprocessing)}
    regulariser = getattr(formulation, "regulariser", None)
    if regulariser is None:
        return found
    grouped = regulariser.on_columns(lambda: prepared_columns(preprocessing, column_names(X)).sources)
    if grouped is not regulariser:
        found["formulation"] = row_with(formulation, regulariser=grouped)
    return found


def checked_constraints(experiment: Experiment, dataset: Dataset, formulation: Any) -> DataConstraints | None:
    """The constraints of an experiment, refused before inner folds are solved if no solver could take them."""
    constraints = constraints_of(experiment.constraints, dataset, experiment.encoding)
    if constraints is None:
        return None
    constraints.check()
    if isinstance(formulation, Program) and experiment.kernel is None:
        most = constraints.constraints.max_features
        check_solvable(formulation, ColumnConstraints.of(1, max_features=most))
    return constraints


def constraints_of(rules: Mapping[str, Any], dataset: Dataset, encoding: Encoding) -> DataConstraints | None:
    """The rules of a configuration for a data set; None without rules.

    `rules`: from `auclab.runs.config.settings.resolve_constraints`. `encoding`: the settings of the
    preprocessing that say which columns it makes.
    """
    found: Any = dataset.X
    names = column_names(found)
    constraints = as_constraints(rules, names)
    if constraints is None:
        return None
    possible = _possible(dataset, encoding) if hasattr(found, "iloc") else [(name, name) for name in names]
    # If a column is not used, neither is its missing-value indicator.
    gaps = [f"{name}_missing" for name in constraints.excluded if (f"{name}_missing", name) in possible]
    constraints = replace(constraints, excluded=[*constraints.excluded, *gaps])
    return DataConstraints(constraints, tuple(names), tuple(possible))


def _possible(dataset: Dataset, encoding: Encoding) -> list[tuple[str, str]]:
    """The columns that `auclab.datasets.preprocess` may make of a table, and their sources."""
    columns, table = sort_columns(dataset, **encoding), dataset.frame
    found = [(name, name) for name in columns.numeric]
    for name in columns.nominal:
        values = [*as_text(table[[name]])[name].dropna().unique(), _OTHERS]
        if share_of_category(encoding) is not None and table[name].isna().any():
            values.append(category_of_gaps(values))
        found += [(category_name(name, value), name) for value in values]
    parts = as_labels(encoding.get("dates"))
    for name, written in columns.dates.items():
        made = DateFeatures(list(parts), {name: written}).fit(table[[name]])
        found += [(str(each), name) for each in made.get_feature_names_out()]
    if encoding.get("missing_indicators"):
        found += [(f"{name}_missing", str(name)) for name in table.columns if table[name].isna().any()]
    return found


def _restricted(everywhere: ColumnConstraints, prepared: PreparedColumns) -> ColumnConstraints:
    """The constraints on the prepared columns, in their units, with all other coefficients 0."""
    kept = len(prepared.names)
    outside = (everywhere.lower[kept:] > 0) | (everywhere.upper[kept:] < 0)
    if outside.any():
        raise AuclabError(
            "constraints have a bound that excludes the coefficient 0 of a column that is constant on the training "
            "part, and whose coefficient is therefore 0; leave out this bound, or the column"
        )
    used, groups = np.unique(everywhere.groups[:kept], return_inverse=True)
    forced = [int(np.flatnonzero(used == group)[0]) for group in everywhere.forced if group in used]
    # A forced feature counts even if it is absent.
    most = everywhere.max_features
    missing = len(everywhere.forced) - len(forced)
    if most is not None and most <= missing:
        raise AuclabError(
            f"max_features is {most}, and {missing} forced feature{'s are' if missing > 1 else ' is'} constant on the "
            "training part: no other may be used; raise max_features, or leave out of forced what does not vary"
        )
    most = None if most is None else most - missing
    return replace(
        everywhere,
        lower=everywhere.lower[:kept],
        upper=everywhere.upper[:kept],
        matrix=everywhere.matrix[:, :kept],
        max_features=most,
        groups=groups,
        forced=tuple(forced),
    ).in_units(prepared.scales)
