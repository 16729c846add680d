"""Nested subsamples, on which a solve starts before it uses all observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from auclab.samples.memory import Sample

#: Observations per class of the smallest subsample, and by what factor each next one is larger.
FIRST_SIZE, GROWTH = 2_000, 8
#: The whole has more than this many times the observations of the largest subsample.
_MIN_RATIO = 3


def nested_subsamples(full: Sample) -> list[Sample]:
    """Subsamples in ascending size, each drawn from the next, with more observations than features.

    Empty where the sample is too small for any. The draws have a fixed seed.
    """
    size = max(full.n_pos, full.n_neg)
    generator = np.random.default_rng(0)
    levels = []
    level = FIRST_SIZE
    while _MIN_RATIO * level < size:
        if level >= full.n_features:
            levels.append(level)
        level *= GROWTH
    # The largest is drawn first and the others from it: one pass over the whole, which may be out of memory.
    samples: list[Sample] = []
    for level in reversed(levels):
        samples.insert(0, _subsample(samples[0] if samples else full, level, generator))
    return samples


def ranked_subsamples(full: Any) -> list[Sample]:
    """Subsamples of a `RankedSample` in ascending size: of many groups, whole groups. The draws have a fixed seed."""
    generator, size = np.random.default_rng(0), 2 * FIRST_SIZE
    samples: list[Sample] = []
    while _MIN_RATIO * size < full.n_pos:
        drawn = full.thinned(size, generator) if size >= full.n_features else None
        samples += [drawn] if drawn is not None else []
        size *= GROWTH
    return samples


def _subsample(sample: Sample, size: int, generator: np.random.Generator) -> Sample:
    """At most `size` observations of either class, drawn with replacement."""
    drawn = [
        generator.integers(0, count, size) if count > size else np.arange(count)
        for count in (sample.n_pos, sample.n_neg)
    ]
    shares = [share[rows] for share, rows in zip((sample.share_pos, sample.share_neg), drawn, strict=True)]
    X_pos, X_neg = sample.take(*drawn)
    share_pos, share_neg = (share / share.sum() for share in shares)
    return Sample(
        X_pos,
        X_neg,
        share_pos,
        share_neg,
        sample.prior_pos,
        sample.positive,
        sample.weighted,
        prior_neg=sample.prior_neg,
    )
