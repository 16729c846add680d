"""What a solve of a fuzzed program was worth, by exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from .exact import ExactSample, norm_enclosure, split, value
from .exact_optimum import Enclosure, optimum
from .nasty import Case

#: A bound may lie above the exact optimum by this share of ``max(optimum, 1e-3)``: the weights of a program are
#: normalised in floats, and the exact ones are not.
BOUND_SLACK = 1e-12
#: Beyond the tolerance, an objective may be larger than the optimum by this factor of it.
TOLERANCE_SLACK = 1.01
#: Largest relative error of an objective, in units of ``max(objective, 1e-3)``.
OBJECTIVE_SLACK = 1e-9
SMALL = Fraction(1, 1000)
#: Verdicts that are defects.
DEFECTS = ("CRASH", "HANG", "FALSE_BOUND", "FALSE_OPTIMUM", "WRONG_OBJECTIVE")


@dataclass(frozen=True)
class Answer:
    """What a solver said, or how it ended without a word: `end` is solved, refused, unable, crash or hang."""

    solver: str
    end: str
    status: str = ""
    objective: float = math.nan
    bound: float = math.nan
    norm_bound: float = math.inf
    coef: tuple[float, ...] = ()
    intercept: float = 0.0
    seconds: float = math.nan
    message: str = ""


@dataclass(frozen=True)
class Verdict:
    """The verdict in one word, and the numbers behind it."""

    word: str
    low: float = math.nan
    high: float = math.nan
    #: How far the bound lies above the least value it speaks of; at most 0 for a true bound.
    bound_excess: float = math.nan
    #: How far the value lies above the least value the status speaks of, in units of max(optimum, 1e-3).
    optimum_excess: float = math.nan
    #: Relative error of the objective.
    objective_error: float = math.nan
    defects: tuple[str, ...] = field(default=())


def judge(
    case: Case, answers: Sequence[Answer], spread: Sequence[float], tolerance: float, seconds: float = 20.0
) -> list[Verdict]:
    """A verdict for every answer.

    Parameters
    ----------
    case : Case
    answers : sequence of Answer
        All points found serve as upper bounds of the optimum.
    spread : sequence of float
        The unit of every feature in which `norm_bound` is stated where the program has no norm.
    tolerance : float
        The one the solvers were given.
    seconds : float
        Processor seconds for the exact optimum.
    """
    if all(answer.end in ("refused", "unable", "hang", "crash") for answer in answers):
        return [_unsolved(answer, math.nan, math.nan) for answer in answers]
    program, sample = case.program, ExactSample.of(case.X, case.y, case.weight)
    found = {k: _point(program, answer) for k, answer in enumerate(answers) if _finite(answer)}
    values = {k: value(program, sample, *split(program, point)) for k, point in found.items()}
    best = optimum(program, sample, list(found.values()), seconds=seconds)
    length = _length_of(program, spread)

    def least_within(radius: float, own: Sequence[Fraction]) -> Fraction:
        if math.isinf(radius):
            return best.high
        points = [best.point, *found.values()]
        return _least_within(
            points, own, Fraction(radius), length, lambda p: value(program, sample, *split(program, p))[1]
        )

    return [
        _verdict(answer, best, tolerance, found.get(k), values.get(k), least_within) for k, answer in enumerate(answers)
    ]


def _verdict(
    answer: Answer,
    best: Enclosure,
    tolerance: float,
    point: Sequence[Fraction] | None,
    exact: tuple[Fraction, Fraction] | None,
    least_within: Callable[[float, Sequence[Fraction]], Fraction],
) -> Verdict:
    """The verdict on one answer."""
    low = math.nan if best.low is None else as_float(best.low)
    high = as_float(best.high)
    if answer.end != "solved":
        return _unsolved(answer, low, high)
    if point is None or exact is None:
        return Verdict("CRASH", low, high, defects=("CRASH",))
    defects = []
    least = least_within(answer.norm_bound, point)
    bound_excess = math.nan
    if math.isfinite(answer.bound):
        bound_excess = as_float(Fraction(answer.bound) - least)
        if bound_excess > BOUND_SLACK * max(as_float(least), 1e-3):
            defects.append("FALSE_BOUND")
    known = math.isfinite(answer.objective)
    reported = Fraction(answer.objective) if known else exact[0]
    off = max(exact[0] - reported, reported - exact[1], Fraction(0))
    error = as_float(off / max(abs(exact[0]), SMALL)) if known else math.inf
    if error > OBJECTIVE_SLACK:
        defects.append("WRONG_OBJECTIVE")
    # "optimal" speaks of every w, "optimal_within" of those within its radius.
    target = least if answer.status == "optimal_within" else best.high
    optimum_excess = as_float((max(exact[0], reported) - target) / max(target, SMALL))
    if answer.status in ("optimal", "optimal_within") and optimum_excess > TOLERANCE_SLACK * tolerance:
        defects.append("FALSE_OPTIMUM")
    order = [name for name in DEFECTS if name in defects]
    return Verdict(order[0] if order else answer.status, low, high, bound_excess, optimum_excess, error, tuple(order))


def unjudged(answer: Answer) -> Verdict:
    """The verdict where the exact optimum was not found: crashes and hangs are seen without it."""
    return Verdict("UNJUDGED") if answer.end == "solved" else _unsolved(answer, math.nan, math.nan)


def _unsolved(answer: Answer, low: float, high: float) -> Verdict:
    """The verdict on a solve that gave no solution."""
    word = answer.end.upper()
    return Verdict(word, low, high, defects=(word,) if word in DEFECTS else ())


def as_float(number: Fraction) -> float:
    """The nearest float, infinite where there is none."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)


def _finite(answer: Answer) -> bool:
    return answer.end == "solved" and bool(np.isfinite([*answer.coef, answer.intercept]).all())


def _point(program, answer: Answer) -> list[Fraction]:
    """Coefficients, and the intercept over points, as rational numbers."""
    coef = [Fraction(a) for a in answer.coef]
    return [*coef, Fraction(answer.intercept)] if program.comparisons.name == "points" else coef


def _length_of(program, spread: Sequence[float]) -> Callable[[Sequence[Fraction]], Fraction]:
    """The length in which `norm_bound` is stated."""
    units = [Fraction(float(s)) for s in spread]

    def length(point: Sequence[Fraction]) -> Fraction:
        coef, _ = split(program, point)
        if program.uses_norm:
            return norm_enclosure(coef, program.regulariser.name)[1]
        return norm_enclosure([a * s for a, s in zip(coef, units, strict=True)], "l2")[1]

    return length


def _least_within(
    points: Sequence[Sequence[Fraction]],
    own: Sequence[Fraction],
    radius: Fraction,
    length: Callable[[Sequence[Fraction]], Fraction],
    at: Callable[[Sequence[Fraction]], Fraction],
) -> Fraction:
    """The least value known within the radius: known points, and where the ways to them leave the ball."""
    null = [Fraction(0)] * len(own)
    starts = [p for p in (own, null) if length(p) <= radius]
    inside = [*starts, *(p for p in points if length(p) <= radius)]
    for start in starts:
        for end in points:
            if length(end) <= radius:
                continue
            low, high = Fraction(0), Fraction(1)
            for _ in range(80):
                middle = (low + high) / 2
                reached = [a + middle * (b - a) for a, b in zip(start, end, strict=True)]
                low, high = (middle, high) if length(reached) <= radius else (low, middle)
            inside.append([a + low * (b - a) for a, b in zip(start, end, strict=True)])
    return min(map(at, inside))
