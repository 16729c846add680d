"""What an optimal value says about the errors of a scorer (Norton & Uryasev 2018, Prop. 5)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Optimum:
    """Statement of an optimal value about the error ξ of the scorer scaled to norm 1.

    Attributes
    ----------
    threshold
        z: the superquantile of the error at `level` equals it. For a penalised program, the equivalent one.
    bpoe
        The optimal value of the bAUC_z (EC-SVM) program: buffered probability that the error exceeds z. NaN where
        pairs are counted.
    level
        α* = 1 − bpoe; for pairs this is the bAUC_z of the scorer, over the hardest negatives a lower bound of the
        partial AUC divided by its band; where pairs are counted, the AUC.
    quantile, superquantile
        ``z − 1/‖w‖`` and ``z``: an element of [q_α*, q_α*⁺] and the superquantile of the normalised error at
        α* (Norton & Uryasev 2018, Prop. 5, with atoms as in the interval). NaN where w = 0 or the value is 0 or 1.
    statement
        The same in a sentence.

    See Also
    --------
    auclab.formulations.read_optimum : Read a solution.

    Examples
    --------
    >>> import auclab
    >>> solution = auclab.solve(auclab.BufferedAUC(), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    >>> found = auclab.formulations.read_optimum(solution)
    >>> found.threshold, round(found.level, 6) == round(1 - solution.objective, 6)
    (0.0, True)
    """

    threshold: float
    bpoe: float
    level: float
    quantile: float
    superquantile: float
    statement: str
