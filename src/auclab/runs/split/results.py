"""Results of an experiment: one `Fold` per split, all of them in a `Result`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from auclab._core.base import Status
from auclab.datasets.records import Dataset, Split
from auclab.estimators.baselines import Baseline
from auclab.estimators.linear_ranker import LinearRanker
from auclab.export.formula import Effects
from auclab.formulations import Optimum, Program
from auclab.formulations.problem import Problem
from auclab.runs.split.constrained import SolvedConstraints
from auclab.runs.split.decision import UNDECIDED, Decision
from auclab.runs.split.guarantees import Guarantee
from auclab.runs.split.measured import PartResult
from auclab.runs.split.tuning import Tuning
from auclab.samples.blocks import BlockTable
from auclab.scorecards import Card
from auclab.solvers.solution import Fitted


@dataclass(frozen=True)
class InnerScores:
    """The metrics of the same experiment on inner folds of the training part.

    `means`, `standard_errors`: by metric, the mean over the folds, and s/√folds. `folds`: their number. `seconds`:
    their total time. `values`: by metric, on each fold.
    """

    means: Mapping[str, float]
    standard_errors: Mapping[str, float]
    folds: int
    seconds: float
    values: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, float]:
        """``inner/auc``, ``inner/auc_se``, …, and ``seconds/inner``."""
        errors = {f"inner/{key}_se": value for key, value in self.standard_errors.items()}
        return {f"inner/{key}": value for key, value in self.means.items()} | errors | {"seconds/inner": self.seconds}

    @property
    def statement(self) -> str:
        """The metrics in one line."""
        shown = (f"{key} {value:.4f} ± {self.standard_errors[key]:.4f}" for key, value in self.means.items())
        return f"{', '.join(shown)}; mean of {self.folds} folds of the training part"


@dataclass(frozen=True)
class Fold:
    """One split, solved and measured.

    `model` is the fitted pipeline from raw rows to decisions; `features` names the entries of ``solution.coef``; a
    baseline has no `optimum`; `parts` has "train" and, unless the test part is empty, "test"; `remarks` say which
    bounds were not computed and why; `tuning` says how a parameter was selected, if one was. `training_sha256` is the
    checksum of the prepared training part. `decision` has the threshold and calibration; `scorer` is the contents of
    ``scorer.json``; `effects` are the coefficients in the units of the data, None if the scorer is not a formula over
    the columns. `card` is that of a scorecard. `constraints` says which constraints hold with equality. `in_blocks` are
    the prepared rows of the training part if these are not in memory. `problem` is the program on the training part if
    its model is to be written.
    """

    split: Split
    model: Any
    features: tuple[str, ...]
    solution: Fitted
    optimum: Optimum | None
    parts: Mapping[str, PartResult]
    guarantees: tuple[Guarantee, ...] = ()
    remarks: tuple[str, ...] = ()
    tuning: Tuning | None = None
    training_sha256: str = ""
    decision: Decision = UNDECIDED
    scorer: Mapping[str, Any] | None = None
    effects: Effects | None = None
    card: Card | None = None
    constraints: SolvedConstraints | None = None
    in_blocks: BlockTable | None = None
    inner: InnerScores | None = None
    problem: Problem | None = None

    @property
    def is_constant(self) -> bool:
        """Whether all rows of the training part have the same score."""
        return self.parts["train"].all_tied

    @property
    def formulation(self) -> Program | Baseline:
        """The formulation by name; over comparable pairs, `solution.formulation` is its ranked form."""
        program: Program | Baseline = self.solution.formulation
        named = getattr(self.model[-1], "formulation", None)
        return named if isinstance(named, Program) and isinstance(self.model[-1], LinearRanker) else program

    @property
    def numbers(self) -> dict[str, float]:
        """Everything measured, flat: ``objective``, ``seconds/solve``, ``test/auc``, ``test/auc_se``, ``bound/…``."""
        solution, certificate, timings = self.solution, self.solution.certificate, self.solution.timings
        numbers = {
            "objective": certificate.objective,
            "lower_bound": certificate.lower_bound,
            "gap": certificate.gap,
            "absolute_gap": certificate.absolute_gap,
            "dual_residual": certificate.dual_residual,
            "iterations": float(solution.iterations),
            "alpha": math.nan if self.optimum is None else self.optimum.level,
            "seconds/build": timings.build,
            "seconds/load": timings.load,
            "seconds/compile": timings.compile,
            "seconds/solve": timings.solve,
            "seconds/tune": self.seconds_of_tuning,
            "seconds/total": self.seconds,
        }
        if not self.solution.has_objective:  # its objective is unknown
            numbers = {key: value for key, value in numbers.items() if key.startswith(("seconds", "iterations"))}
        numbers |= {f"{name}/{key}": value for name, part in self.parts.items() for key, value in part.metrics.items()}
        numbers |= self.uncertainty
        if self.tuning is not None:
            numbers |= self.tuning.numbers
        if self.inner is not None:
            numbers |= self.inner.numbers
        for guarantee in self.guarantees:
            numbers |= guarantee.numbers
        return numbers

    @property
    def seconds_of_tuning(self) -> float:
        """Seconds of selecting a parameter; 0 if none was."""
        return 0.0 if self.tuning is None else self.tuning.seconds

    @property
    def seconds(self) -> float:
        """Seconds of the job: build, load, compile, solve and tuning."""
        return self.solution.timings.total + self.seconds_of_tuning

    @property
    def uncertainty(self) -> dict[str, float]:
        """Standard errors and ends of confidence intervals: ``test/auc_se``, ``test/auc_low``, ``test/auc_high``."""
        return {
            f"{name}/{key}_{word}": number
            for name, part in self.parts.items()
            for key, it in part.estimates.items()
            for word, number in (("se", it.standard_error), ("low", it.lower), ("high", it.upper))
        }


@dataclass(frozen=True)
class Result:
    """A finished experiment; `seconds` is its total time, from the data to the bounds.

    `prepared`: notes on imputed values and dropped columns. `leaks`: columns that tell the target alone, in words.
    """

    name: str
    dataset: Dataset
    formulation: Program | Baseline
    folds: tuple[Fold, ...]
    confidence: float
    seconds: float = math.nan
    prepared: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the last solve."""
        return self.folds[-1].solution.status is Status.INTERRUPTED

    @property
    def constant(self) -> str:
        """``constant`` if all scores are equal, with the number of such splits; else empty."""
        count = sum(fold.is_constant for fold in self.folds)
        return "" if not count else "constant" if count == len(self.folds) else f"constant in {count} splits"

    @property
    def summary(self) -> dict[str, float]:
        """Numbers of a single fold, or over several: means, ``…_sd``, and the worst gaps and residuals.

        Each interval belongs to one held-out part and their mean is meaningless, so several folds have none.
        """
        if len(self.folds) == 1:
            return self.folds[0].numbers
        summary: dict[str, float] = {}
        for key in (key for key in self.folds[0].numbers if key not in self.folds[0].uncertainty):
            mean, deviation, worst = spread([fold.numbers.get(key, math.nan) for fold in self.folds])
            summary[key] = worst if key in WORST_COUNTS else mean
            if "/" in key and not key.startswith("seconds"):
                summary[f"{key}_sd"] = deviation
        return summary


#: Over folds the largest value of these is reported.
WORST_COUNTS = ("gap", "absolute_gap", "dual_residual")


def spread(values: list[float]) -> tuple[float, float, float]:
    """Mean, standard deviation (n − 1) and maximum; NaN in, NaN out."""
    if any(math.isnan(value) for value in values):
        return math.nan, math.nan, math.nan
    finite = all(math.isfinite(value) for value in values)
    deviation = stdev(values) if finite and len(values) > 1 else math.nan
    return fmean(values), deviation, max(values)
