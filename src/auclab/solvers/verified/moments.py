"""The sums on which a dual value depends, with bounds of their errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.compiled.accurate import accurate_sum, relative_error, two_sums
from auclab.samples.memory import Sample
from auclab.types import Array


@dataclass(frozen=True)
class Moments:
    """``g = Σ α_i x_i⁺ − Σ β_j x_j⁻`` and the sums ``Σα``, ``Σβ``.

    `high`, `low` (n_features + 1,): g and, as the last entry, ``Σα − Σβ``; the value is ``high + low``. `error`
    (n_features + 1,): bounds on their errors. `total`: ``min(Σα, Σβ)``, rounded down.
    """

    high: Array
    low: Array
    error: Array
    total: float

    @property
    def value(self) -> Array:
        """The sums, rounded; shape (n_features + 1,)."""
        return self.high + self.low

    @property
    def largest(self) -> Array:
        """Upper bounds of their moduli, shape (n_features + 1,)."""
        return (abs(self.value) + self.error) * (1.0 + 2.0**-50)


def moments(sample: Sample, pos: Array, neg: Array) -> Moments:
    """The sums of multipliers ``pos`` (n_pos,) and ``neg`` (n_neg,) of a sample, in one pass over its rows."""
    (high_pos, low_pos, error_pos), (high_neg, low_neg, error_neg) = sample.accurate_sums(pos, neg)
    sum_pos, sum_neg = accurate_sum(pos), accurate_sum(neg)
    parts_pos = np.append(high_pos, sum_pos[0]), np.append(low_pos, sum_pos[1])
    parts_neg = np.append(high_neg, sum_neg[0]), np.append(low_neg, sum_neg[1])
    high, low = two_sums(parts_pos[0], -parts_neg[0])
    carried, lost = two_sums(parts_pos[1], -parts_neg[1])
    high, rest = two_sums(high, low + carried)
    size = abs(parts_pos[0]) + abs(parts_neg[0])
    error = np.append(error_pos + error_neg, relative_error(pos.size + neg.size) * (sum_pos[0] + sum_neg[0]))
    if sample.rounding is not None:
        sums = pos @ sample.rounding.rest_pos, neg @ sample.rounding.rest_neg
        rest[:-1] += sums[0] - sums[1]
        off_by = sample.rounding.error + 2.0**-50 * (pos.size + neg.size) * sample.rounding.largest
        error[:-1] += off_by * ((sum_pos[0] + sum_neg[0]) * (1.0 + 2.0**-50))
    total = min(sum_pos[0], sum_neg[0]) * (1.0 - 2.0**-50)
    return Moments(high, rest + lost, error + 2.0**-100 * size, total)
