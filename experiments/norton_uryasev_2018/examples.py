"""Constructed examples of Sects. 3 to 4.5: few ranking errors, known by hand, as printed and corrected.

With one negative at 0 a positive at −e has the ranking error e, so any list of errors is a sample.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from auclab.metrics import auc_score, bauc_score, bpoe, buffered_auc
from experiments.study import AS_PUBLISHED, CORRECTED, Row, holds, main

SEEDS = {"smoke": 2, "default": 20, "full": 200}
ATOMS = [-1.0] * 6 + [1.0] * 4


def run(scale: str) -> Iterator[Row]:
    """All examples; those with random errors for every seed of the scale."""
    for seed in range(SEEDS[scale]):
        yield from _two_classifiers(seed)
    yield from _hundred_errors()
    yield from _atoms()
    yield from _recipe(SEEDS[scale])
    yield Row("case_study.scenarios", 3990 * 2788)


def _sample(errors: list[float] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    errors = np.asarray(errors, dtype=float)
    return np.append(np.ones(errors.size, dtype=int), 0), np.append(-errors, 0.0)


def _two_classifiers(seed: int) -> Iterator[Row]:
    """Sect. 4.2: conditions (a), (b), (c), then (a), (d), (e), with the wrong share and the sizes at random."""
    random = np.random.default_rng(seed)
    wrong, right = int(random.integers(5, 20)), int(random.integers(60, 100))
    unsure = -random.uniform(1, 2, right)  # (c): every right ranking of h1 surer than any of h2
    sure = unsure.min() - random.uniform(0.5, 2, right)
    first, second = (_sample(np.concatenate([np.ones(wrong), rights])) for rights in (sure, unsure))
    equal = auc_score(*first) == auc_score(*second) > 0
    yield holds("s4.2.buffer", equal and bauc_score(*first) > bauc_score(*second) > 0, seed)
    mild = random.uniform(0, 1, wrong)  # (e): every wrong ranking of h2 worse than any of h1
    severe = mild.max() + random.uniform(0.01, 1, wrong)
    first, second = (_sample(np.concatenate([wrongs, -np.ones(right)])) for wrongs in (mild, severe))
    equal = auc_score(*first) == auc_score(*second) > 0
    yield holds("s4.2.severity", equal and bauc_score(*first) > bauc_score(*second) > 0, seed)


def _hundred_errors() -> Iterator[Row]:
    """Sect. 4.3: ξ(70) … ξ(100) ≥ 0 with the buffer ξ(69) as printed; ξ(71) … ξ(100) and ξ(70) corrected."""
    for variant, wrong in ((AS_PUBLISHED, 31), (CORRECTED, 30)):
        sample = _sample([-100.0] * (99 - wrong) + [-float(wrong)] + [1.0] * wrong)
        yield Row("s4.3.auc", auc_score(*sample), variant=variant)
        yield Row("s4.3.bauc", bauc_score(*sample), variant=variant)


def _atoms() -> Iterator[Row]:
    """Props. 1 and 3 where errors have atoms: with and without the share θ of the atom at γ*."""
    buffered = buffered_auc(*_sample(ATOMS))
    yield Row("prop3.area", buffered.area_closed - buffered.value, variant=AS_PUBLISHED)
    area = buffered.area_open + buffered.theta * (buffered.area_closed - buffered.area_open)
    yield Row("prop3.area", area - buffered.value, variant=CORRECTED)
    errors, gamma = np.array(ATOMS), buffered.gamma_left
    beyond = errors[errors > gamma]
    above, tail = beyond.size / errors.size, beyond.sum() / errors.size
    yield Row("prop1.area", above - bpoe(errors, 0.0), variant=AS_PUBLISHED)
    yield Row("prop1.area", above + tail / (0 - gamma) - bpoe(errors, 0.0), variant=CORRECTED)


def _recipe(samples: int) -> Iterator[Row]:
    """Sect. 4.5.1 on random errors and on constant scores: largest distance from bAUC, in units of one pair."""
    cases = [np.zeros(40)]
    cases += [np.random.default_rng(seed).normal(-0.5, 1, 60) for seed in range(samples)]
    exact = np.array([bauc_score(*_sample(errors)) for errors in cases])
    sizes = np.array([errors.size for errors in cases])
    for variant, recipe in ((AS_PUBLISHED, _running_average), (CORRECTED, _running_average_with_ties)):
        values = np.array([recipe(errors) for errors in cases])
        yield Row("s4.5.1.recipe", float((sizes * np.abs(values - exact)).max()), variant=variant)


def _running_average(errors: np.ndarray) -> float:
    """From the largest error down until the average is at most 0, ``1 − m̂/N``; 0 if it never is."""
    average = np.cumsum(np.sort(errors)[::-1]) / np.arange(1, errors.size + 1)
    reached = np.flatnonzero(average <= 0)
    return 1 - (reached[0] + 1) / errors.size if reached.size else 0.0


def _running_average_with_ties(errors: np.ndarray) -> float:
    """The same, with all errors equal to a largest one of 0 counted."""
    if errors.max() == 0:
        return 1 - np.count_nonzero(errors == 0) / errors.size
    return _running_average(errors)


if __name__ == "__main__":
    main(run)
