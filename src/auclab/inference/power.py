"""Power and sample size of the paired test of two scorers, from a pilot sample.

A difference of two values has, from the components of a pilot (`components`), the variance of one positive and of one
negative, ``S10`` and ``S01``: those of the differences of the two scorers' components, which hold their covariance. A
study of m₊ positives and m₋ negatives then has

    SE² = S10/m₊ + S01/m₋

(Obuchowski & McClish 1997, Statistics in Medicine 16, 1529–1542, with variances estimated instead of binormal), and a
difference d is found at the level α with the power

    Φ(d/SE − z) + Φ(−d/SE − z),    z = Φ⁻¹(1 − α/2),

of one side with the margin δ of non-inferiority ``Φ((d + δ)/SE − Φ⁻¹(1 − α))``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from scipy.stats import norm

from auclab._core.base import AuclabError
from auclab.inference.catalogue import estimable
from auclab.inference.comparison import Alternative, check_alternative
from auclab.inference.components import Observations
from auclab.metrics.roc import finite_number


@dataclass(frozen=True)
class DifferenceDesign:
    """What a pilot says of a study that compares two scorers.

    Attributes
    ----------
    difference : float
        The difference that the study is to find: the pilot's, or one that was given.
    variance_pos, variance_neg : float
        S10 and S01: the difference has the variance ``variance_pos/n_pos + variance_neg/n_neg``.
    share : float
        Share of positives among the rows of the study.
    alternative : str
    margin : float
    alpha : float
        Level of the test.

    See Also
    --------
    design_of_difference : Computes it.

    Examples
    --------
    With variances ¼ and ¼ and 50 + 50 rows the standard error is 0.1: a difference of 0.196 is found half of the time.

    >>> design = DifferenceDesign(0.196, 0.25, 0.25, 0.5, "two-sided", 0.0, 0.05)
    >>> round(design.power(50, 50), 3)
    0.5
    >>> design.sample_size(0.5)
    (50, 50)
    """

    difference: float
    variance_pos: float
    variance_neg: float
    share: float
    alternative: Alternative
    margin: float
    alpha: float

    @property
    def lead(self) -> float:
        """How far the difference is from the edge of the hypothesis."""
        if self.alternative == "two-sided":
            return abs(self.difference)
        return self.margin + (self.difference if self.alternative == "greater" else -self.difference)

    @property
    def critical(self) -> float:
        """The statistic that rejects."""
        return float(norm.isf(0.5 * self.alpha if self.alternative == "two-sided" else self.alpha))

    def power(self, n_pos: int, n_neg: int) -> float:
        """Chance that a study of these sizes rejects."""
        for name, n in (("n_pos", n_pos), ("n_neg", n_neg)):
            if not finite_number(name, n) >= 2:
                raise AuclabError(f"{name} must be at least 2, got {n}")
        statistic = self.lead / math.sqrt(self.variance_pos / n_pos + self.variance_neg / n_neg)
        found = float(norm.sf(self.critical - statistic))
        return found + float(norm.sf(self.critical + statistic)) if self.alternative == "two-sided" else found

    def sample_size(self, power: float = 0.8) -> tuple[int, int]:
        """Numbers of positives and negatives, in the design's share, that have the power."""
        if not self.alpha < finite_number("power", power) < 1.0:
            raise AuclabError(f"power must lie between alpha={self.alpha} and 1, such as 0.8, got {power}")
        if not self.lead > 0.0:
            raise AuclabError(
                f"no number of rows has a power of {power}: the difference {self.difference:.3g} is not on the side of "
                f"alternative={self.alternative!r} with margin={self.margin}; give another difference"
            )
        of_one_row = self.variance_pos / self.share + self.variance_neg / (1.0 - self.share)
        # The other side of a two-sided test adds less than α/2 to the power, and is left out.
        rows = of_one_row * ((self.critical + float(norm.ppf(power))) / self.lead) ** 2
        return max(math.ceil(self.share * rows), 2), max(math.ceil((1.0 - self.share) * rows), 2)


def design_of_difference(
    y_true: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    metric: str | Callable[..., float] = "auc",
    *,
    difference: float | None = None,
    share: float | None = None,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    alpha: float = 0.05,
    pos_label: Any = None,
    **options: Any,
) -> DifferenceDesign:
    """Power and sample size of `compare_scorers`, from the components of a pilot.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Labels of the pilot, independent rows.
    scores_a, scores_b : arrays of shape (n_samples,)
        Two scores of every row of the pilot.
    metric, pos_label, **options
        As in `estimate`; a metric that has components, such as ``"auc"`` and ``"bauc"``.
    difference : float, optional
        The difference to be found, first minus second; by default the pilot's, which a small pilot knows badly. Better
        the smallest one that matters. The variance is the pilot's in any case.
    share : float, optional
        Share of positives in the study; by default that of the pilot.
    alternative, margin
        As in `compare_scorers`.
    alpha : float
        Level of the test, in (0, 1).

    Returns
    -------
    DifferenceDesign
        With ``power(n_pos, n_neg)`` and ``sample_size(power)``.

    Raises
    ------
    AuclabError
        As `compare_scorers`; a metric without components, a pilot whose rows do not distinguish the scorers.

    See Also
    --------
    compare_scorers : The test.

    Examples
    --------
    The differences of the components are 0, ½ and ½, 0, so that S10 = S01 = 1/8, and ``SE² = 1/8/40 + 1/8/40`` with
    40 + 40 rows:

    >>> pilot = design_of_difference([1, 1, 0, 0], [3, 2, 1, 0], [3, 1, 2, 0], difference=0.2)
    >>> pilot.variance_pos, pilot.variance_neg, round(pilot.power(40, 40), 4)     # Φ(0.2/0.07906 − 1.96)
    (0.125, 0.125, 0.7156)
    >>> pilot.sample_size(0.8)                                                     # 0.25 (2.8016/0.2)² = 49.06
    (50, 50)
    """
    check_alternative(alternative, margin)
    if not 0.0 < finite_number("alpha", alpha) < 1.0:
        raise AuclabError(f"alpha must lie in (0, 1), such as 0.05, got {alpha}")
    estimated = estimable(metric, options)
    if estimated.rows is None:
        raise AuclabError(f"power needs components, which {estimated.name} has not; auc and bauc have them")
    a, b = (
        Observations.of(y_true, scores, None, pos_label, name=name)
        for name, scores in (("scores_a", scores_a), ("scores_b", scores_b))
    )
    found = estimated.components(a) - estimated.components(b)
    if not found.standard_error > 0.0:
        raise AuclabError("the rows of the pilot do not distinguish the scorers, or a class has one row: no variance")
    share = found.pos.size / a.score.size if share is None else finite_number("share", share)
    if not 0.0 < share < 1.0:
        raise AuclabError(f"share must lie in (0, 1), got {share}; it is that of the positives")
    of_pos, of_neg = (n * part**2 for n, part in zip(found.sizes, found.parts, strict=True))
    wanted = found.value if difference is None else finite_number("difference", difference)
    return DifferenceDesign(wanted, of_pos, of_neg, share, alternative, margin, alpha)
