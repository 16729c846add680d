"""Counterexamples to Vanderlooy & Hüllermeier 2008; the tables' own numbers are read from the studies' files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from statistics import fmean

import numpy as np
from scipy.integrate import quad

from auclab.metrics import auc_score, probabilistic_auc, scored_auc
from experiments.errata.counterexample import Counterexample
from experiments.study import FOLDER, read

WIDTH = 0.1
# the second scorer of Sect. 3.1: nine of twelve pairs apart by 1 or tied
F2 = ([1, 1, 1, 1, 0, 0, 0], [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0])
#: Data sets whose "majority" is below a half.
MINORITIES = ("house_votes", "ionosphere", "liver")


def concordance(difference: float) -> float:
    """P(a > b) for independent a, b uniform within ±h of scores that differ by t: the integral before (5).

    Examples
    --------
    >>> concordance(0.0), concordance(0.3)
    (0.5, 1.0)
    """
    low, high = difference - WIDTH, difference + WIDTH

    def share_below(x: float) -> float:
        return (min(max(x, -WIDTH), WIDTH) + WIDTH) / (2 * WIDTH)

    kinks = [kink for kink in (-WIDTH, WIDTH) if low < kink < high]
    value, _ = quad(share_below, low, high, points=kinks or None)
    return round(value / (high - low), 12)


def modifier(difference: float, *, as_published: bool) -> float:
    """w(t) of probAUC: its value for one pair."""
    return probabilistic_auc([1, 0], [difference, 0.0], width=WIDTH, as_published=as_published)


def published(start: str) -> dict[str, float]:
    """Published values of claims whose identifier begins so, by identifier."""
    from experiments.scoreboard import claims

    found = claims("vanderlooy_huellermeier_2008")
    return {claim.claim_id: claim.value for claim in found if claim.claim_id.startswith(start)}


@cache
def measured(study: str, claim_id: str, variant: str = "") -> float:
    """Mean of the stored values of a claim."""
    _, _, rows = read(FOLDER / "vanderlooy_huellermeier_2008" / "results" / f"{study}.csv")
    return fmean(row.value for row in rows if (row.claim_id, row.variant) == (claim_id, variant))


def v1() -> Counterexample:
    """(5) at t = .05, h = .1."""
    printed, corrected = (modifier(0.05, as_published=switch) for switch in (True, False))
    return Counterexample(printed, corrected, concordance(0.05))


def v2() -> Counterexample:
    """The double integral before (5) at t = .3, h = .1, inner limits not clipped: ½ + t/(2h)."""
    inner = quad(lambda x: (x + WIDTH) / (2 * WIDTH), 0.3 - WIDTH, 0.3 + WIDTH)[0] / (2 * WIDTH)
    return Counterexample(inner, modifier(0.3, as_published=False), concordance(0.3))


def v3() -> Counterexample:
    """Footnote 3: height of the line of f₂, P(h⁺ − h⁻ > τ) for 0 < τ < 1, by the conventional and the strict AUC."""
    y, scores = F2
    gaps = [p - n for label, p in zip(y, scores, strict=True) if label for n in scores[4:]]
    return Counterexample(auc_score(*F2), auc_score(*F2, ties="strict"), float(np.mean([gap > 0.5 for gap in gaps])))


def v4() -> Counterexample:
    """2.3: P(h⁺ − h⁻ > 0) of constant scores, where (2) gives ½."""
    constant = ([1, 0], [0.0, 0.0])
    return Counterexample(auc_score(*constant), auc_score(*constant, ties="strict"), float(0.0 - 0.0 > 0.0))


def v5() -> Counterexample:
    """3.2: 1 − w(t) − w(−t) of probAUC at t = .05, h = .1."""

    def slack(w: Callable[[float], float]) -> float:
        return 1 - w(0.05) - w(-0.05)

    printed, corrected = (slack(partial(modifier, as_published=switch)) for switch in (True, False))
    return Counterexample(printed, corrected, slack(concordance))


def v6() -> Counterexample:
    """Regret of two candidates by ties ½ and ties 1: a tree of one leaf, and one that sAUC prefers, AUC ¾.

    Table 2 shows an AUC that loses .02 and variants that lose .20 where trees of one leaf are among the candidates:
    the tree of one leaf has AUC 1 there, and sAUC's choice the regret ¼; by (2) it has none.
    """
    y, leaf, split = [1, 1, 0, 0], [0.5] * 4, [0.9, 0.4, 0.5, 0.1]
    assert scored_auc(y, split) > scored_auc(y, leaf)
    regrets = [
        max(auc_score(y, leaf, ties=ties), auc_score(y, split, ties=ties)) - auc_score(y, split, ties=ties)
        for ties in ("half", "upper")
    ]
    pairs = [(p, n) for p in split[:2] for n in split[2:]]
    return Counterexample(regrets[0], regrets[1], 1.0 - float(np.mean([p >= n for p, n in pairs])))


def v7() -> Counterexample:
    """Table 1: the majority of house votes, of 267 and 168 rows."""
    value = published("table1.house_votes.majority")["table1.house_votes.majority"]
    return Counterexample(value, 100 - value, measured("data_sets", "table1.house_votes.majority"), tolerance=0.005)


def v8() -> Counterexample:
    """Table 1: the majority of sonar, 111 of 208 rows, to two digits."""
    value = published("table1.sonar.majority")["table1.sonar.majority"]
    return Counterexample(value, round(100 * 111 / 208, 2), 100 * 111 / 208, tolerance=0.005)


def v9() -> Counterexample:
    """Table 1: the majority of heart, 150 of 270 rows; no whole number of 270 rows is 59.50 %."""
    value = published("table1.heart_statlog.majority")["table1.heart_statlog.majority"]
    assert all(abs(100 * count / 270 - value) > 0.1 for count in range(271))
    return Counterexample(
        value, 100 * 150 / 270, measured("data_sets", "table1.heart_statlog.majority"), tolerance=0.005
    )


def v14() -> Counterexample:
    """Table 1: the majority of spect, whose last column F22 has 157 of 267 rows, the diagnosis 212."""
    printed = published("table1.spect.majority")["table1.spect.majority"]
    assert round(100 * 157 / 267, 2) == printed
    return Counterexample(printed, 100 * 212 / 267, measured("data_sets", "table1.spect.majority"), tolerance=0.005)


def v10() -> Counterexample:
    """Table 1: rows of monks2, 169 for training and 432 for testing."""
    value = published("table1.monks2.size")["table1.monks2.size"]
    return Counterexample(value, 169 + 432, measured("data_sets", "table1.monks2.size"))


def v11() -> Counterexample:
    """Caption of Table 3: what sAUC sees between the candidates, a pure split of two positives and six negatives.

    Pruning leaves it as it is, Laplace's correction does not; the text says that sAUC prefers the tree without.
    """
    y = [1] * 2 + [0] * 6
    plain, corrected = [1.0] * 2 + [0.0] * 6, [3 / 4] * 2 + [1 / 8] * 6
    pruned = plain
    change = scored_auc(y, plain) - scored_auc(y, corrected)
    return Counterexample(scored_auc(y, plain) - scored_auc(y, pruned), change, 1.0 - (3 / 4 - 1 / 8))


def v12() -> Counterexample:
    """4.2: sets of Table 3 in which AUC has the lowest regret; the text says all but one."""
    cells = published("table3.")
    names = [key.split(".")[1] for key in published("table1.") if key.endswith(".size")]
    rows = [[cells[f"table3.{name}.{metric}"] for metric in ("auc", "sauc", "soft", "prob")] for name in names]
    lowest = sum(row[0] <= min(row) for row in rows)
    beaten = sum(min(row[1:]) < row[0] for row in rows)
    return Counterexample(len(names) - 1, len(names) - beaten, lowest)


def v13() -> Counterexample:
    """Table 1: features of ionosphere, which has 34 and the class."""
    value = published("table1.ionosphere.features")["table1.ionosphere.features"]
    return Counterexample(value, value - 1, measured("data_sets", "table1.ionosphere.features"))
