"""How far a mean over pairs of values in an interval may be from its expectation."""

from __future__ import annotations

import math
from typing import Literal, get_args

from scipy.optimize import brentq

from auclab.types import AuclabError
from auclab.validation import check_choice

Method = Literal["mcdiarmid", "hoeffding", "kl"]


def deviation(n_pos: int, n_neg: int, rho: float) -> float:
    """``√( (1/n_pos + 1/n_neg) ln(1/ρ) / 2 )``, what McDiarmid gives for a mean over pairs of values in [0, 1]."""
    return math.sqrt((1.0 / n_pos + 1.0 / n_neg) * -math.log(rho) / 2.0)


def hinge_range(reach: float) -> float:
    """Length of the interval in which ``[1 − t]₊`` lies for ``|t| ≤ reach``: ``reach + min(1, reach)``."""
    return reach + min(1.0, reach)


def hoeffding(n_pos: int, n_neg: int, rho: float) -> float:
    """``√( ln(1/ρ) / (2 min(n_pos, n_neg)) )``."""
    return math.sqrt(-math.log(rho) / (2.0 * min(n_pos, n_neg)))


def hinge_slack(loss: float, reach: float, n_pos: int, n_neg: int, rho: float, method: Method) -> float:
    """U for a hinge with margins up to `reach` = aS."""
    check_choice("method", method, get_args(Method))
    width = hinge_range(reach)
    if method == "mcdiarmid":
        return width * deviation(n_pos, n_neg, rho)
    if method == "hoeffding" or not math.isfinite(loss):
        return width * hoeffding(n_pos, n_neg, rho)
    least = max(0.0, 1.0 - reach)
    if not least - 1e-9 <= loss <= least + width + 1e-9 * (1.0 + width):
        raise AuclabError(
            f"empirical_loss={loss:.6g} is not a mean of hinges with margins up to a · score_spread = {reach:.6g}, "
            f"which lie in [{least:.6g}, {least + width:.6g}]; raise score_spread"
        )
    if width == 0.0:
        return 0.0
    share = min(max((loss - least) / width, 0.0), 1.0)
    return width * (kl_upper(share, -math.log(rho) / min(n_pos, n_neg)) - share)


def kl_upper(share: float, budget: float) -> float:
    """The largest q with ``kl(p‖q) ≤ budget``, for p = `share` in [0, 1]."""
    if share >= 1.0:
        return 1.0
    if share == 0.0:
        return -math.expm1(-budget)

    def excess(q: float) -> float:
        return share * math.log(share / q) + (1.0 - share) * (math.log1p(-share) - math.log1p(-q)) - budget

    # two points where the divergence exceeds the budget: Pinsker's, and one near 1
    pinsker = share + math.sqrt(budget / 2.0)
    near_one = 1.0 - 0.5 * (1.0 - share) * math.exp(-(budget + 1.0) / (1.0 - share))
    high = min(pinsker, near_one, math.nextafter(1.0, 0.0))
    if high <= share or excess(high) <= 0.0:  # closer than doubles can tell
        return min(pinsker, 1.0)
    # rounded up, which is the safe side
    return min(float(brentq(excess, share, high, xtol=1e-300, rtol=1e-14)) * (1.0 + 1e-13), 1.0)
