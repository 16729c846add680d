"""The settings of an experiment: one frozen record for each group of ``conf/`` with options, and files of rules.

Where no formulation is named, it is RankSVM with λ‖w‖², λ chosen on inner folds. Of the formulations with certificates
it has the best average rank by test AUC on 29 data sets; bAUC without a penalty has the worst
(docs/which_formulation.md). With ``solver=highs``, which takes linear programs, the default is bAUC, and a norm that is
not chosen is l1.

A setting is described once, by `setting`: its limits for the checks, its words for messages and ``--help``.
`register_schema` hands the records to Hydra as structured configurations, so that an unknown key or a value of another
type is an error of the composition; `typed` turns a composed group into its record, which refuses values out of range.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import ConfigKeyError, MissingMandatoryValue, OmegaConfBaseException

from auclab._core.base import AuclabError
from auclab._core.words import did_you_mean
from auclab.runs.tracking.address import TrackingConfig

if TYPE_CHECKING:
    from auclab.formulations.constraints import Constraints
    from auclab.kernels import Kernel

#: Bytes of a file of settings; auclab's own have a few thousand.
SETTINGS_BYTES = 1_000_000


def setting(default: Any, words: str = "", good: Callable[[Any], bool] | None = None, names: Sequence[str] = ()) -> Any:
    """The one description of a setting: a field of which checks, messages and ``--help`` are made.

    `words`: what it is, after "it is" in a message. `good`: whether a value is within the limits, as null is where it
    is the default. `names`: the values that there are.
    """
    described: dict[str, Any] = {"words": words, "good": good, "names": tuple(names)}
    if names:
        described["words"] = f"one of {', '.join(names)}{words and ': '}{words}"
        described["good"] = lambda value: (str(value).lower() if isinstance(value, bool) else value) in names
    if isinstance(default, list | dict):
        return field(default_factory=type(default), metadata=described)
    return field(default=default, metadata=described)


@dataclass(frozen=True)
class Settings:
    """The settings of a group; a value out of its limits is refused.

    Examples
    --------
    >>> SolverConfig("newton", tolerance=-1.0)
    Traceback (most recent call last):
        ...
    auclab.AuclabError: solver.tolerance is -1.0; it is a relative gap > 0, such as 1e-6
    """

    #: Its key in the configuration; empty for settings of no group.
    group: ClassVar[str] = ""

    def __init_subclass__(cls, *, group: str = "") -> None:
        cls.group = group or cls.group

    def __post_init__(self) -> None:
        for item in fields(self):
            value, good = getattr(self, item.name), item.metadata.get("good")
            if good is not None and not (value is None and item.default is None) and not good(value):
                key, near = f"{self.group}.{item.name}".lstrip("."), did_you_mean(value, item.metadata["names"])
                raise AuclabError(f"{key} is {value!r}{near}; it is {item.metadata['words']}")


def is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_gap(value: float) -> bool:
    return value > 0


def _is_seed(value: int) -> bool:
    return value >= 0


def _are_folds(number: int) -> bool:
    return number >= 2


def _is_of_classes(weights: Any) -> bool:
    if not isinstance(weights, Mapping):
        return bool(weights == "balanced")
    return {*weights} == {"negative", "positive"} and all(is_number(each) and each > 0 for each in weights.values())


def _is_folder(path: Any) -> bool:
    return Path(str(path)).expanduser().is_dir()


def _is_rule(rule: Any) -> bool:
    if rule == "prior":
        return True
    from auclab.estimators.calibration import read_rule  # scikit-learn

    try:
        read_rule(list(rule) if isinstance(rule, Sequence) and not isinstance(rule, str) else rule)
    except AuclabError:
        return False
    return True


_FOLDS = "a number of inner folds, and cross-validation needs at least 2"
_SEED = "the seed of the inner folds, ≥ 0"


@dataclass(frozen=True)
class RunConfig(Settings):
    """The settings of no group."""

    data_dir: Any = setting(None, "a folder that is there, searched first for data files, or null", _is_folder)
    rerun: Any = setting(
        "stale", "finished jobs computed again: of other code, none, all", names=("stale", "false", "true")
    )
    class_weight: Any = setting(
        None, "null, balanced, or a weight > 0 for each class, {negative: 1, positive: 5}", _is_of_classes
    )
    figures: Any = setting("auto", "what is drawn; auto: of single runs", names=("auto", "none", "test", "all"))


@dataclass(frozen=True)
class KernelConfig(Settings, group="kernel"):
    """A kernel and how its space is searched, by `auclab.solvers.kernel.solve.solve_kernel`."""

    name: str = "none"
    gamma: Any = setting("scale", "a number > 0, scale (1/(n_features · variance)) or auto (1/n_features)")
    degree: int = setting(3, "of (γ x·y + coef0)^degree")
    coef0: float = setting(1.0, "of (γ x·y + coef0)^degree")
    tolerance: float = setting(1e-3, "a relative gap > 0 to the optimum over the space", _is_gap)
    max_landmarks: int | None = setting(None, "null (2000; 200 for formulations without a norm) or a number of rows")
    memory_gb: float = setting(2.0, "a number of gigabytes")

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
        return {"max_landmarks": self.max_landmarks, "memory_gb": self.memory_gb}


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


@dataclass(frozen=True)
class SolverConfig(Settings, group="solver"):
    """The solver, and the options of every solver."""

    name: str = MISSING
    tolerance: float = setting(1e-6, "a relative gap > 0, such as 1e-6", _is_gap)
    time_limit: float | None = setting(None, "a number of seconds > 0, or null for none", lambda limit: limit > 0)

    @property
    def options(self) -> dict[str, Any]:
        """The options that only this solver has; a model is written by the run, not by the solver."""
        common = {item.name for item in fields(SolverConfig)} | {"export"}
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name not in common}


@dataclass(frozen=True)
class HighsConfig(SolverConfig):
    """Options of ``solver=highs``."""

    encoding: str = setting("auto", "how pairs enter the program", names=("auto", "full", "dual", "aggregated"))
    export: str | None = setting(
        None, "a path ending in .lp or .mps for the program of each split", lambda path: path.endswith((".lp", ".mps"))
    )


@dataclass(frozen=True)
class NewtonConfig(SolverConfig):
    """Options of ``solver=newton``; `bins` for large samples in blocks."""

    bins: int | None = setting(None, "an initial number of score bins; 0 keeps all scores in this process")
    max_iter: int = setting(5_000, "a largest number of Newton steps, at least 1", lambda number: number >= 1)
    first_width: float = setting(1.0, "a first smoothing width, > 0, in units of the margins", lambda width: width > 0)
    subsample_width: float = setting(0.03, "a least smoothing width on a subsample, > 0", lambda width: width > 0)
    least_width: float = setting(2.0**-26, "a least smoothing width, > 0", lambda width: width > 0)
    subsample_size: int = setting(2_000, "observations a class, at least 1", lambda number: number >= 1)


@dataclass(frozen=True)
class CuttingPlaneConfig(SolverConfig):
    """Options of ``solver=cutting_plane``."""

    max_iters: int = setting(5_000, "a largest number of iterations, at least 1", lambda number: number >= 1)


@dataclass(frozen=True)
class ScsConfig(SolverConfig):
    """Options of ``solver=scs``."""

    max_iters: int = setting(200_000, "a largest number of iterations, at least 1", lambda number: number >= 1)


@dataclass(frozen=True)
class TuneConfig(Settings, group="tune"):
    """A parameter of the formulation that is selected by cross-validation inside the training part.

    ``auto`` is the parameter that the formulation has, if any (`auclab.runs.config.compose`), ``kernel`` γ of the
    kernel together with λ or z (`auclab.runs.split.kernel_tuning`).
    """

    parameter: str | None = setting(None, "penalty (λ), threshold (z), C, auto, kernel, or null")
    values: list[float] = setting([], "a list of numbers to choose from; [] for λ: a series of its own")
    grids: dict[str, Any] = setting({}, "of tune=auto and tune=kernel: a list for each parameter")
    gammas: list[float] = setting(
        [], "a list of multiples > 0 of γ", lambda given: all(0 < g < math.inf for g in given)
    )
    tolerance: float | None = setting(None, "a relative gap > 0 on inner folds, or null: that of the solve", _is_gap)
    metric: str = setting("auc", "a metric, as of the group metrics")
    options: dict[str, Any] = setting({}, "options of the metric, such as {max_fpr: 0.1}")
    folds: int = setting(5, _FOLDS, _are_folds)
    seed: int = setting(0, _SEED, _is_seed)
    one_standard_error: bool = setting(False, "true for the simplest scorer within one standard error of the best")


@dataclass(frozen=True)
class DecisionConfig(Settings, group="decision"):
    """How the scores of a model are turned into labels and probabilities."""

    threshold: Any = setting(
        "prior",
        "prior, youden, [prior, SHARE], [cost, FALSE_POSITIVE, FALSE_NEGATIVE], [fpr, MAX_FPR], or a score such as 0, "
        "with shares in [0, 1] and costs ≥ 0, not both 0",
        _is_rule,
    )
    probability: str = setting(
        "auto",
        "auto is sigmoid, but none in sweeps and after a long solve",
        names=("auto", "sigmoid", "isotonic", "none"),
    )
    folds: int = setting(5, _FOLDS, _are_folds)
    seed: int = setting(0, _SEED, _is_seed)

    @property
    def rule(self) -> Any:
        """The rule as Python values, as `auclab.estimators.decision_threshold` takes it."""
        return self.threshold if isinstance(self.threshold, str | int | float) else list(self.threshold)


@dataclass(frozen=True)
class InnerConfig(Settings, group="inner"):
    """Inner folds of the training part on which the whole experiment is repeated."""

    folds: int = setting(0, "at least 2, or 0 for none", lambda number: number == 0 or number >= 2)
    seed: int = setting(0, _SEED, _is_seed)
    tolerance: float | None = setting(
        None,
        "a relative gap between 0 and 1, such as 1e-2, or null for that of the solve itself",
        lambda gap: 0 < gap < 1,
    )


@dataclass(frozen=True)
class StabilityConfig(Settings, group="bounds.stability"):
    """Stability bounds on the training part."""

    a: float = setting(1.0, "a scale ≥ 0 of the hinge [1 − a w·(x⁺ − x⁻)]₊", lambda scale: scale >= 0)


@dataclass(frozen=True)
class MarginConfig:
    """Margin bound on the training part; it has no options."""


@dataclass(frozen=True)
class FixedScorerConfig:
    """Bounds on the held-out part, which the scorer does not depend on; they have no options."""


@dataclass(frozen=True)
class WeightedConfig(Settings, group="bounds.weighted"):
    """Bound on the partial AUC of the held-out part."""

    max_fpr: float | None = setting(
        None, "a rate in (0, 1], or null for that of the formulation", lambda rate: 0 < rate <= 1
    )


@dataclass(frozen=True)
class BoundsConfig(Settings, group="bounds"):
    """Which generalization bounds are computed; a kind that is None is left out."""

    rho: float = setting(0.05, "one minus the confidence, between 0 and 1, such as 0.05", lambda rho: 0 < rho < 1)
    stability: StabilityConfig | None = None
    margin: MarginConfig | None = None
    fixed_scorer: FixedScorerConfig | None = None
    weighted: WeightedConfig | None = None
    own: Any = setting(
        None,
        "bounds of your own on the AUC of the held-out part, by name: a function (y_true, y_score, *, rho) -> Bound",
        lambda own: isinstance(own, Mapping) and all(isinstance(each, Mapping) for each in own.values()),
    )


def _are_columns(value: Any) -> bool:
    names = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(name, str | int) and not isinstance(name, bool) for name in names)


def _are_numbers(value: Any) -> bool:
    return isinstance(value, Mapping) and _are_columns([*value]) and all(map(is_number, value.values()))


def _are_rows(value: Any) -> bool:
    rows = [value] if isinstance(value, Mapping) else value
    return isinstance(rows, list | tuple) and all(map(_is_row, rows))


def _is_row(row: Any) -> bool:
    kinds = set(row) & {"at_most", "at_least", "equals"} if isinstance(row, Mapping) else set()
    if len(kinds) != 1 or set(row) != {"coefficients", *kinds}:
        return False
    return bool(row["coefficients"]) and _are_numbers(row["coefficients"]) and is_number(row[kinds.pop()])


_COLUMNS = "a list of columns, such as [age,debt]"
_NUMBERS = "a number for each column, such as {age: 0, debt: 0.5}"


@dataclass(frozen=True)
class ConstraintsConfig(Settings, group="constraints"):
    """Conditions on a linear scorer, by column names and in the units of the data, as in `auclab.Constraints`."""

    nonnegative: Any = setting([], _COLUMNS, _are_columns)
    nonpositive: Any = setting([], _COLUMNS, _are_columns)
    lower: Any = setting(None, _NUMBERS, _are_numbers)
    upper: Any = setting(None, _NUMBERS, _are_numbers)
    rows: Any = setting(
        [],
        "a list of coefficients and one of at_most, at_least, equals: [{coefficients: {age: 1, debt: -2}, at_most: 0}]",
        _are_rows,
    )
    sum_to: Any = setting(None, "a number", is_number)
    excluded: Any = setting([], _COLUMNS, _are_columns)
    forced: Any = setting([], _COLUMNS, _are_columns)
    max_features: Any = setting(None, "a whole number ≥ 1", lambda most: type(most) is int and most >= 1)
    file: str | None = setting(None, "a yaml file with these keys; what is typed is added to it, or replaces it")


#: The groups of which every choice has all settings, by their records.
_TYPED: dict[str, Any] = {
    **{kind.group: kind for kind in (SolverConfig, BoundsConfig, DecisionConfig, InnerConfig)},
    "tracking": TrackingConfig,
}
#: Those whose choices have some; their yaml files say which.
_CHOSEN: tuple[Any, ...] = (TuneConfig, KernelConfig, ConstraintsConfig)
_SOLVERS = {"cutting_plane": CuttingPlaneConfig, "highs": HighsConfig, "newton": NewtonConfig, "scs": ScsConfig}

#: What each setting of a record is, by its key.
WORDS: dict[str, str] = {
    f"{getattr(kind, 'group', 'tracking')}.{item.name}".lstrip("."): item.metadata["words"]
    for kind in (RunConfig, *_TYPED.values(), *_CHOSEN, *_SOLVERS.values(), StabilityConfig, WeightedConfig)
    for item in fields(kind)
    if item.metadata.get("words")
}


def settings_page() -> str:
    """Every setting of a record and what it is, for ``--help``."""
    return "\n".join(f"  {key:<26} {words}" for key, words in sorted(WORDS.items())).strip()


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

    Configurations that were kept with a run are plain mappings and are checked here; a group that an older run lacks
    is an empty one.
    """
    group: str = getattr(kind, "group", "tracking")
    if not isinstance(config, Mapping):
        keys = ", ".join(f"{group}.{item.name}" for item in fields(cast(Any, kind)))
        raise AuclabError(f"{group} is {config!r}; it has settings of its own: {keys}")
    if kind is SolverConfig:
        kind = cast(type[T], _SOLVERS.get(str(config.get("name")), SolverConfig))
    given: Any = OmegaConf.to_container(config, resolve=True) if OmegaConf.is_config(config) else config
    plain = OmegaConf.create(given)
    try:
        return cast(T, OmegaConf.to_object(OmegaConf.merge(_editable(cast(type, kind)), plain)))
    except MissingMandatoryValue:  # a stored configuration without the group
        raise
    except OmegaConfBaseException as error:
        key = str(error.full_key).partition("[")[0]
        if isinstance(error, ConfigKeyError):
            names = ", ".join(item.name for item in fields(cast(Any, kind)))
            raise AuclabError(f"{group}.{key} is not a setting; {group} has {names}") from None
        words = WORDS.get(f"{group}.{key}") or str(error).splitlines()[0]
        raise AuclabError(f"{group}.{key} is {OmegaConf.select(plain, key)!r}; it is {words}") from None


def read_class_weight(value: Any) -> dict[int, float] | Literal["balanced"] | None:
    """The setting ``class_weight`` as `auclab.estimators.AUCClassifier` takes it for labels 0 and 1.

    Examples
    --------
    >>> read_class_weight({"negative": 1, "positive": 5}), read_class_weight("balanced"), read_class_weight(None)
    ({0: 1.0, 1: 5.0}, 'balanced', None)
    """
    given = RunConfig(class_weight=value).class_weight
    return {0: float(given["negative"]), 1: float(given["positive"])} if isinstance(given, Mapping) else given


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


def rule_in_words(rule: Any) -> str:
    """A rule of `DecisionConfig.rule` in words.

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


_LISTS, _BOUNDS = ("nonnegative", "nonpositive", "excluded", "forced"), ("lower", "upper")
#: The keys of a file of rules.
KEYS = tuple(item.name for item in fields(ConstraintsConfig) if item.name != "file")


def resolve_constraints(given: Mapping[str, Any]) -> dict[str, Any]:
    """The typed rules and those of the file together, without rules that are not set.

    `given`: as composed. Typed lists are added to those of the file, and other typed values replace them.
    """
    typed = _checked({key: value for key, value in given.items() if key != "file"})
    if not given.get("file"):
        return typed
    found = read_rules(given["file"])
    for key, value in typed.items():
        if key in (*_LISTS, "rows"):
            found[key] = [*found.get(key, []), *(each for each in value if each not in found.get(key, []))]
        else:
            found[key] = {**found.get(key, {}), **value} if key in _BOUNDS else value
    return found


def read_rules(path: str | Path) -> dict[str, Any]:
    """A file of rules, in yaml or json."""
    import yaml

    place = Path(path).expanduser()
    try:
        if place.stat().st_size > SETTINGS_BYTES:
            raise AuclabError(f"constraints.file={path} is larger than a megabyte, the limit for a file of rules")
        found = yaml.safe_load(place.read_text(encoding="utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise AuclabError(f"constraints.file={path} is not yaml: {' '.join(str(error).split())}") from error
    except OSError as error:
        raise AuclabError(f"constraints.file={path} cannot be read: {error.strerror or error}") from error
    if not isinstance(found, dict) or not found:
        raise AuclabError(f"constraints.file={path} has no rules; a line is such as nonnegative: [age, debt]")
    try:
        return _checked(found)
    except AuclabError as error:
        raise AuclabError(f"{path}: {error}") from None


def as_constraints(rules: Mapping[str, Any], columns: Sequence[str]) -> Constraints | None:
    """Resolved rules as `auclab.Constraints`; None where there are none.

    `rules`: from `resolve_constraints`. `columns`: names of the columns before preprocessing, for those that are given
    by number.
    """
    from auclab.formulations.constraints import Constraints

    if not rules:
        return None

    def named(name: str | int) -> str:
        if str(name) in columns or not str(name).isdecimal():
            return str(name)
        if not int(name) < len(columns):
            raise AuclabError(f"constraints name column {name}; the columns are 0 to {len(columns) - 1}")
        return columns[int(name)]

    def by_name(numbers: Mapping[str | int, float]) -> dict[str, float]:
        return {named(name): number for name, number in numbers.items()}

    found = dict(rules)
    found |= {key: [named(name) for name in rules[key]] for key in _LISTS if key in rules}
    found |= {key: by_name(rules[key]) for key in _BOUNDS if key in rules}
    found["rows"] = [{**row, "coefficients": by_name(row["coefficients"])} for row in rules.get("rows", ())]
    return Constraints(**found)


def _checked(given: Mapping[Any, Any]) -> dict[str, Any]:
    """The keys that are set, within their limits, with lists for single entries and floats for numbers."""
    for key in given:
        if key not in KEYS:
            raise AuclabError(f"{key} is not a constraint{did_you_mean(key, KEYS)}; choose from {', '.join(KEYS)}")
    found = {str(key): value for key, value in given.items() if value not in (None, [], {})}
    ConstraintsConfig(**found)
    for key in {*_LISTS, "rows"} & found.keys():
        found[key] = found[key] if isinstance(found[key], list | tuple) else [found[key]]
    return {key: value if key in (*_LISTS, "max_features") else _floats(value) for key, value in found.items()}


def _floats(value: Any) -> Any:
    """With floats in place of whole numbers, so that 0 and 0.0 are the same setting."""
    if isinstance(value, Mapping):
        return {key: _floats(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_floats(each) for each in value]
    return float(value) if is_number(value) else value
