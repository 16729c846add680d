"""Nested subsamples, on which a solve starts before it uses all observations."""

from __future__ import annotations

import numpy as np

from auclab.samples.memory import Sample

#: Observations per class of the smallest subsample, the growth factor, and the least ratio of the whole to the largest.
FIRST_SIZE, GROWTH, _LEAST_GROWTH = 2_000, 8, 3


def nested_subsamples(full: Sample) -> list[Sample]:
    """Subsamples in ascending size, each drawn from the next, with more observations than features.

    Empty where the sample is too small for any. The draws have a fixed seed.
    """
    generator, sizes = np.random.default_rng(0), [FIRST_SIZE]
    while _LEAST_GROWTH * sizes[-1] < max(full.n_pos, full.n_neg):
        sizes.append(GROWTH * sizes[-1])
    # The largest is drawn first and the others from it: one pass over the sample, which may be in blocks.
    samples: list[Sample] = []
    for size in reversed(sizes[:-1]):
        drawn = (samples[0] if samples else full).thinned(size, generator) if size >= full.n_features else None
        samples = samples if drawn is None else [drawn, *samples]
    return samples
