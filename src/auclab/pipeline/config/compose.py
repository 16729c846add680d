"""From command-line overrides to a composed configuration, as `auclab run` and `python run.py` make it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from omegaconf import DictConfig, OmegaConf, open_dict

from auclab.pipeline.config.constraint_settings import resolve_constraints
from auclab.pipeline.config.settings import (
    BoundsConfig,
    DecisionConfig,
    InnerConfig,
    KernelConfig,
    SolverConfig,
    TuneConfig,
    read_class_weight,
    resolve_kernel,
    typed,
    with_formulation,
)
from auclab.tracking.address import TrackingConfig
from auclab.types import AuclabError

if TYPE_CHECKING:
    from auclab.datasets.columns import Encoding

#: In order of preference: λ, z, and those of baselines.
TUNABLE = ("penalty", "threshold", "C")
#: Those that can be tuned together with γ.
BESIDE_GAMMA = ("penalty", "threshold")


def resolve_tuning(tune: Mapping[str, Any], formulation: Mapping[str, Any]) -> dict[str, Any]:
    """The group ``tune`` with the parameter of this formulation and its values.

    `tune`: as composed; ``parameter`` may be ``auto`` or ``kernel``, and ``grids`` then has the values of every
    parameter. `formulation`: as composed; its keys are its parameters. Returns: no ``grids``, no settings that make
    no difference; ``{"parameter": None}`` where nothing is tuned.
    """
    found = {key: value for key, value in tune.items() if key != "grids"}
    way = found.get("parameter")
    if way != "kernel":
        found.pop("gammas", None)
    if found.get("tolerance") is None:
        found.pop("tolerance", None)
    if way not in ("auto", "kernel"):
        return found if way is not None else {"parameter": None}
    if found.get("values"):
        raise AuclabError(
            f"tune={way} has a list for each parameter, as λ and z have no values in common: write "
            "tune.grids.penalty=[0.01,0.1] or tune.grids.threshold=[-0.1,-0.01] in place of tune.values"
        )
    names = BESIDE_GAMMA if way == "kernel" else TUNABLE
    parameter = next((name for name in names if name in parameters_of(formulation)), None)
    if parameter is None and way == "auto":
        return {"parameter": None}
    if parameter is None:
        raise AuclabError(
            "tune=kernel selects γ together with λ or z, and the formulation has neither: use formulation=ranksvm, or "
            "compare values of γ with -m kernel.gamma=0.1,1"
        )
    values = (tune.get("grids") or {}).get(parameter)
    may_be_empty = way == "auto" and parameter == "penalty"  # λ has a default series
    if (
        not isinstance(values, Sequence)
        or not (values or may_be_empty)
        or not all(isinstance(each, int | float) for each in values)
    ):
        raise AuclabError(f"tune.grids.{parameter} is {values!r}; a list of numbers is needed, such as [0.01,0.1]")
    return found | {"parameter": parameter if way == "auto" else way, "values": [float(each) for each in values]}


def check_multiples(gammas: Sequence[float]) -> None:
    """Refuse an empty list, and values that are not numbers > 0."""
    if not gammas or not all(0 < gamma < math.inf for gamma in gammas):
        raise AuclabError(
            f"tune.gammas is {list(gammas)}; multiples > 0 of γ are needed, such as tune.gammas=[0.1,1,10]"
        )


def tuned_parameter(tune: Mapping[str, Any], formulation: Collection[str]) -> str | None:
    """The parameter of the formulation that is selected, alone or together with γ, or None.

    Examples
    --------
    >>> tuned_parameter({"parameter": "kernel"}, {"threshold": -1.0}), tuned_parameter({"parameter": "penalty"}, {})
    ('threshold', 'penalty')
    """
    parameter = tune.get("parameter")
    if parameter != "kernel":
        return parameter
    return next((name for name in BESIDE_GAMMA if name in parameters_of(formulation)), None)


def parameters_of(formulation: Collection[str]) -> list[str]:
    """The parameters of a formulation, from its keys; the scale of a regulariser is `penalty`.

    Examples
    --------
    >>> parameters_of({"_target_": "auclab.formulations.composed.Composed", "regulariser": {}, "threshold": 0.0})
    ['penalty', 'threshold']
    """
    fixed = ("norm", "squared", "loss", "comparisons")
    names = ("penalty" if str(key) == "regulariser" else str(key) for key in formulation)
    return [name for name in names if not name.startswith("_") and name not in fixed]


#: How the parameters of a formulation are written in a name.
SYMBOLS = {"threshold": "z", "penalty": "λ", "max_fpr": "fpr≤", "C": "C"}

#: Choices of ``tune`` that select more than one parameter of the formulation.
TUNED_TOGETHER = {"kernel": "γ and λ or z"}

#: Module of the scorers of other libraries, by which a configuration names them.
BASELINES = "auclab.estimators.baselines"

#: Settings without an effect on what is computed.
NOT_COMPUTED = ("rerun", "figures")

#: Default choices, which a name leaves out.
DEFAULTS = {"split": "holdout", "preprocess": "standard"}


def flatten(configuration: Mapping[str, Any], choices: Mapping[str, Any]) -> dict[str, str]:
    """Settings with dotted keys, the choice of each group under the group's name, no construction details."""
    flat = {group: str(choice) for group, choice in choices.items() if "/" not in group and choice is not None}
    configuration = {key: value for key, value in configuration.items() if key not in NOT_COMPUTED}
    for group in ("constraints", "kernel"):
        if flat.get(group) == "none":
            del flat[group]
    # As one value: names of columns may have characters that names of parameters may not.
    flat |= {f"constraints.{key}": str(value) for key, value in (configuration.pop("constraints", None) or {}).items()}
    flat |= {key: str(value) for key, value in _leaves(configuration, "")}
    if path := (configuration.get("dataset") or {}).get("path"):
        flat["dataset"] = file_name(path, configuration["dataset"].get("name"))
    if _gamma_is_tuned(configuration):
        flat["kernel.gamma"] = "tuned"
    return flat | {f"formulation.{parameter}": "tuned" for parameter in _tuned(configuration)}


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield path, value
        return
    for key, item in value.items():
        if not str(key).startswith("_"):
            yield from _leaves(item, f"{path}.{key}" if path else str(key))


def run_name(configuration: Mapping[str, Any], choices: Mapping[str, Any]) -> str:
    """A name such as ``ranksvm λ=0.01 l2² · ionosphere · seed 0 · highs``; defaults are left out."""
    formulation, dataset, split = configuration["formulation"], configuration["dataset"], configuration["split"]
    terms = [str(choices.get("formulation") or formulation.get("_target_", "program").rpartition(".")[2])]
    for key, symbol in SYMBOLS.items():
        if key in _tuned(configuration):
            terms.append(f"{symbol} tuned")
        elif _is_number(formulation.get(key)):
            terms.append(f"{symbol}={formulation[key]:g}")
    regulariser = formulation.get("regulariser")
    if isinstance(regulariser, Mapping) and "penalty" not in _tuned(configuration):
        weights = {"weight": "λ", "l1": "l1", "l2": "l2"}
        terms += [f"{weights[key]}={regulariser[key]:g}" for key in weights if _is_number(regulariser.get(key))]
    if norm := formulation.get("norm"):
        terms.append(f"{norm}²" if formulation.get("squared") else str(norm))
    data = str(choices.get("dataset") or "data")
    if path := dataset.get("path"):
        data = file_name(path, dataset.get("name"))
    if dataset.get("seed"):
        data += f" seed {dataset['seed']}"
    preprocess = str(choices.get("preprocess") or DEFAULTS["preprocess"])
    stages = [] if preprocess == DEFAULTS["preprocess"] else [preprocess]
    # A baseline is fitted by its own library.
    solver = [] if is_baseline(formulation) else [str(configuration["solver"]["name"])]
    stages += _kernel_name(configuration.get("kernel") or {}, tuned=_gamma_is_tuned(configuration))
    stages += ["constrained"] if configuration.get("constraints") else []
    stages += ["weighted classes"] if configuration.get("class_weight") else []
    return " · ".join([" ".join(terms), data, *stages, *_split_name(split, choices), *solver])


def _kernel_name(kernel: Mapping[str, Any], *, tuned: bool) -> list[str]:
    """The kernel with its γ."""
    if not kernel:
        return []
    gamma = kernel.get("gamma")
    terms = [str(kernel["name"])]
    shown = f"γ={gamma:g}" if _is_number(gamma) else f"γ={gamma}"
    terms += ["γ tuned" if tuned else shown] if gamma is not None else []
    return [" ".join(terms)]


def is_baseline(formulation: Mapping[str, Any]) -> bool:
    """Whether a composed formulation is a scorer of another library.

    Examples
    --------
    >>> is_baseline({"_target_": "auclab.estimators.baselines.Logistic", "C": 1.0})
    True
    """
    return str(formulation.get("_target_", "")).rpartition(".")[0] == BASELINES


def file_name(path: Any, name: Any = None) -> str:
    """The name of a user's file on screens and in selections: the name that was set, or that of the file.

    Examples
    --------
    >>> file_name("data/my.csv"), file_name("data/my.csv", "loans"), file_name("data/parts/", "None")
    ('my.csv', 'loans', 'parts')
    """
    return str(name) if name not in (None, "", "None") else Path(str(path)).name


def _split_name(split: Mapping[str, Any], choices: Mapping[str, Any]) -> list[str]:
    """The kind of split, if it is not the default, the fold and the seed."""
    kind = str(choices.get("split") or DEFAULTS["split"])
    terms = [] if kind == DEFAULTS["split"] else [kind]
    terms += [str(split["fold"])] if split.get("fold") is not None else []
    terms += [f"seed {split['seed']}"] if split.get("seed") is not None else []
    return [" ".join(terms)] if terms else []


def _tuned(configuration: Mapping[str, Any]) -> list[str]:
    """The parameter of the formulation that is selected by cross-validation, if there is one."""
    parameter = tuned_parameter(configuration.get("tune") or {}, configuration.get("formulation") or {})
    return [parameter] if parameter else []


def _gamma_is_tuned(configuration: Mapping[str, Any]) -> bool:
    """Whether γ of the kernel is selected too."""
    of_kernel = (configuration.get("tune") or {}).get("parameter") == "kernel"
    return of_kernel and "gamma" in (configuration.get("kernel") or {})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


T = TypeVar("T")

#: Groups whose yaml names an object.
OBJECTS = ("dataset", "split", "preprocess", "formulation", "metrics")


def conf_folder() -> Path:
    """The folder of the configuration: that of the checkout, else the copy in the installed package."""
    package = Path(__file__).resolve().parents[2]
    checkout = package.parents[1] / "conf"
    return checkout if (checkout / "config.yaml").exists() else package / "conf"


def plain_yaml(path: Path) -> dict[str, Any]:
    """A yaml file of the configuration, unresolved."""
    plain = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    return {str(key): value for key, value in plain.items()} if isinstance(plain, dict) else {}


@cache
def known_keys() -> frozenset[str]:
    """The settings and groups of ``conf/config.yaml``.

    Examples
    --------
    >>> {"dataset", "solver", "data_dir"} <= known_keys(), [key for key in known_keys() if " " in key]
    (True, [])
    """
    main = plain_yaml(conf_folder() / "config.yaml")
    groups = {str(key) for entry in main.pop("defaults") if isinstance(entry, dict) for key in entry}
    return frozenset(main) | {group for group in groups if not group.startswith(("optional ", "override "))}


@dataclass(frozen=True)
class Experiment:
    """A composed configuration, and its groups as records.

    `config`: everything, unresolved. `choices`: the choice of each group. `command`: the command that runs this one
    experiment.
    """

    config: DictConfig
    choices: dict[str, str]
    command: str = ""

    @cached_property
    def configuration(self) -> dict[str, Any]:
        """Everything resolved, as plain nested data, to be hashed, flattened and kept."""
        plain: dict[str, Any] = OmegaConf.to_container(self.config, resolve=True)  # type: ignore[assignment]
        if "bounds" in plain:  # without kinds that are null
            plain["bounds"] = {key: value for key, value in plain["bounds"].items() if value is not None}
        if "tune" in plain:
            plain["tune"] = resolve_tuning(plain["tune"] or {}, plain["formulation"])
        if rules := resolve_constraints(plain.pop("constraints", None) or {}):
            plain["constraints"] = rules
        if not self.inner.folds:
            plain.pop("inner", None)
        if kernel := resolve_kernel(plain.pop("kernel", None) or {}):
            plain["kernel"] = kernel
        return plain

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` returned at the first call with this name; kept as cached properties are."""
        kept = vars(self).setdefault("_kept", {})
        if name not in kept:
            kept[name] = make()
        found: T = kept[name]
        return found

    @property
    def kept_config(self) -> DictConfig:
        """Everything, unresolved, with the rules of a constraints file in place of its name."""
        kept = self.config.copy()
        with open_dict(kept):
            kept["constraints"] = self.constraints
        return kept

    @cached_property
    def name(self) -> str:
        """Name of the run."""
        return run_name(self.configuration, self.choices)

    @property
    def params(self) -> dict[str, str]:
        """The settings as flat parameters of the run."""
        return flatten(self.configuration, self.choices)

    @cached_property
    def solver(self) -> SolverConfig:
        """The group ``solver``."""
        return typed(self.config.solver, SolverConfig)

    @property
    def export(self) -> Path | None:
        """Where the program of the run is to be written; None for nowhere."""
        path = getattr(self.solver, "export", None)
        return None if path is None else Path(path).expanduser()

    @cached_property
    def given_tune(self) -> TuneConfig:
        """The group ``tune`` as composed."""
        return typed(self.config.get("tune") or {}, TuneConfig)

    @cached_property
    def tune(self) -> TuneConfig:
        """The group ``tune``, with ``auto`` replaced by the parameter of the formulation; `grids` are kept."""
        tune = self.given_tune
        return TuneConfig(**resolve_tuning(asdict(tune), self.config.formulation), grids=tune.grids)

    @cached_property
    def bounds(self) -> BoundsConfig:
        """The group ``bounds``."""
        return typed(self.config.bounds, BoundsConfig)

    @cached_property
    def decision(self) -> DecisionConfig:
        """The settings ``decision``."""
        return typed(self.config.get("decision") or {}, DecisionConfig)

    @cached_property
    def inner(self) -> InnerConfig:
        """The settings ``inner``."""
        return typed(self.config.get("inner") or {}, InnerConfig)

    @cached_property
    def class_weight(self) -> dict[int, float] | Literal["balanced"] | None:
        """The setting ``class_weight``, for labels 0 and 1."""
        return read_class_weight(self.config.get("class_weight"))

    @property
    def constraints(self) -> dict[str, Any]:
        """The rules of the group ``constraints``, including those of its file."""
        rules: dict[str, Any] = self.configuration.get("constraints", {})
        return rules

    @cached_property
    def given_kernel(self) -> KernelConfig:
        """The group ``kernel`` as composed."""
        return typed(self.config.get("kernel") or {}, KernelConfig)

    @property
    def kernel(self) -> KernelConfig | None:
        """The group ``kernel``; None for linear scorers."""
        return None if self.given_kernel.name == "none" else self.given_kernel

    @property
    def makes_items(self) -> bool:
        """Whether columns become the items of a scorecard."""
        return bool(self.configuration["preprocess"].get("_target_") == "auclab.scorecards.preprocess.items")

    @property
    def encoding(self) -> Encoding:
        """The settings of the group ``preprocess`` that encode the columns of a table; items have no pooled values."""
        from auclab.datasets.columns import Encoding

        given = {"max_categories": None} if self.makes_items else {}
        given |= self.configuration["preprocess"]
        return cast("Encoding", {key: value for key, value in given.items() if key in Encoding.__annotations__})

    @cached_property
    def tracking(self) -> TrackingConfig:
        """The group ``tracking``."""
        return typed(self.config.tracking, TrackingConfig)


def compose_experiment(overrides: Sequence[str] = ()) -> Experiment:
    """The experiment that ``auclab run OVERRIDES`` runs."""
    from hydra import compose, initialize_config_dir

    from auclab.pipeline.config.settings import register_schema

    register_schema()
    with initialize_config_dir(version_base="1.3", config_dir=str(conf_folder())):
        config = compose("config", with_formulation(overrides), return_hydra_config=True)
    choices = dict(config.hydra.runtime.choices)
    with open_dict(config):
        del config["hydra"]
    return Experiment(config, choices)
