"""From scores to labels and probabilities: a threshold by a rule, and a calibration on inner folds.

The scorer of the run has seen its training part, and its scores there are better than those of new rows. Inner folds of
the training part give a score to every row from a scorer that has not seen it, in standard units of that scorer;
threshold and calibration are fitted to these and converted to the units of the run's scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from auclab._core.base import Array, AuclabError, Status
from auclab.datasets.splits import inner_folds, take_rows
from auclab.datasets.target import Target, as_target
from auclab.estimators.calibration import (
    Cuts,
    Method,
    best_cut,
    decision_threshold,
    fit_calibration,
    held_out_scores,
    read_rule,
    standard_units,
)
from auclab.runs.config.settings import DecisionConfig
from auclab.runs.tracking.address import in_sweep

#: Seconds of a solve that is not repeated on inner folds for probabilities.
_SLOW = 2.0

#: Relative gap of the solves on inner folds, unless the run's is larger: a smaller one does not change a calibration.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Decision:
    """How scores become labels and probabilities.

    `threshold`: scores above it are positive. `rule`: the rule that chose it, as in
    `auclab.estimators.calibration.decision_threshold`. `source`: a description of the scores that it was chosen on.
    `probability`: the calibration as in ``scorer.json``, or None. `note`: why there are no probabilities, else empty.
    """

    threshold: float
    rule: Any
    source: str
    probability: Mapping[str, Any] | None
    note: str = ""

    @property
    def described(self) -> dict[str, Any]:
        """The threshold as in ``scorer.json``."""
        return {"value": self.threshold, "rule": self.rule, "chosen_on": self.source}


#: For a scorer without labels and probabilities.
UNDECIDED = Decision(0.0, 0.0, "no scores", None, "decision.probability=none")


def decide(
    preprocessing: Pipeline,
    scorer: Any,
    X: Any,
    y: NDArray[np.int64] | Target,
    part: Any,
    config: DecisionConfig,
    settings: Callable[[Pipeline], Mapping[str, Any]] | None = None,
) -> Decision:
    """Choose the threshold of a fitted scorer, and calibrate it; rows that are not of two classes have no labels.

    `preprocessing`: fitted again on every inner training part; not changed. `scorer`: fitted on the training part;
    copies of it are fitted on the inner folds. `X` (n_samples, n_features): the training part, before preprocessing.
    `y` (n_samples,), or Target: 0/1, or groups whose rows stay in one inner fold. `part`: the training part as the
    scorer ranks it. `settings`: maps a fitted preprocessing to the parameters of the scorer behind it, on the inner
    folds too.
    """
    if part.ranked_by is not None:
        return UNDECIDED
    if part.held is None:
        return _decide_from_cuts(part.cuts, config)
    target = as_target(y)
    y = target.y
    rule, scores = config.rule, part.held.scores
    reason = _why_not(scorer, X, y, scores, config)
    calibration, source = None, "the scores of the training part"
    if not reason:
        folds = min(config.folds, int(np.bincount(y).min()))
        try:
            rows, held_out = inner_scores(
                preprocessing, scorer, X, target, folds=folds, seed=config.seed, settings=settings
            )
        except AuclabError as error:
            if config.probability != "auto":
                raise
            reason = f"no scores from inner folds: {error}"
        else:
            source = f"out-of-fold scores of the training part, {folds} folds"
            centre, unit = standard_units(scores)
            method: Method = "isotonic" if config.probability == "isotonic" else "sigmoid"
            fitted = fit_calibration(y[rows], held_out, method)
            calibration = fitted.in_units(unit, centre).as_dict() | {"calibrated_on": source}
            y, scores = y[rows], centre + unit * held_out
    return Decision(decision_threshold(y, scores, rule), rule, source, calibration, reason)


def _decide_from_cuts(cuts: Cuts, config: DecisionConfig) -> Decision:
    """The threshold among the edges of a summary of the training part; probabilities need inner folds."""
    check_probability(config)
    rule = config.rule
    name, numbers = read_rule(rule)
    threshold = numbers[0] if name == "score" else best_cut(cuts, name, numbers)
    source = f"the scores of the training part in {cuts.between.size - 1} bins"
    return Decision(threshold, rule, source, None, "rows of blocks are not read again for inner folds")


def check_probability(config: DecisionConfig) -> None:
    """Raise `AuclabError` for a requested calibration where the training part is summarised."""
    if config.probability not in ("auto", "none"):
        raise AuclabError(
            f"decision.probability={config.probability} needs the scores of inner folds in memory, but scores of rows "
            "in blocks are summarised; use decision.probability=none"
        )


def _why_not(scorer: Any, X: Any, y: NDArray[np.int64], scores: Array, config: DecisionConfig) -> str:
    """The reason for no calibration; empty if there is one."""
    if config.probability == "none":
        return "decision.probability=none"
    if np.bincount(y, minlength=2).min() < 2:
        return "a class has one observation in the training part"
    if scores.max() == scores.min():
        return "all scores are equal"
    if config.probability != "auto":
        return ""
    if in_sweep():
        return "jobs of a sweep are not calibrated, unless decision.probability=sigmoid asks for it"
    if not hasattr(X, "iloc") and not hasattr(X, "tocsr"):
        return "rows of blocks are not read again, unless decision.probability=sigmoid asks for it"
    solution = getattr(scorer, "solution_", None)
    if solution is not None and solution.status is Status.INTERRUPTED:
        return "the solve was interrupted"
    if solution is not None and solution.timings.total - solution.timings.compile > _SLOW:
        return "the solve was long, and decision.probability=sigmoid would repeat it on inner folds"
    return ""


def inner_scores(
    preprocessing: Pipeline,
    scorer: Any,
    X: Any,
    target: Target,
    *,
    folds: int,
    seed: int,
    settings: Callable[[Pipeline], Mapping[str, Any]] | None = None,
) -> tuple[NDArray[np.intp], Array]:
    """Rows of the training part, and the score of each from a scorer not fitted on it, in that scorer's units.

    Parameters as in `decide`; `auclab.estimators.held_out_scores` says what the units are.
    """
    y = target.y

    def fit(train: NDArray[np.intp]) -> Callable[[NDArray[np.intp]], Array]:
        prepared, fitted = clone(preprocessing), clone(scorer)
        if "tolerance" in fitted.get_params():
            fitted.set_params(tolerance=max(fitted.tolerance, TOLERANCE))
        rows = prepared.fit_transform(take_rows(X, train), y[train])
        of_rows = get_tags(fitted).input_tags.pairwise  # a precomputed kernel
        if of_rows:
            rows = rows[:, train]
        if settings is not None:
            fitted.set_params(**settings(prepared))
        fitted.fit(rows, y[train])
        status = fitted.solution_.status if hasattr(fitted, "solution_") else Status.OPTIMAL
        if status in (Status.FAILED, Status.INTERRUPTED):
            raise AuclabError(f"a solve on an inner fold ended as {status}")

        def held_out(rows: NDArray[np.intp]) -> Array:
            given = prepared.transform(take_rows(X, rows))
            return raw_scores(fitted, given[:, train] if of_rows else given)

        return held_out

    splits = inner_folds(target, n_folds=folds, seed=seed, setting="decision.folds")
    return held_out_scores(fit, [(split.train, split.test) for split in splits])


def raw_scores(scorer: Any, X: Any) -> Array:
    """Scores of a fitted scorer; if it has a solution, the solution's, without an intercept over pairs."""
    solution = getattr(scorer, "solution_", scorer)
    return np.asarray(solution.decision_function(X), dtype=float)
