"""Hypothesis strategies for nasty scores and weights of two classes."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from strategies import Problem

LARGEST, SMALLEST = 1.7976931348623157e308, 5e-324


@st.composite
def _neighbours(draw):
    """Doubles next to each other around one number: every margin is an ulp or a few."""
    base = draw(
        st.sampled_from([0.1, 1.0, 3.0, 1e8, 1e8 + 0.1, 1e15, 1e16, -1e16, 2.0**52, 1e-300, 1e-308, 1e300, -1e-310])
    )
    return st.integers(-4, 4).map(lambda k: base + k * math.ulp(base))


@st.composite
def _grid(draw):
    """Whole numbers in some unit, on an offset: many ties."""
    unit = draw(st.sampled_from([1.0, 0.1, 1e-9, 1e-12, 2.0**-40, 1e9]))
    offset = draw(st.sampled_from([0.0, 0.0, 1.0, 1e8, -1e12, 1e16]))
    return st.integers(-4, 4).map(lambda k: offset + k * unit)


_WILD = st.tuples(st.floats(1.0, 10.0), st.sampled_from([-1.0, 1.0]), st.integers(-320, 307)).map(
    lambda t: t[0] * t[1] * 10.0 ** t[2]
)
_SUBNORMAL = st.integers(-9, 9).map(lambda k: k * SMALLEST)
_ENDS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 8e307, -8e307, SMALLEST, -SMALLEST, 2.3e-308, 1e-200, 1e200])
_PLAIN = st.floats(-10, 10, allow_subnormal=False)
_SCALES = st.tuples(st.floats(1.0, 2.0), st.sampled_from([-1.0, 1.0]), st.sampled_from([1e-9, 1e-3, 1.0, 1e9])).map(
    lambda t: t[0] * t[1] * t[2]
)


def kinds(wide: bool):
    """Kinds of scores; `wide` for those whose differences span hundreds of orders of magnitude."""
    few = st.one_of(_grid(), _neighbours(), st.just(_PLAIN), st.just(_SUBNORMAL), st.just(_SCALES))
    return st.one_of(few, st.just(_WILD), st.just(_ENDS)) if wide else few


_WEIGHTS = {
    "whole": st.integers(0, 3).map(float),
    "ratios": st.integers(-6, 6).map(lambda k: 10.0**k),
    "tiny": st.sampled_from([0.0, SMALLEST, 3e-320, 1e-300]),
    "large": st.sampled_from([0.0, 1e308, LARGEST, 1e300]),
    "mixed": st.sampled_from([0.0, 1e-12, 1.0, 0.1, 1e12]),
    "plain": st.floats(0.01, 5),
}


@st.composite
def nasty(draw, *, wide=True, most=6, weights=True):
    """Two classes of nasty scores, one observation in a class now and then, with weights or without."""
    kind = draw(kinds(wide))
    values = st.lists(kind, min_size=1, max_size=most)
    pos, neg = draw(values), draw(values)
    name = draw(st.sampled_from([None, None, None, *_WEIGHTS])) if weights else None
    if name is None:
        return Problem(pos, neg)
    weight = _WEIGHTS[name]
    u = draw(st.lists(weight, min_size=len(pos), max_size=len(pos)).filter(any))
    v = draw(st.lists(weight, min_size=len(neg), max_size=len(neg)).filter(any))
    return Problem(pos, neg, u, v)


nasty_settings = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


@st.composite
def crowds(draw):
    """Classes of many equal scores: (problem with the numbers of rows as weights, labels and scores of all rows)."""
    problem = draw(nasty(wide=False, most=4, weights=False))
    count = st.integers(1, 3000)
    counts = [draw(st.lists(count, min_size=len(s), max_size=len(s))) for s in (problem.pos, problem.neg)]
    labels = np.repeat([1, 0], [sum(counts[0]), sum(counts[1])])
    scores = np.repeat(problem.pos + problem.neg, counts[0] + counts[1])
    order = np.random.default_rng(draw(st.integers(0, 99))).permutation(labels.size)
    rows = Problem(problem.pos, problem.neg, *([float(c) for c in of] for of in counts))
    return rows, labels[order], scores[order]
