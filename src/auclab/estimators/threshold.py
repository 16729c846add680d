"""Where scores are cut into two classes: a rule that is named, applied to the scores of a sample.

A threshold lies in the middle of the gap between two scores of the sample; scores above it are positive. Rows of weight
0 do not count, and integer weights act as repeated rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.precision import ROUNDING
from auclab.types import Array, AuclabError
from auclab.validation import both_classes_weighted, finite_vector, positive_mask, same_length, weight_vector

#: The rules of `decision_threshold`, as they are written.
RULES = "'prior', ('prior', share), 'youden', ('cost', false_positive, false_negative), ('fpr', max_fpr)"


def decision_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    rule: str | Sequence[Any] | float = "prior",
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """The score above which an observation is called positive.

    Use scores of rows that the scorer was not fitted to, such as those of inner folds; scores of the training sample
    are optimistic.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Labels 0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Finite; larger is more positive.
    rule : str, tuple or float
        ``"prior"``: the share of predicted positives matches that of the sample; ``("prior", 0.1)``: it is 0.1.
        ``"youden"``: largest TPR − FPR. ``("cost", c_fp, c_fn)``: least total cost, a false positive at c_fp ≥ 0 and a
        false negative at c_fn ≥ 0. ``("fpr", 0.05)``: largest TPR among the thresholds with FPR ≤ 0.05. A number is
        the threshold itself.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0.
    pos_label : optional
        Label of the positive class.

    Returns
    -------
    float
        The highest of several equally good thresholds; below all scores if all rows are predicted positive, above all
        scores if none is.

    Raises
    ------
    AuclabError
        An unknown rule, a number outside its range, and bad labels, scores or weights.

    See Also
    --------
    auclab.estimators.AUCClassifier : Uses it in `predict`.

    Examples
    --------
    Of the scores 1 to 5, 2 and 5 are positive; two are predicted positive, or one if no false positive is allowed:

    >>> y, s = [0, 1, 0, 0, 1], [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> decision_threshold(y, s, "prior"), decision_threshold(y, s, ("fpr", 0.0))
    (3.5, 4.5)
    >>> decision_threshold(y, s, ("cost", 1.0, 4.0))  # two false positives are cheaper than a false negative
    1.5
    """
    name, numbers = read_rule(rule)
    if name == "score":
        return numbers[0]
    return best_cut(Cuts.of(y_true, y_score, sample_weight, pos_label), name, numbers)


def best_cut(cuts: Cuts, name: str, numbers: Sequence[float]) -> float:
    """The threshold that a rule chooses among cuts.

    `name`, `numbers`: what `read_rule` returns, for any rule but a score.
    """
    if name == "prior":
        share = numbers[0] if numbers else cuts.tp[-1] / (cuts.tp[-1] + cuts.fp[-1])
        # Without a division where it can be helped: sums of integer weights are exact.
        wanted = numbers[0] * (cuts.tp[-1] + cuts.fp[-1]) if numbers else cuts.tp[-1]
        return cuts.threshold(-abs(cuts.tp + cuts.fp - wanted)) if 0 < share < 1 else cuts.ends(share >= 1)
    if name == "youden":
        return cuts.threshold(cuts.tp * cuts.fp[-1] - cuts.fp * cuts.tp[-1])
    if name == "cost":
        return cuts.threshold(numbers[1] * cuts.tp - numbers[0] * cuts.fp)
    allowed = cuts.fp <= numbers[0] * cuts.fp[-1] * (1.0 + ROUNDING)
    return cuts.threshold(np.where(allowed, cuts.tp, -np.inf))


def read_rule(rule: Any) -> tuple[str, tuple[float, ...]]:
    """Name and numbers of a rule of `decision_threshold`, checked; a number is the rule ``"score"``."""
    if isinstance(rule, int | float | np.number) and not isinstance(rule, bool):
        parts: tuple[Any, ...] = ("score", rule)
    elif isinstance(rule, str):
        parts = (rule,)
    elif isinstance(rule, Sequence) and len(rule) > 0:
        parts = tuple(rule)
    else:
        raise AuclabError(f"a decision threshold is one of {RULES}, or a score; got {rule!r}")
    name, given = parts[0], parts[1:]
    wanted = {"prior": (0, 1), "youden": (0,), "cost": (2,), "fpr": (1,), "score": (1,)}
    if not isinstance(name, str) or name not in wanted or len(given) not in wanted[name]:
        raise AuclabError(f"a decision threshold is one of {RULES}, or a score; got {rule!r}")
    try:
        numbers = tuple(float(value) for value in given)
    except (TypeError, ValueError) as error:
        raise AuclabError(f"a decision threshold needs numbers, got {rule!r}; choose one of {RULES}") from error
    if not all(map(math.isfinite, numbers)):
        raise AuclabError(f"a decision threshold needs finite numbers, got {rule!r}")
    if name in ("prior", "fpr") and not all(0.0 <= value <= 1.0 for value in numbers):
        raise AuclabError(f"{'a share' if name == 'prior' else 'max_fpr'} lies in [0, 1], got {rule!r}")
    if name == "cost" and (min(numbers) < 0 or max(numbers) == 0):
        raise AuclabError(f"costs must be ≥ 0 and one of them above 0, got {rule!r}")
    return name, numbers


@dataclass(frozen=True)
class Cuts:
    """Every threshold of a sample, from above all scores down to below all of them, and what is positive above it.

    `between` (n_cuts,): descending; the first is above all scores, the last below all. `tp`, `fp` (n_cuts,): weight of
    the positives and of the negatives above.
    """

    between: Array
    tp: Array
    fp: Array

    @classmethod
    def of(cls, y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any) -> Cuts:
        """The cuts of a sample; tied scores are not cut apart."""
        positive, scores = positive_mask(y_true, pos_label), finite_vector("y_score", y_score)
        same_length(y_true=positive, y_score=scores)
        weight = weight_vector(sample_weight, scores.size)
        weight = np.ones(scores.size) if weight is None else weight
        used = weight > 0
        both_classes_weighted(positive, weight)
        values, group = np.unique(scores[used], return_inverse=True)
        sums = [
            np.bincount(group, weights=weight[used] * side[used], minlength=values.size)
            for side in (positive, ~positive)
        ]
        tp, fp = (np.concatenate(([0.0], np.cumsum(part[::-1]))) for part in sums)
        # Outside by as much as the scores are apart on average, so that the unit of the scores does not matter.
        margin = (values[-1] - values[0]) / (values.size - 1) if values.size > 1 else max(abs(values[0]), 1.0)
        inner = values[:-1] + 0.5 * np.diff(values)
        between = np.concatenate(([values[-1] + 0.5 * margin], inner[::-1], [values[0] - 0.5 * margin]))
        return cls(between, tp, fp)

    def threshold(self, gain: Array) -> float:
        """The highest of the cuts with the largest gain; differences that are rounding do not count."""
        finite = gain[np.isfinite(gain)]
        noise = ROUNDING * max(abs(finite).max(), self.tp[-1], self.fp[-1])
        return float(self.between[np.flatnonzero(gain >= finite.max() - noise)[0]])

    def ends(self, all_positive: bool) -> float:
        """The cut below all scores, or the one above all."""
        return float(self.between[-1 if all_positive else 0])
