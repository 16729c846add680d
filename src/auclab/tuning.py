"""A parameter of the formulation chosen by cross-validation inside the training part: λ or z along a path of values.

Each value is solved by itself on every inner fold: the solvers take no warm start. Nothing outside the training
part is looked at, so the test part stays unseen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from auclab.formulations import Program
from auclab.scorers import LOSSES, scorer_named
from auclab.splits import kfold
from auclab.types import AuclabError, Status

#: The parameters that can be tuned: how a name shows them, and the sign that makes more of it a simpler scorer.
PARAMETERS = {"penalty": ("λ", 1.0), "threshold": ("z", -1.0)}


@dataclass(frozen=True)
class Tuning:
    """What was tried and what was chosen.

    Attributes
    ----------
    parameter
        ``penalty`` (λ) or ``threshold`` (z).
    metric
        The measure of the inner validation parts; after a minus sign, one that is the better the smaller.
    path
        A row per value, ascending: ``value``, ``mean`` and ``standard_error`` of the measure over the inner folds,
        ``certified`` (the share of solves with a certificate within the tolerance), ``fold_0``, ``fold_1``, …
    best, chosen
        The value with the largest mean (of several the simplest scorer's), and the one taken.
    one_standard_error
        Whether the simplest scorer within one standard error of the best was taken.
    """

    parameter: str
    metric: str
    path: pd.DataFrame
    best: float
    chosen: float
    one_standard_error: bool

    @property
    def symbol(self) -> str:
        """λ or z."""
        return PARAMETERS[self.parameter][0]

    @property
    def numbers(self) -> dict[str, float]:
        """``tune/penalty``, and ``tune/score`` and ``tune/score_se`` of the chosen value."""
        row = self.path.loc[self.path["value"] == self.chosen].iloc[0]
        return {
            f"tune/{self.parameter}": self.chosen,
            "tune/score": float(row["mean"]),
            "tune/score_se": float(row["standard_error"]),
        }

    @property
    def statement(self) -> str:
        """The choice in one line."""
        folds = sum(str(name).startswith("fold_") for name in self.path)
        score, error = self.numbers["tune/score"], self.numbers["tune/score_se"]
        rule = f"; one-standard-error rule, best {self.best:g}" if self.one_standard_error else ""
        ends = (self.path["value"].iloc[0], self.path["value"].iloc[-1])
        end = "; the end of the path: try values beyond it" if self.chosen in ends and len(self.path) > 1 else ""
        poor = "" if (self.path["certified"] == 1.0).all() else "; some solves have no certificate"
        return (
            f"{self.symbol} = {self.chosen:g} of {len(self.path)} values, each solved by itself on {folds} inner folds"
            f": {self.metric} {score:.4f} ± {error:.4f}{rule}{end}{poor}"
        )


def tune(
    model: Pipeline,
    X: Any,
    y: NDArray[np.int64],
    *,
    parameter: str,
    values: Sequence[float],
    metric: str = "auc",
    options: Mapping[str, Any] | None = None,
    folds: int = 5,
    seed: int = 0,
    one_standard_error: bool = False,
) -> tuple[Pipeline, Tuning]:
    """Choose a parameter of the formulation by stratified cross-validation and fit with it on all rows.

    The standard error is that of the mean over the inner folds, ``s/√folds``. The one-standard-error rule (Breiman,
    Friedman, Olshen & Stone 1984) takes the simplest scorer, largest λ or smallest z, whose mean is not below
    that of the best by more than the best's standard error.

    Parameters
    ----------
    model : Pipeline
        Unfitted: preprocessing, fitted anew on every inner training part, and an `AUCClassifier` whose formulation is
        an object.
    X : DataFrame or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1.
    parameter : {"penalty", "threshold"}
    values : sequence of float
        In any order; a repeated one counts once.
    metric : str
        A name in `auclab.scorers.METRICS`, with `options`.
    folds : int ≥ 2
    seed : int ≥ 0
        Of the inner folds.
    one_standard_error : bool

    Returns
    -------
    (Pipeline, Tuning)
        The fitted pipeline and how its value was found.

    Raises
    ------
    AuclabError
        A formulation without the parameter, no values, an unknown metric, folds that a class is too small for, and
        what a solve raises.
    KeyboardInterrupt
        A solve was stopped.
    """
    classifier = model[-1]
    path = sorted({float(value) for value in values})
    if not path or not all(map(math.isfinite, path)):
        raise AuclabError(f"tune.values must be a list of numbers, got {list(values)}")
    programs = [_with(classifier.formulation, parameter, value) for value in path]
    scorer = scorer_named(metric, **(options or {}))
    simpler = PARAMETERS[parameter][1]

    def score(fitted: Pipeline, X_part: Any, y_part: Any) -> dict[str, float]:
        solution = fitted[-1].solution_
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if solution.status is Status.FAILED:
            value = getattr(solution.formulation, parameter)
            raise AuclabError(
                f"{solution.solver} found no usable point at {parameter} {value:g} ({solution.status.advice}); "
                "leave this value out of tune.values, or choose another solver"
            )
        certified = float(solution.status is Status.OPTIMAL)
        return {"score": scorer(fitted, X_part, y_part), "certified": certified}

    def choose(results: Mapping[str, Any]) -> int:
        means, errors = results["mean_test_score"], _errors(results, folds)
        best = _simplest(means >= means.max(), simpler)
        return _simplest(means >= means[best] - errors[best], simpler) if one_standard_error else best

    inner = [(split.train, split.test) for split in kfold(y, n_folds=folds, seed=seed)]
    name = model.steps[-1][0]
    search = GridSearchCV(
        model, {f"{name}__formulation": programs}, scoring=score, refit=choose, cv=inner, error_score="raise"
    )
    search.fit(X, y)
    results = search.cv_results_
    table = pd.DataFrame(
        {
            "value": path,
            "mean": results["mean_test_score"],
            "standard_error": _errors(results, folds),
            "certified": results["mean_test_certified"],
            **{f"fold_{k}": results[f"split{k}_test_score"] for k in range(folds)},
        }
    )
    best = path[_simplest(results["mean_test_score"] >= results["mean_test_score"].max(), simpler)]
    label = f"−{metric}" if metric in LOSSES else metric
    return search.best_estimator_, Tuning(
        parameter, label, table, best, path[int(search.best_index_)], one_standard_error
    )


def _with(program: Program, parameter: str, value: float) -> Program:
    """The formulation with another value of the parameter."""
    has = [key for key in PARAMETERS if any(field.name == key for field in fields(program))]  # type: ignore[arg-type]
    if parameter not in PARAMETERS or parameter not in has:
        hint = " or ".join(f"tune={key}" for key in has) or "tune=none, or a formulation with penalty or threshold"
        raise AuclabError(f"formulation {program.name} has no parameter {parameter!r} to tune; try {hint}")
    return replace(program, **{parameter: value})  # type: ignore[type-var]


def _errors(results: Mapping[str, Any], folds: int) -> NDArray[np.float64]:
    """Standard error of the mean over the inner folds, for every value."""
    scores = np.array([results[f"split{k}_test_score"] for k in range(folds)])
    return np.asarray(scores.std(axis=0, ddof=1) / math.sqrt(folds))


def _simplest(allowed: NDArray[np.bool_], simpler: float) -> int:
    """Position of the simplest scorer among those allowed, of values in ascending order.

    Examples
    --------
    >>> allowed = np.array([True, True, False])
    >>> _simplest(allowed, 1.0), _simplest(allowed, -1.0)
    (1, 0)
    """
    positions = np.flatnonzero(allowed)
    return int(positions[-1] if simpler > 0 else positions[0])
