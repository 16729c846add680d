"""The settings of an experiment: one frozen record for each group of ``conf/`` that carries options.

`register_schema` hands the records to Hydra as structured configurations, so that an unknown key or a value of another
type is an error of the composition; `typed` turns a composed group into its record, and
`auclab.pipeline.config.limits.check_values` refuses values out of range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeVar, cast

from omegaconf import MISSING, DictConfig, OmegaConf

from auclab.pipeline.config.constraint_settings import ConstraintsConfig
from auclab.pipeline.config.default_experiment import norm_for
from auclab.pipeline.config.kernel_settings import KernelConfig
from auclab.pipeline.config.limits import chosen, limited
from auclab.tracking.config import TrackingConfig
from auclab.types import AuclabError

# In every process that reads a configuration: workers of a sweep compose none.
OmegaConf.register_new_resolver("norm_for", norm_for, replace=True)

_FOLDS = "cross-validation needs at least 2"
_NOT_NEGATIVE = (lambda value: value >= 0, "it must be ≥ 0")


@dataclass(frozen=True)
class SolverConfig:
    """The solver, and the options of every solver.

    `name`: ``auto`` or a solver of `auclab.solvers.registry.SOLVERS`. `tolerance`: relative gap at or below which a
    solution is optimal, > 0. `time_limit`: seconds for the solver alone, > 0.
    """

    name: str = MISSING
    tolerance: float = limited(1e-6, lambda gap: gap > 0, "it is a relative gap > 0, such as 1e-6")
    time_limit: float | None = limited(None, lambda limit: limit > 0, "it is a number of seconds > 0, or null for none")

    @property
    def options(self) -> dict[str, Any]:
        """The options that only this solver has; a model is written by the run, not by the solver."""
        common = {item.name for item in fields(SolverConfig)} | {"export"}
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name not in common}


@dataclass(frozen=True)
class HighsConfig(SolverConfig):
    """Options of ``solver=highs``.

    `encoding`: how the pairs enter the linear program: ``auto``, ``full``, ``dual`` or ``aggregated``. `export`: a path
    ending in .lp or .mps to which the program of the run is written, one file for each split.
    """

    encoding: str = chosen("auto", ("auto", "full", "dual", "aggregated"))
    export: str | None = limited(
        None, lambda path: path.endswith((".lp", ".mps")), "the path of a model ends in .lp or .mps"
    )


@dataclass(frozen=True)
class NewtonConfig(SolverConfig):
    """Options of ``solver=newton``, for large samples in blocks.

    `bins`: initial number of score bins; 0 keeps all scores in this process, None takes what the tolerance needs.
    `checkpoint`: a folder to which the state is saved after every pass over the rows, and from which a solve resumes.
    """

    bins: int | None = None
    checkpoint: str | None = None


@dataclass(frozen=True)
class CuttingPlaneConfig(SolverConfig):
    """Options of ``solver=cutting_plane``.

    `max_iters`: largest number of cuts, ≥ 1.
    """

    max_iters: int = limited(5_000, lambda number: number >= 1, "at least 1 is needed")


@dataclass(frozen=True)
class ScsConfig(SolverConfig):
    """Options of ``solver=scs``.

    `max_iters`: largest number of iterations, ≥ 1.
    """

    max_iters: int = limited(200_000, lambda number: number >= 1, "at least 1 is needed")


@dataclass(frozen=True)
class TuneConfig:
    """A parameter of the formulation that is selected by cross-validation inside the training part.

    `parameter`: ``penalty`` (λ), ``threshold`` (z), ``C`` or ``n_estimators`` of baselines; ``auto``: what the
    formulation has, if any (`auclab.pipeline.config.auto_tuning`); ``kernel``: γ of the kernel together with λ or
    z (`auclab.pipeline.split.kernel_tuning`); None takes the formulation as given. `values`: the values of the path, in
    any order; empty for λ: those of `auclab.solvers.penalty_series`. `grids`: of ``auto`` and ``kernel``: the
    values of every parameter. `gammas`: of ``kernel``: multiples of the kernel's own γ, in any order. `tolerance`:
    relative gap of the solves on inner folds, > 0; None is that of the solve itself. `metric`: a name in
    `auclab.metrics.registry.METRICS`. `options`: options of the metric, such as ``{max_fpr: 0.1}``. `folds`: inner
    folds, ≥ 2. `seed`: of the inner folds, ≥ 0. `one_standard_error`: whether the simplest scorer within one standard
    error of the best is taken.
    """

    parameter: str | None = None
    values: list[float] = field(default_factory=list)
    grids: dict[str, Any] = field(default_factory=dict)
    gammas: list[float] = field(default_factory=list)
    tolerance: float | None = limited(None, lambda gap: gap > 0, "it is a relative gap > 0, such as 1e-2")
    metric: str = "auc"
    options: dict[str, Any] = field(default_factory=dict)
    folds: int = limited(5, lambda number: number >= 2, _FOLDS)
    seed: int = limited(0, *_NOT_NEGATIVE)
    one_standard_error: bool = False


@dataclass(frozen=True)
class DecisionConfig:
    """How the scores of a model are turned into labels and probabilities.

    `threshold`: the rule of `auclab.estimators.threshold.decision_threshold`: ``prior`` (the share of positives in the
    training part), ``youden``, ``[cost, 1, 5]`` (a false positive costs 1, a false negative 5), ``[fpr, 0.05]``, or a
    score. `probability`: ``sigmoid`` or ``isotonic`` (calibrated on inner folds of the training part), ``none``, or
    ``auto``: ``sigmoid``, but none in the jobs of a sweep and after a long solve. `folds`: inner folds, ≥ 2. `seed`: of
    the inner folds, ≥ 0.
    """

    threshold: Any = "prior"
    probability: str = chosen("auto", ("auto", "sigmoid", "isotonic", "none"))
    folds: int = limited(5, lambda number: number >= 2, _FOLDS)
    seed: int = limited(0, *_NOT_NEGATIVE)


@dataclass(frozen=True)
class InnerConfig:
    """Inner folds of the training part on which the whole experiment is repeated.

    `folds`: 0 for none, else ≥ 2. `seed`: of the folds, ≥ 0. `tolerance`: relative gap of the solves on the folds, > 0;
    None, and a value below the solve's own, is that of the solve itself.
    """

    folds: int = limited(0, lambda number: number == 0 or number >= 2, "it is at least 2, or 0 for none")
    seed: int = limited(0, *_NOT_NEGATIVE)
    tolerance: float | None = limited(
        None,
        lambda gap: 0 < gap < 1,
        "it is a relative gap between 0 and 1, such as 1e-2, or null for that of the solve itself",
    )


@dataclass(frozen=True)
class StabilityConfig:
    """Stability bounds on the training part.

    `a`: scale of the hinge ``[1 − a w·(x⁺ − x⁻)]₊``, ≥ 0, fixed before the data are seen.
    """

    a: float = limited(1.0, *_NOT_NEGATIVE)


@dataclass(frozen=True)
class MarginConfig:
    """Margin bound on the training part; it has no options."""


@dataclass(frozen=True)
class FixedScorerConfig:
    """Bounds on the held-out part, which the scorer does not depend on; they have no options."""


@dataclass(frozen=True)
class WeightedConfig:
    """Bound on the partial AUC of the held-out part.

    `max_fpr`: end of the band of false positive rates, in (0, 1]; None takes that of the formulation, if it has one.
    """

    max_fpr: float | None = limited(None, lambda rate: 0 < rate <= 1, "it is a rate in (0, 1]")


@dataclass(frozen=True)
class BoundsConfig:
    """Which generalization bounds are computed; a kind that is None is left out.

    `rho`: 1 − confidence of each bound, in (0, 1).
    """

    rho: float = limited(0.05, lambda rho: 0 < rho < 1, "it is one minus the confidence, between 0 and 1, such as 0.05")
    stability: StabilityConfig | None = None
    margin: MarginConfig | None = None
    fixed_scorer: FixedScorerConfig | None = None
    weighted: WeightedConfig | None = None


class Figures(StrEnum):
    """Which figures a run draws when it is kept; ``auclab figures RUN`` draws those of a kept run."""

    #: ROC curve and scores of a single run (its first split) in the store, after its result is shown; none in a sweep.
    AUTO = "auto"
    #: None.
    NONE = "none"
    #: Those of the held-out part.
    TEST = "test"
    #: Those of the training part too.
    ALL = "all"


def parse_figures(value: Any) -> Figures:
    """The setting ``figures``; true and false, which earlier versions had, are ``test`` and ``none``.

    Examples
    --------
    >>> [parse_figures(value).value for value in ("all", True, False, None)]
    ['all', 'test', 'none', 'none']
    """
    if value is None or isinstance(value, bool):
        return Figures.TEST if value else Figures.NONE
    try:
        return Figures(str(value).lower())
    except ValueError:
        raise AuclabError(f"figures is {value!r}; it is one of auto, none, test and all") from None


#: The groups with a record; the others name an object (``_target_``) and its arguments.
_TYPED = {
    "solver": SolverConfig,
    "tune": TuneConfig,
    "bounds": BoundsConfig,
    "decision": DecisionConfig,
    "constraints": ConstraintsConfig,
    "inner": InnerConfig,
    "kernel": KernelConfig,
    "tracking": TrackingConfig,
}
_SOLVERS = {
    "cutting_plane": CuttingPlaneConfig,
    "highs": HighsConfig,
    "newton": NewtonConfig,
    "scs": ScsConfig,
}

T = TypeVar("T")


def register_schema() -> None:
    """Register the records with Hydra, which then checks keys and types when it composes."""
    from hydra.core.config_store import ConfigStore

    store = ConfigStore.instance()
    store.store(name="schema", node={group: _editable(kind) for group, kind in _TYPED.items()})
    # Under hydra/, so that the help page does not list them as choices.
    store.store(group="hydra/schema/solver", name="common", node=_editable(SolverConfig))
    for name, kind in _SOLVERS.items():
        store.store(group="hydra/schema/solver", name=name, node=_editable(kind))


def typed(config: Any, kind: type[T]) -> T:
    """A group of a composed configuration as a record of type `kind` or of its subclass for the selected solver.

    Configurations that were kept with a run are plain mappings and are checked here.
    """
    from omegaconf.errors import ConfigKeyError, OmegaConfBaseException

    if kind is SolverConfig and isinstance(config, Mapping):
        kind = cast(type[T], _SOLVERS.get(str(config.get("name")), SolverConfig))
    try:
        # A group that an older run lacks is an empty mapping.
        composed = OmegaConf.is_config(config)
        plain = OmegaConf.create(OmegaConf.to_container(config, resolve=True) if composed else config)
        return cast(T, OmegaConf.to_object(OmegaConf.merge(_editable(cast(type, kind)), plain)))
    except OmegaConfBaseException as error:
        group = "solver" if issubclass(kind, SolverConfig) else kind.__name__.removesuffix("Config").lower()
        names = [item.name for item in fields(kind)]  # type: ignore[arg-type]
        choices = ", ".join(names)
        if not isinstance(config, Mapping):
            settings = ", ".join(f"{group}.{name}" for name in names)
            raise AuclabError(f"{group} is {config!r}; it has settings of its own: {settings}") from None
        if isinstance(error, ConfigKeyError):
            raise AuclabError(f"{group}.{error.full_key} is not a setting; {group} has {choices}") from None
        raise AuclabError(f"{group}.{error.full_key}: {str(error).splitlines()[0]}; {group} has {choices}") from None


def read_class_weight(value: Any) -> dict[int, float] | Literal["balanced"] | None:
    """The setting ``class_weight`` as `auclab.estimators.AUCClassifier` takes it for labels 0 and 1.

    Examples
    --------
    >>> read_class_weight({"negative": 1, "positive": 5}), read_class_weight("balanced"), read_class_weight(None)
    ({0: 1.0, 1: 5.0}, 'balanced', None)
    """
    import math

    if value is None or value == "balanced":
        return cast("Literal['balanced'] | None", value)
    weights = dict(value) if isinstance(value, dict | DictConfig) else {}
    numbers = [each for each in weights.values() if isinstance(each, int | float) and not isinstance(each, bool)]
    good = len(numbers) == len(weights) == 2 and all(0 < each < math.inf for each in numbers)
    if not good or set(weights) != {"negative", "positive"}:
        shown = weights or value
        raise AuclabError(
            f"class_weight is {shown!r}; it is null, balanced, or a weight > 0 for each class, "
            "'class_weight={negative: 1, positive: 5}'"
        )
    return {0: float(weights["negative"]), 1: float(weights["positive"])}


@cache
def _editable(kind: type) -> DictConfig:
    """A structured configuration of a frozen record into which Hydra may still merge choices; merging copies it."""
    node = OmegaConf.structured(kind)

    def allow(part: Any) -> None:
        if OmegaConf.is_config(part):
            OmegaConf.set_readonly(part, False)
            for key in part:
                allow(part._get_node(key))

    allow(node)
    return cast(DictConfig, node)
