"""Nested subsamples, on which a solve starts before it uses all observations."""

from __future__ import annotations

import numpy as np

from auclab.samples.memory import Sample

#: Observations per class of the smallest subsample, and by what factor each next one is larger; the whole is larger
#: than the last by half of that or more.
FIRST_SIZE, GROWTH = 2_000, 8


def nested_subsamples(full: Sample) -> list[Sample]:
    """Subsamples in ascending size, each drawn from the next, with more observations than features.

    Empty where the sample is too small for any. The draws have a fixed seed.
    """
    generator, sizes = np.random.default_rng(0), [FIRST_SIZE]
    while 0.5 * GROWTH * sizes[-1] < max(full.n_pos, full.n_neg):
        sizes.append(GROWTH * sizes[-1])
    # The largest is drawn first and the others from it: one pass over the whole, which may be out of memory.
    samples: list[Sample] = []
    for size in reversed(sizes[:-1]):
        drawn = (samples[0] if samples else full).thinned(size, generator) if size >= full.n_features else None
        samples = samples if drawn is None else [drawn, *samples]
    return samples
