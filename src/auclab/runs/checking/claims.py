"""What a certificate claims, against what is proved: a line per claim."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

from auclab.certificates.checker.bound import Bound, proved_bound
from auclab.certificates.checker.constraints import (
    EQUAL,
    ROUNDING,
    SMALL_OBJECTIVE,
    HeldConstraints,
    StatedConstraints,
    same_as_stored,
    times_power,
    violation,
)
from auclab.certificates.checker.correction import MAX_FEATURES, MOST_PAIRS, at_pairs
from auclab.certificates.checker.data import Data, fractions
from auclab.certificates.checker.kernel import KernelData, RankedKernelData, refused_points
from auclab.certificates.checker.margins import DualScorer, RankedData, as_ranked, read_scorers, rounded_slopes
from auclab.certificates.checker.multipliers import PairMultipliers, at_scorers
from auclab.certificates.checker.pieces import piece_name
from auclab.certificates.checker.program import Program, objective
from auclab.runs.checking.stored import ROUNDING as MODEL_ROUNDING
from auclab.runs.checking.stored import Configured, Split, Training, as_number, farthest, range_of_auc

#: What ``tune=kernel`` selects in addition to γ.
_WITH_KERNELS = frozenset({"penalty", "threshold"})
#: Solvers whose dual points over ranked pairs are stored as scorers; others may store those of single pairs.
_BY_SCORERS = ("newton", "cutting_plane")


#: Slopes over a kernel were summed at scores of orthonormal functions, those here are of coefficients at landmarks.
_KERNEL_SLOPES = 1e-4


class Verdict(StrEnum):
    """What became of a claim; `UNPROVED`: the stored multipliers do not prove what the run claims."""

    CONFIRMED = "confirmed"
    REFUTED = "REFUTED"
    UNPROVED = "NOT PROVED"
    UNCHECKED = "not checked"


@dataclass(frozen=True)
class Claim:
    """A claim, what was found, and the verdict."""

    name: str
    claimed: str
    found: str
    verdict: Verdict


def consistency(split: Split, configured: Configured | None) -> list[Claim]:
    """Claims that need no data: the files of a split agree with each other."""
    claims = []
    program = split.certificate["program"]
    if configured is not None:
        parameters = configured.parameters
        tuned = _WITH_KERNELS if configured.tuned == "kernel" else {configured.tuned}
        if parameters["name"] == "scorecard":  # what these say about the items is checked with the points
            parameters = {key: value for key, value in parameters.items() if key not in ("features", "signs")}
        differing = [
            f"{key} {_shown(value)}"
            for key, value in parameters.items()
            if key not in tuned and not _is(program.get(key), value, tuned)
        ]
        claimed = ", ".join(f"{key} {_shown(value)}" for key, value in program.items() if key in parameters)
        found = f"config.yaml: {', '.join(differing)}" if differing else "the same in config.yaml"
        claims.append(Claim("formulation", claimed, found, _verdict(not differing)))
        tolerance = split.number_of("tolerance")
        found, same = f"config.yaml: {_text(configured.tolerance)}", tolerance == configured.tolerance
        claims.append(Claim("tolerance", _text(tolerance), found, _verdict(same)))
        claims += _kernel_claims(split, configured)
        for name in configured.own_bounds:
            if f"bound/{name}" in split.numbers:
                claimed = f"AUC ≥ {_text(as_number(split.numbers[f'bound/{name}']))}"
                claims.append(Claim(f"bound {name}", claimed, "yours, with no proof here", Verdict.UNCHECKED))
    keys = ("objective", "lower_bound", "gap", "absolute_gap")
    others = {key: as_number(split.numbers.get(key)) for key in keys}
    differing = [f"{key} {_text(others[key])}" for key in keys if not _same(split.number_of(key), others[key])]
    found = f"metrics.json: {', '.join(differing)}" if differing else "the same in metrics.json"
    claims.append(Claim("numbers", "objective, bound, gap", found, _verdict(not differing)))
    value, bound = split.number_of("objective"), split.number_of("lower_bound")
    expected = (value - bound) / max(abs(value), SMALL_OBJECTIVE)
    gap = split.number_of("gap")
    close = (math.isnan(gap) and math.isnan(expected)) or abs(gap - expected) <= EQUAL
    claims.append(Claim("gap", _text(gap), f"{_text(expected)} from objective and bound", _verdict(close)))
    return claims


def against_data(split: Split, training: Training) -> list[Claim]:
    """Whether the training part is the one that was solved, and everything that is claimed about the solution."""
    claims = _same_data(split, training)
    program = Program.from_stored(split.certificate["program"])
    split, misplaced = _on_training_rows(split, training)
    if misplaced is None and split.kernel is None and training.X.shape[1] != split.coef.size:
        misplaced = f"{training.X.shape[1]} features in the data"
    if misplaced is not None:
        return [*claims, Claim("coefficients", str(split.coef.size), misplaced, Verdict.REFUTED)]
    if (claim := _same_comparison(split, program, training)) is not None:
        claims.append(claim)
        if claim.verdict is not Verdict.CONFIRMED:
            return claims
    of_ranked, target = program.is_ranked, training.target
    data = Data.of(training.X, training.y == 1, training.weight)
    if of_ranked:
        alike = target.weights == "groups"
        data = RankedData.comparing(training.X, target.y, target.groups, target.event, groups_alike=alike)
    if split.kernel is not None:
        in_space = KernelData(split.kernel.values(training.X), data.positive, data.weight)
        if (ranked := as_ranked(data)) is not None:
            in_space = RankedKernelData(
                X=in_space.X, positive=data.positive, weight=data.weight, sides=ranked.sides, weights=ranked.weights
            )
        data, program = in_space, in_space.in_space(program)
        claims += _width_claims(split, training)
        claims.append(_length_claim(split, in_space))
    claims += _model_claims(split, training, data)
    low, high = objective(program, data, split.coef, split.intercept)
    claimed = split.number_of("objective")
    unit = max(abs(claimed), SMALL_OBJECTIVE) if math.isfinite(claimed) else SMALL_OBJECTIVE
    slack = Fraction(EQUAL * unit)
    near = math.isfinite(claimed) and low - slack <= Fraction(claimed) <= high + slack
    found = f"{_text(float(high))}, {'exact' if low == high else f'between rationals {float(high - low):.0e} apart'}"
    claims.append(Claim("objective", _text(claimed), found, _verdict(near)))
    if training.items is not None and "points" in split.certificate["program"]:
        wrong = refused_points(split.coef, split.certificate["program"], training.items.tolist(), training.signs)
        found = "; ".join(wrong) or "whole numbers in their range, no more than may be"
        claims.append(Claim("points", f"{np.count_nonzero(split.coef)} items", found, _verdict(not wrong)))
    if training.groups is not None:
        regulariser = split.certificate["program"].get("regulariser")
        labels = regulariser.get("groups") if isinstance(regulariser, Mapping) else None
        same = isinstance(labels, list) and tuple(labels) == training.groups
        claims.append(Claim("groups", f"of {len(training.groups)} columns", "of the same columns", _verdict(same)))
    claims += _constraint_claims(split, training.constraints)
    claims += _bound_claims(split, program, data, high, unit, training.constraints)
    proved = all(claim.verdict is Verdict.CONFIRMED for claim in claims if claim.name == "lower bound")
    return [*claims, *_multiplier_claims(split, program, data, proved=proved)]


def _model_claims(split: Split, training: Training, data: Data) -> list[Claim]:
    """Whether the kept model scores the training rows as the stored point, and has the AUC that is claimed."""
    scores = training.scores
    if scores is None:
        return []
    if isinstance(scores, str):
        return [Claim("model", "the stored point", scores, Verdict.UNCHECKED)]
    whole, exponent = data.scores(split.coef)
    expected = np.array([float(times_power(int(score), exponent)) for score in whole])
    away = farthest(scores, expected)
    found = (
        f"its scores, up to {away:.0e}"
        if away <= MODEL_ROUNDING
        else f"other scores, by up to {away:.1g} of the largest"
    )
    claims = [Claim("model", "the stored point", found, _verdict(away <= MODEL_ROUNDING))]
    claimed = as_number(split.numbers.get("train/auc"))
    if training.target.is_of_classes and math.isfinite(claimed):
        low, high = range_of_auc(expected, training.y == 1)
        holds = low - EQUAL <= claimed <= high + EQUAL
        claims.append(Claim("train/auc", _text(claimed), _text(0.5 * (low + high)), _verdict(holds)))
    return claims


def _on_training_rows(split: Split, training: Training) -> tuple[Split, str | None]:
    """The coefficients of a kernel's scorer for every training row, or what is wrong with its landmarks."""
    if split.landmarks is None:
        return split, None
    places = {int(row): place for place, row in enumerate(training.rows)}
    if len(set(split.landmarks.tolist()) & places.keys()) < split.landmarks.size:
        return split, "landmarks that are not training rows, or repeated"
    coef = np.zeros(training.rows.size)
    coef[[places[int(row)] for row in split.landmarks]] = split.coef
    return replace(split, coef=coef), None


def _kernel_claims(split: Split, configured: Configured) -> list[Claim]:
    """Whether the kernel is that of the configuration; a width may be taken from the training part, or tuned."""
    if split.kernel is None and not configured.kernel:
        return []
    stored = {} if split.kernel is None else {"name": split.kernel.name, **split.kernel.parameters}
    taken = {key for key, value in configured.kernel.items() if key == "gamma" and isinstance(value, str)}
    taken |= {"gamma"} if configured.tuned == "kernel" else set()
    stated = {key: value for key, value in configured.kernel.items() if key not in taken}
    same = stated == {key: value for key, value in stored.items() if key not in taken}
    found = "the same in config.yaml" if same else f"config.yaml: {stated or 'none'}"
    words = "none" if split.kernel is None else split.kernel.words
    claims = [Claim("kernel", words, found, _verdict(same))]
    if split.kernel is not None:
        count = as_number(split.certificate["kernel"].get("landmarks"))
        found = f"{split.coef.size} in landmarks.csv"
        claims.append(Claim("landmarks", f"{count:g}", found, _verdict(count == split.coef.size)))
    return claims


def _width_claims(split: Split, training: Training) -> list[Claim]:
    """Whether γ is what its rule takes from the training part, except for the last digits."""
    if training.gamma is None or split.kernel is None:
        return []
    claimed = split.kernel.parameters["gamma"]
    same = abs(claimed - training.gamma) <= EQUAL * training.gamma
    return [Claim("width", f"γ = {_text(claimed)}", f"{_text(training.gamma)} by its rule", _verdict(same))]


def _length_claim(split: Split, data: KernelData) -> Claim:
    """Whether ‖h‖ is as it is stored."""
    low, high = data.length(fractions(split.coef))
    claimed, slack = as_number(split.certificate["kernel"].get("length")), Fraction(EQUAL) * max(high, Fraction(1))
    near = math.isfinite(claimed) and low - slack <= Fraction(claimed) <= high + slack
    return Claim("length", f"‖h‖ = {_text(claimed)}", _text(float(high)), _verdict(near))


def _multiplier_claims(split: Split, program: Program, data: Data, *, proved: bool) -> list[Claim]:
    """Whether stored multipliers over ranked pairs, which prove nothing themselves, are those of the dual point."""
    if split.kernel is not None and split.certificate["kernel"].get("space") != "whole":
        return []  # they are not of the functions that the bound is for
    if not program.is_ranked or split.table is None or split.table["row"].size != data.positive.size:
        return []
    stored = split.table["multiplier"]
    own = [DualScorer(Fraction(1), split.coef, Fraction(0))]
    scorers = read_scorers(split.certificate.get("scorers"), data.n_features) or own
    point: PairMultipliers | None = at_scorers(program, data, scorers)
    whose = "the slopes at the stored scorers"
    if split.pairs is not None and (ranked := as_ranked(data)) is not None:
        point, whose = at_pairs(program, ranked, split.pairs), "the sums of the stored pairs"
    if point is not None and np.isfinite(stored).all():
        slopes = np.array([value / point.unit for value in point.values])
        factor = float(stored @ slopes) / max(float(slopes @ slopes), 1e-300)  # a bound may scale them
        largest = float(abs(slopes).max(initial=0.0))
        near = (_KERNEL_SLOPES if split.kernel is not None else EQUAL + rounded_slopes(data, scorers)) * largest
        if -EQUAL <= factor <= 1.0 + EQUAL and abs(stored - factor * slopes).max(initial=0.0) <= near:
            return [Claim("multipliers", f"{stored.size} rows", whose, Verdict.CONFIRMED)]
    verdict = Verdict.REFUTED if proved else Verdict.UNCHECKED
    return [Claim("multipliers", f"{stored.size} rows", f"others than {whose}", verdict)]


def _same_comparison(split: Split, program: Program, training: Training) -> Claim | None:
    """Whether the program is over the pairs that the data say; None where either is of two classes."""
    kind = training.target.kind
    stored = split.certificate["program"].get("comparisons")
    claimed = str(stored.get("kind")) if program.is_ranked and isinstance(stored, Mapping) else "classes"
    if claimed == kind == "classes":
        return None
    return Claim("comparison", claimed, f"{kind} in the data", _verdict(claimed == kind))


def _constraint_claims(split: Split, stated: StatedConstraints | None) -> list[Claim]:
    """Whether the constraints are those of the configuration, and the point satisfies them."""
    stored = split.certificate.get("constraints")
    if stated is None and stored is None:
        return []
    stored = stored if isinstance(stored, Mapping) else None
    same = same_as_stored(stated, stored)
    found = "the same from config.yaml" if same else "others from config.yaml"
    claims = [Claim("constraints", "none" if stored is None else "those solved with", found, _verdict(same))]
    if stated is None:
        return claims
    worst, rounding = violation(stated, split.coef.tolist())
    claimed = split.number_of("violation", 0.0)
    holds = worst <= claimed * (1.0 + EQUAL) + rounding
    return [*claims, Claim("satisfied", f"up to {_text(claimed)}", f"up to {_text(worst)}", _verdict(holds))]


def _same_data(split: Split, training: Training) -> list[Claim]:
    stored = split.certificate.get("data") or {}
    claims = []
    for name, key, now in (
        ("data set", "dataset_sha256", training.dataset_sha256),
        ("training part", "training_sha256", training.sha256),
    ):
        then = str(stored.get(key) or "")
        verdict = _verdict(then == now) if then else Verdict.UNCHECKED
        claims.append(Claim(name, f"sha256 {then[:12]}…" if then else "no sha256", f"sha256 {now[:12]}…", verdict))
    if split.table is not None:
        rows, labels = split.table["row"], split.table["y_true"]
        same_rows = np.array_equal(rows, training.rows)
        same = same_rows and np.array_equal(labels, training.y) and _same_target(split, training)
        found = f"{training.rows.size} rows"
        found += ", the same labels" if same else (", other labels" if same_rows else ", others than those stored")
        claims.append(Claim("rows", f"{rows.size} rows with labels", found, _verdict(same)))
    return claims


def _same_target(split: Split, training: Training) -> bool:
    """Whether groups and events of the stored rows are those of the data."""
    then, now = split.target, training.target
    if then is None:
        return bool(now.is_of_classes)
    pairs = ((then.groups, now.groups), (then.event, now.event))
    same = [one is None and other is None for one, other in pairs]
    return (then.kind, then.weights) == (now.kind, now.weights) and all(
        missing or (one is not None and other is not None and np.array_equal(one, other))
        for missing, (one, other) in zip(same, pairs, strict=True)
    )


def _bound_claims(
    split: Split, program: Program, data: Data, value: Fraction, unit: float, stated: StatedConstraints | None
) -> list[Claim]:
    """Lower bound and status; `value` is an upper bound of the exact objective."""
    status, claimed = str(split.certificate.get("status")), split.number_of("lower_bound")
    radius, tolerance = split.number_of("norm_bound", math.inf), split.number_of("tolerance")
    letter = "w" if split.kernel is None else "h"
    limited = f" for ‖{letter}‖ ≤ {radius:.6g}" if math.isfinite(radius) else f" for every {letter}"
    optimal, within = status == "optimal", status == "optimal_within"
    bound, reason = _prove(split, program, data, value, unit, stated)
    found_out = program.threshold == 0 or stated is None
    if program.is_ranked:  # others than these keep no dual point
        found_out = program.regulariser.reach != 0 and split.certificate.get("solver") in _BY_SCORERS
        ranked = as_ranked(data)
        if split.pairs is not None and ranked is not None and ranked.n_pairs <= MOST_PAIRS:
            found_out = program.regulariser.reach != 0 or data.n_features <= MAX_FEATURES
    claims = []
    if not math.isnan(claimed):
        line = ("lower bound", _text(claimed) + limited)
        if bound is None:
            false = math.isfinite(claimed) and Fraction(claimed) > value + Fraction(ROUNDING * unit)
            found = f"above the objective {_text(float(value))}" if false else reason
            claims.append(Claim(*line, found, Verdict.REFUTED if false else Verdict.UNCHECKED))
        else:
            proved = bound.within if math.isfinite(radius) else bound.everywhere
            most = min(proved + Fraction(EQUAL * unit), value + Fraction(ROUNDING * unit))
            close = math.isfinite(claimed) and Fraction(claimed) <= most
            scope = f" for every {letter}" if bound.everywhere >= proved else limited
            claims.append(Claim(*line, f"{_text(float(proved))}{scope}", _proof(close, program, data, found_out)))
    if not (optimal or within):
        known = status in ("local", "uncertified", "time_limit", "iteration_limit", "interrupted", "failed")
        return [*claims, Claim("status", status, "claims no optimum" if known else "unknown", _verdict(known))]
    line = ("status", f"{status}, gap ≤ {tolerance:g}{limited if within else f' for every {letter}'}")
    if bound is None:
        return [*claims, Claim(*line, reason, Verdict.UNCHECKED)]
    proved = bound.everywhere if optimal else bound.within
    gap = float(value - proved) / unit
    return [*claims, Claim(*line, f"gap {gap:.3g}", _proof(gap <= tolerance + EQUAL, program, data, found_out))]


def _prove(
    split: Split, program: Program, data: Data, value: Fraction, unit: float, stated: StatedConstraints | None
) -> tuple[Bound | None, str]:
    """What the multipliers prove, or why nothing is."""
    if program.no_multipliers:
        return None, program.no_multipliers
    if split.kernel is not None and split.certificate["kernel"].get("space") != "whole":
        if split.number_of("lower_bound") <= 0 and value <= split.number_of("tolerance") * unit:
            return Bound(Fraction(0), Fraction(0), math.inf), ""  # hinges are not negative
        return None, "multipliers prove nothing about the functions in the span of the landmarks alone"
    if stated is not None and stated.max_features is not None:
        return None, "with max_features the bound is that of a search tree, which has no multipliers"
    table = split.table
    if program.by_marginals and table is None:
        return None, "no multipliers are stored"
    if table is not None and table["row"].size != data.positive.size:
        return None, f"{table['row'].size} multipliers for {data.positive.size} observations"
    claimed, tolerance = split.number_of("lower_bound"), split.number_of("tolerance")
    status = str(split.certificate.get("status"))
    enough = Fraction(claimed) - Fraction(EQUAL * unit) if math.isfinite(claimed) else Fraction(0)
    if status in ("optimal", "optimal_within") and math.isfinite(tolerance):
        enough = max(enough, value - Fraction((tolerance + EQUAL / 2) * unit))
    radius = split.number_of("norm_bound", math.inf)
    spread = np.array([as_number(entry) for entry in split.certificate.get("spread") or []])
    usable = spread.size == data.n_features and np.isfinite(spread).all() and (spread > 0).all()
    if not program.uses_norm and math.isfinite(radius) and not usable:
        radius = math.inf  # a length without units: only a bound for every w can be checked
    bound = proved_bound(
        program,
        data,
        np.zeros(data.positive.size) if table is None else table["multiplier"],
        None if table is None or "share" not in table else table["share"][~data.positive],
        (split.coef, split.intercept),
        enough=enough,
        radius=radius,
        spread=spread,
        for_all=status != "optimal_within" and (status == "optimal" or not math.isfinite(radius)),
        held=None if stated is None else HeldConstraints.of(stated, _multipliers_of_constraints(split)),
        scorers=read_scorers(split.certificate.get("scorers"), data.n_features) if program.is_ranked else (),
        pairs=split.pairs,
    )
    return (bound, "") if bound is not None else (None, "the multipliers are not finite numbers")


def _multipliers_of_constraints(split: Split) -> list[float] | None:
    """As they are stored; they may be any numbers."""
    stored = split.certificate.get("constraints")
    values = stored.get("multipliers") if isinstance(stored, Mapping) else None
    return [as_number(value, 0.0) for value in values] if isinstance(values, list) else None


def _is(stored: Any, configured: Any, tuned: Collection[str | None]) -> bool:
    """Whether a stored parameter is the configured one; what a piece is configured with, it has to have.

    The tuned λ is the scale of a regulariser's numbers; null stands for what the preprocessing says. Groups of columns
    are a claim of their own.
    """
    if isinstance(stored, Mapping) and isinstance(configured, str):
        names = (piece_name(stored, package) for package in ("margins", "losses"))
        return configured in {short for name in names for short in (name, name.removeprefix("all_"))}
    if not (isinstance(stored, Mapping) and isinstance(configured, Mapping)):
        return bool(stored == configured)
    same_class = str(stored.get("class")).rpartition(".")[2] == str(configured.get("_target_")).rpartition(".")[2]
    skipped = (float, int, type(None)) if "penalty" in tuned else (type(None),)
    others = [
        key for key, value in configured.items() if key not in ("_target_", "groups") and not isinstance(value, skipped)
    ]
    return same_class and all(_is(stored.get(key), configured[key], tuned) for key in others)


def _verdict(holds: bool) -> Verdict:
    return Verdict.CONFIRMED if holds else Verdict.REFUTED


def _proof(holds: bool, program: Program, data: Data, found_out: bool) -> Verdict:
    """The verdict on a bound; where multipliers could not be corrected, that they prove nothing says nothing.

    Nor does it where the bound may be that of other scorers than the one that is stored.
    """
    if holds:
        return Verdict.CONFIRMED
    if program.is_ranked:
        return Verdict.UNPROVED if found_out else Verdict.UNCHECKED
    if not program.by_marginals:
        return Verdict.UNCHECKED
    tried = found_out and (program.regulariser.reach != 0 or data.n_features <= MAX_FEATURES)
    return Verdict.UNPROVED if tried else Verdict.UNCHECKED


def _same(first: float, second: float) -> bool:
    return first == second or (math.isnan(first) and math.isnan(second))


def _shown(value: object) -> str:
    """A stored setting; of a piece with parameters its class and those.

    Examples
    --------
    >>> _shown("l2"), _shown({"class": "auclab.losses.loss.Hinge"}), _shown({"class": "mine.Cut", "at": 2.0})
    ("'l2'", 'Hinge', 'Cut (at 2.0)')
    """
    if not isinstance(value, dict) or "class" not in value:
        return repr(value)
    parameters = ", ".join(f"{key} {item!r}" for key, item in value.items() if key != "class")
    return str(value["class"]).rpartition(".")[2] + (f" ({parameters})" if parameters else "")


def _text(value: float) -> str:
    return f"{value:.12g}"
