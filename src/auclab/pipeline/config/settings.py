"""The settings of an experiment: one frozen record for each group of ``conf/`` that carries options.

Where no formulation is named, it is RankSVM with λ‖w‖², λ chosen on inner folds. Of the formulations with certificates
it has the best average rank by test AUC on 29 data sets; bAUC without a penalty has the worst
(docs/which_formulation.md). With ``solver=highs``, which takes linear programs, the default is bAUC, and a norm that is
not chosen is l1.

`register_schema` hands the records to Hydra as structured configurations, so that an unknown key or a value of another
type is an error of the composition; `typed` turns a composed group into its record, and
`auclab.pipeline.config.settings.check_values` refuses values out of range.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from omegaconf import MISSING, DictConfig, OmegaConf

from auclab.pipeline.config.constraint_settings import ConstraintsConfig
from auclab.tracking.address import TrackingConfig
from auclab.types import AuclabError
from auclab.wording import did_you_mean

if TYPE_CHECKING:
    from auclab.kernels import Kernel


def limited(default: Any, good: Callable[[Any], bool], words: str) -> Any:
    """A field whose values satisfy `good`; `words` state what is needed, after "is VALUE; " in the message."""
    return field(default=default, metadata={"good": good, "words": words})


def chosen(default: str, names: Sequence[str]) -> Any:
    """A field whose value is one of `names`."""
    return field(default=default, metadata={"names": tuple(names)})


def check_values(record: Any, group: str) -> None:
    """Refuse an invalid value of a field of a record; None is valid where its type allows it.

    `record`: with fields made by `limited` and `chosen`, and records of such fields. `group`: its key in the
    settings, for the message.

    Examples
    --------
    >>> from auclab.pipeline.config.settings import SolverConfig
    >>> check_values(SolverConfig("newton", tolerance=-1.0), "solver")
    Traceback (most recent call last):
        ...
    auclab.types.AuclabError: solver.tolerance is -1.0; it is a relative gap > 0, such as 1e-6
    """
    for item in fields(record):
        value, at = getattr(record, item.name), f"{group}.{item.name}"
        if is_dataclass(value):
            check_values(value, at)
            continue
        names, good = item.metadata.get("names"), item.metadata.get("good")
        if names is not None and value not in names:
            raise AuclabError(f"{at} is {value!r}{did_you_mean(value, names)}; it is one of {', '.join(names)}")
        if good is not None and value is not None and not good(value):
            raise AuclabError(f"{at} is {value!r}; {item.metadata['words']}")


#: The parameters of each kernel: γ, degree, c₀.
_OF_KERNELS = ("gamma", "degree", "coef0")


@dataclass(frozen=True)
class KernelConfig:
    """A kernel and how its space is searched; the parameters are those of `auclab.solvers.kernel.solve.solve_kernel`.

    `name`: ``none``, or a name of `auclab.kernels.KERNELS`. `gamma`: a number > 0, ``scale`` or ``auto``. `tolerance`:
    relative gap, > 0; used instead of the solver's, which is for linear scorers.
    """

    name: str = "none"
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 1.0
    tolerance: float = 1e-3
    max_landmarks: int | None = None
    memory_gb: float = 2.0

    def kernel(self) -> Kernel:
        """The kernel, with the parameters that apply to it."""
        from auclab.kernels import as_kernel, kernel_named

        known = as_kernel(self.name).get_params()
        return kernel_named(self.name, **{key: getattr(self, key) for key in known})

    def taking(self, kernel: Kernel) -> KernelConfig:
        """These settings with the γ of the selected kernel."""
        gamma = kernel.get_params().get("gamma")
        return self if gamma is None else replace(self, gamma=gamma)

    @property
    def options(self) -> dict[str, Any]:
        """Further arguments of `auclab.solve` for kernels."""
        names = ("max_landmarks", "memory_gb")
        return {name: getattr(self, name) for name in names}


def resolve_kernel(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that apply to the kernel; empty without one.

    Examples
    --------
    >>> resolve_kernel({"name": "none", "gamma": "scale"})
    {}
    >>> resolve_kernel({"name": "rbf", "gamma": 0.5, "degree": 3, "coef0": 1.0, "memory_gb": 2.0})
    {'name': 'rbf', 'gamma': 0.5, 'memory_gb': 2.0}
    """
    if str(given.get("name", "none")) == "none":
        return {}
    has = {"polynomial": _OF_KERNELS, "precomputed": ()}.get(str(given["name"]), ("gamma",))
    left_out = {key for key in _OF_KERNELS if key not in has}
    return {key: value for key, value in given.items() if key not in left_out}


#: The solver of linear programs.
LINEAR = "highs"

_FORMULATION = ("formulation=ranksvm", "formulation.squared=true")
_TUNING = "tune=penalty"
_CONSTRAINTS = "constraints=rules"
#: The encoding of a scorecard's items, and its time limit.
_SCORECARD, _ITEMS, _SECONDS = "formulation=scorecard", "preprocess=items", "solver.time_limit=60"
_CHOOSES_LINEAR = re.compile(rf"solver=.*\b{LINEAR}\b.*")


def with_formulation(settings: Sequence[str]) -> list[str]:
    """The settings of a command, after the default formulation and its tuning where they name none.

    The columns of an integer scorecard are encoded as items, and its time limit is a minute. A command that sets a
    constraint has ``constraints=rules``, unless it makes another choice.
    """
    keys = {word.partition("=")[0].lstrip("+~").partition("@")[0] for word in settings}
    constrained = any(key.startswith("constraints.") for key in keys) and "constraints" not in keys
    added = [_CONSTRAINTS] if constrained else []
    if _SCORECARD in settings:
        added += [word for word in (_ITEMS, _SECONDS) if word.partition("=")[0] not in keys]
    if keys & {"formulation", "experiment"} or any(map(_CHOOSES_LINEAR.fullmatch, settings)):
        return [*added, *settings]
    added += [word for word in _FORMULATION if word.partition("=")[0] not in keys]
    # Rows in blocks are not split into inner folds.
    fixed = {"tune", "formulation.penalty"} & keys or "dataset=blocks" in settings
    return [*added, *([] if fixed else [_TUNING]), *settings]


def norm_for(solver: str) -> str:
    """The norm of a formulation whose norm is not chosen.

    Examples
    --------
    >>> norm_for("highs"), norm_for("auto")
    ('l1', 'l2')
    """
    return "l1" if solver == LINEAR else "l2"


def linear_notes(config: DictConfig, hydra: DictConfig) -> Iterator[str]:
    """What the solver of linear programs made of settings that were not chosen.

    `config`: composed. `hydra`: Hydra's own configuration of the run.
    """
    if config.solver.name != LINEAR:
        return
    named = any(word.startswith(("formulation=", "experiment=")) for word in hydra.overrides.task)
    if not named and hydra.job.config_name == "config":
        yield (
            f"solver={LINEAR} takes linear programs, and without a formulation it fits bauc, where other solvers fit "
            "ranksvm with λ‖w‖² and λ chosen on inner folds"
        )
    if "norm" in config.formulation and OmegaConf.is_interpolation(config.formulation, "norm"):
        yield f"solver={LINEAR} takes linear programs: a norm that is not chosen is l1, where other solvers take l2"


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
    """

    bins: int | None = None


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

    `parameter`: ``penalty`` (λ), ``threshold`` (z), ``C`` of logistic regression; ``auto``: what the
    formulation has, if any (`auclab.pipeline.config.compose`); ``kernel``: γ of the kernel together with λ or
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


#: The rules of `decision.threshold` that are a word, and the limits on the numbers of the others.
WORDS, NUMBERS = ("prior", "youden"), {"prior": 1, "cost": 2, "fpr": 1}
_RULES = "prior, youden, [prior, SHARE], [cost, FALSE_POSITIVE, FALSE_NEGATIVE], [fpr, MAX_FPR], or a score such as 0"


def check_decision(config: DecisionConfig) -> None:
    """Refuse settings that no data could satisfy."""
    _check_rule(plain_rule(config.threshold))
    check_values(config, "decision")


def plain_rule(rule: Any) -> Any:
    """A rule as Python values, as `auclab.estimators.decision_threshold` takes it."""
    return rule if isinstance(rule, str | int | float) or rule is None else list(rule)


def rule_in_words(rule: Any) -> str:
    """A rule of `plain_rule` in words.

    Examples
    --------
    >>> rule_in_words("prior"), rule_in_words(["fpr", 0.05])
    ('the share of predicted positives is that of the training part', 'the largest TPR with an FPR of at most 0.05')
    """
    name, *given = rule if isinstance(rule, list | tuple) else (rule,)
    if name == "prior":
        share = f"{given[0]:g}" if given else "that of the training part"
        return f"the share of predicted positives is {share}"
    if name == "youden":
        return "the largest TPR − FPR"
    if name == "cost":
        return f"the least cost, {given[0]:g} for a false positive and {given[1]:g} for a false negative"
    if name == "fpr":
        return f"the largest TPR with an FPR of at most {given[0]:g}"
    return "as given"


def _check_rule(rule: Any) -> None:
    if isinstance(rule, int | float) and not isinstance(rule, bool) and math.isfinite(rule):
        return
    if isinstance(rule, str) and rule in WORDS:
        return
    if isinstance(rule, str):
        near = did_you_mean(rule, [*WORDS, *NUMBERS])
        raise AuclabError(f"decision.threshold is {rule!r}{near}; it is {_RULES}")
    name, given = (rule[0], rule[1:]) if isinstance(rule, list) and rule else (None, [])
    numbers = [value for value in given if isinstance(value, int | float) and math.isfinite(value)]
    if name not in NUMBERS or len(numbers) != len(given) or len(given) != NUMBERS[name]:
        raise AuclabError(f"decision.threshold is {rule!r}; it is {_RULES}")
    if name == "cost" and (min(numbers) < 0 or max(numbers) == 0):
        raise AuclabError(f"decision.threshold is {rule!r}; costs are numbers ≥ 0, and not both 0")
    if name != "cost" and not 0 <= numbers[0] <= 1:
        raise AuclabError(f"decision.threshold is {rule!r}; the number is a share between 0 and 1")
