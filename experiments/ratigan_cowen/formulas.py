"""Closed forms: the baselines' VOROS on every interval of the paper, Lemmas 22 and 23, Theorem 24, the fraud example.

``as_published`` computes what is printed, ``corrected`` what the definitions ask for (derivations 6, errata R1 to R7).
"""

from __future__ import annotations

from collections.abc import Iterator

from auclab.metrics import auc_score, cost_range, lesser_area, lesser_volume, voros_from_points
from experiments.study import AS_PUBLISHED, CORRECTED, Row, main

BASELINE = ([0.0, 1.0], [0.0, 1.0])
POINT = (0.2, 0.85)
# independent ranges of |N|/|P| and C0/C1
CLASSES, COSTS = (99.0, 999.0), (1 / 5000, 1 / 500)


def run(scale: str) -> Iterator[Row]:
    """Every number of the paper that needs no data (all scales are the same)."""
    yield from _baselines()
    yield from _lemmas()
    yield from _fraud()


def _baselines() -> Iterator[Row]:
    yield Row("example25", _voros(0, 1))
    yield Row("example25.exact", _voros(0, 1))
    auroc = 100 * auc_score([0, 1], [0.0, 0.0])
    for table in ("table1.baseline", "table3.baseline"):
        yield Row(f"{table}.voros", 100 * _voros(0, 1))
        yield Row(f"{table}.auroc", auroc)
    yield Row("table5.base.auroc", auroc)
    yield Row("table2.baseline.low", 100 * _voros(0, 1 / 4))
    yield Row("table2.baseline.high", 100 * _voros(3 / 4, 1))
    for third, ends in (("0_1/3", (0, 1 / 3)), ("1/3_2/3", (1 / 3, 2 / 3)), ("2/3_1", (2 / 3, 1))):
        yield Row(f"table4.baseline.{third}", 100 * _voros(*ends))


def _lemmas() -> Iterator[Row]:
    h, k = POINT
    for variant, published in ((AS_PUBLISHED, True), (CORRECTED, False)):
        yield Row("lemma23", lesser_volume(h, k, cost_range=(0.3, 0.5), as_published=published), variant=variant)
        yield Row("lemma22.outside", float(lesser_area(0.4, 0.5, 0.8, as_published=published)), variant=variant)
    yield Row("theorem24", _restated_area(h, k, 0.37), variant=AS_PUBLISHED)
    yield Row("theorem24", float(lesser_area(h, k, 0.37)), variant=CORRECTED)


def _restated_area(h: float, k: float, t: float) -> float:
    """A_t as the proof of Theorem 24 restates it, with a plus before (1 − k)²/(2t)."""
    v = 1 - k
    return 1 + v**2 / 2 + h**2 / 2 - h * v + v**2 / (2 * t) - h**2 / (2 * (1 - t))


def fraud_intervals() -> dict[str, tuple[float, float]]:
    """The interval of t in the fraud example: of Table 5's header, of the text, and of independent ranges.

    Examples
    --------
    >>> {variant: tuple(round(end, 4) for end in ends) for variant, ends in fraud_intervals().items()}
    {'as_published': (0.1665, 0.2481), 'text': (0.1653, 0.1665), 'corrected': (0.0194, 0.6664)}
    """
    crosswise = (_share(99 / 500), _share(999 / 5000))  # the smallest class ratio with the largest cost ratio
    return {AS_PUBLISHED: (999 / 5999, 99 / 399), "text": crosswise, CORRECTED: cost_range(CLASSES, COSTS)}


def _fraud() -> Iterator[Row]:
    yield Row("fraud.share", 100 * 492 / 284807)
    intervals = fraud_intervals()
    for variant, ends in ((AS_PUBLISHED, intervals["text"]), (CORRECTED, intervals[CORRECTED])):
        yield Row("fraud.interval.low", ends[0], variant=variant)
        yield Row("fraud.interval.high", ends[1], variant=variant)
    for variant, ends in intervals.items():
        yield Row("table5.base", 100 * _voros(*ends), variant=variant)


def _voros(low: float, high: float) -> float:
    return voros_from_points(*BASELINE, cost_range=(low, high))


def _share(odds: float) -> float:
    return odds / (1 + odds)


if __name__ == "__main__":
    main(run)
