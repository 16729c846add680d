"""From command-line overrides to a composed configuration and the objects that it names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from omegaconf import DictConfig, OmegaConf, open_dict

from auclab._core.base import AuclabError
from auclab.runs.config.settings import (
    BoundsConfig,
    DecisionConfig,
    InnerConfig,
    KernelConfig,
    SolverConfig,
    TuneConfig,
    is_number,
    read_class_weight,
    register_schema,
    resolve_constraints,
    typed,
    with_formulation,
)
from auclab.runs.tracking.address import SWEEP_VARIABLE, TrackingConfig

if TYPE_CHECKING:
    from auclab.datasets.columns import Encoding
    from auclab.datasets.records import Dataset, Split

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
    names = BESIDE_GAMMA if way == "kernel" else (*TUNABLE, str(formulation.get("tunable")))
    parameter = next((name for name in names if name in parameters_of(formulation)), None)
    if parameter is None and way == "auto":
        return {"parameter": None}
    if parameter is None:
        raise AuclabError(
            "tune=kernel selects γ together with λ or z, and the formulation has neither: use formulation=ranksvm, or "
            "compare values of γ with -m kernel.gamma=0.1,1"
        )
    if way == "kernel" and not found.get("gammas"):
        raise AuclabError("tune.gammas is empty; give multiples > 0 of γ, such as tune.gammas=[0.1,1,10]")
    values = (tune.get("grids") or {}).get(parameter)
    may_be_empty = way == "auto" and parameter == "penalty"  # λ has a default series
    if not isinstance(values, Sequence) or not all(map(is_number, values)) or not (values or may_be_empty):
        if parameter == formulation.get("tunable"):
            build(formulation)  # it says where the classifier has no such parameter
        raise AuclabError(f"tune.grids.{parameter} is {values!r}; a list of numbers is needed, such as [0.01,0.1]")
    return found | {"parameter": parameter if way == "auto" else way, "values": [float(each) for each in values]}


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
    """The parameters of a formulation, from its keys; `penalty` is the scale of a regulariser.

    Examples
    --------
    >>> parameters_of({"_target_": "auclab.formulations.programs.Composed", "regulariser": {}, "threshold": 0.0})
    ['penalty', 'threshold']
    """
    fixed = ("norm", "squared", "loss", "comparisons", "estimator", "tunable")
    names = ["penalty" if str(key) == "regulariser" else str(key) for key in formulation]
    if isinstance(formulation, Mapping) and formulation.get("tunable"):
        names.append(str(formulation["tunable"]))
    return [name for name in names if not name.startswith("_") and name not in fixed]


#: How the parameters of a formulation are written in a name.
SYMBOLS = {"threshold": "z", "penalty": "λ", "max_fpr": "fpr≤", "C": "C"}


def symbol_of(parameter: str) -> str:
    """How a parameter is written; those of other libraries by their names."""
    return SYMBOLS.get(parameter, parameter)


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
    tuned, regulariser = _tuned(configuration), formulation.get("regulariser")
    terms = [str(choices.get("formulation") or formulation.get("_target_", "program").rpartition(".")[2])]
    for key, symbol in SYMBOLS.items():
        if key in tuned:
            terms.append(f"{symbol} tuned")
        elif is_number(formulation.get(key)):
            terms.append(f"{symbol}={formulation[key]:g}")
    if isinstance(regulariser, Mapping) and "penalty" not in tuned:
        weights = {"weight": "λ", "l1": "l1", "l2": "l2"}
        terms += [f"{weights[key]}={regulariser[key]:g}" for key in weights if is_number(regulariser.get(key))]
    if norm := formulation.get("norm"):
        terms.append(f"{norm}²" if formulation.get("squared") else str(norm))
    terms += _unusual("formulation", choices.get("formulation"), formulation, (*tuned, *SYMBOLS, "weight", "l1", "l2"))
    path, kernel = dataset.get("path"), configuration.get("kernel") or {"name": ""}
    gamma = "" if kernel.get("gamma") is None else f" γ={kernel['gamma']}"
    kinds = {group: str(choices.get(group) or usual) for group, usual in DEFAULTS.items()}
    preprocess, kind = ("" if kinds[group] == DEFAULTS[group] else kinds[group] for group in ("preprocess", "split"))
    is_own = not str(dataset.get("_target_", "auclab.")).startswith("auclab.")
    own = _unusual("dataset", choices.get("dataset"), dataset, ("seed",)) if is_own else []
    fold, seed = (split.get(key) for key in ("fold", "seed"))
    parts = [
        " ".join(terms),
        (file_name(path, dataset.get("name")) if path else str(choices.get("dataset") or "data"))
        + "".join(f" {term}" for term in own)
        + (f" seed {dataset['seed']}" if dataset.get("seed") else ""),
        preprocess,
        kernel["name"] + (" γ tuned" if _gamma_is_tuned(configuration) else gamma),
        "constrained" if configuration.get("constraints") else "",
        "weighted classes" if configuration.get("class_weight") else "",
        " ".join(filter(None, [kind, "" if fold is None else str(fold), "" if seed is None else f"seed {seed}"])),
        "" if is_baseline(formulation) else str(configuration["solver"]["name"]),  # fitted by its own library
    ]
    return " · ".join(filter(None, parts))


def _unusual(group: str, choice: Any, given: Mapping[str, Any], named: Collection[str]) -> list[str]:
    """The numbers of a group, of the pieces in it too, that its file in conf/ does not have; `named`: other terms."""
    path = conf_folder() / group / f"{choice}.yaml"
    usual = dict(_leaves(plain_yaml(path), "")) if path.is_file() else {}
    numbers = [(key, value) for key, value in _leaves(given, "") if is_number(value) and usual.get(key) != value]
    leaves = [(key.rpartition(".")[2], value) for key, value in numbers]
    return [f"{key}={value:g}" for key, value in leaves if key not in named]


def is_baseline(formulation: Mapping[str, Any]) -> bool:
    """Whether a composed formulation is a scorer of another library.

    Examples
    --------
    >>> is_baseline({"_target_": "auclab.estimators.baselines.Logistic", "C": 1.0})
    True
    """
    target = str(formulation.get("_target_", ""))
    return target.rpartition(".")[0] == BASELINES or target.startswith("sklearn.")


def file_name(path: Any, name: Any = None) -> str:
    """The name of a user's file on screens and in selections: the name that was set, or that of the file.

    Examples
    --------
    >>> file_name("data/my.csv"), file_name("data/my.csv", "loans"), file_name("data/parts/", "None")
    ('my.csv', 'loans', 'parts')
    """
    return str(name) if name not in (None, "", "None") else Path(str(path)).name


def _tuned(configuration: Mapping[str, Any]) -> list[str]:
    """The parameter of the formulation that is selected by cross-validation, if there is one."""
    parameter = tuned_parameter(configuration.get("tune") or {}, configuration.get("formulation") or {})
    return [parameter] if parameter else []


def _gamma_is_tuned(configuration: Mapping[str, Any]) -> bool:
    """Whether γ of the kernel is selected too."""
    of_kernel = (configuration.get("tune") or {}).get("parameter") == "kernel"
    return of_kernel and "gamma" in (configuration.get("kernel") or {})


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
    groups = frozenset(str(key) for entry in main.pop("defaults") if isinstance(entry, dict) for key in entry)
    return groups.union(main)


class _Group(Generic[T]):
    """A group of an experiment as a record of type `kind`; a group that an older run lacks has its defaults."""

    def __init__(self, kind: type[T]):
        self.kind, self.group = kind, getattr(kind, "group", "tracking")

    def __get__(self, experiment: Any, owner: Any) -> T:
        if experiment is None:
            return cast(T, self)
        given = experiment.config.get(self.group)
        found: T = experiment.once(f"the record {self.group}", lambda: typed({} if given is None else given, self.kind))
        return found


@dataclass(frozen=True)
class Experiment:
    """A composed configuration, and its groups as records.

    `config`: everything, unresolved. `choices`: the choice of each group. `command`: the command that runs this one
    experiment.
    """

    config: DictConfig
    choices: dict[str, str]
    command: str = ""

    solver = _Group(SolverConfig)
    given_tune = _Group(TuneConfig)
    bounds = _Group(BoundsConfig)
    decision = _Group(DecisionConfig)
    inner = _Group(InnerConfig)
    given_kernel = _Group(KernelConfig)
    tracking = _Group(TrackingConfig)

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
        if (plain.get("kernel") or {}).get("name", "none") == "none":
            plain.pop("kernel", None)
        return plain

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` returned at the first call with this name; kept as cached properties are."""
        kept = vars(self).setdefault("_kept", {})
        if name not in kept:
            kept[name] = make()
        found: T = kept[name]
        return found

    def parts(self, dataset: Dataset) -> tuple[Dataset, list[Split]]:
        """The data set with its target, and its splits, made once; rows of files are read in file order."""
        import numpy as np

        from auclab.datasets.records import Split
        from auclab.datasets.splits import split_rows
        from auclab.samples.tables import in_memory

        def make() -> tuple[Dataset, list[Split]]:
            splits, target = split_rows(build(self.config.split), dataset)
            if not in_memory(dataset.X):
                splits = [Split(np.sort(split.train), np.sort(split.test), split.name) for split in splits]
            return dataset if target.is_plain else replace(dataset, ranked=target), splits

        return self.once("parts", make)

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

    @property
    def export(self) -> Path | None:
        """Where the program of the run is to be written; None for nowhere."""
        path = getattr(self.solver, "export", None)
        return None if path is None else Path(path).expanduser()

    @cached_property
    def tune(self) -> TuneConfig:
        """The group ``tune``, with ``auto`` replaced by the parameter of the formulation; `grids` are kept."""
        tune = self.given_tune
        return TuneConfig(**resolve_tuning(asdict(tune), self.config.formulation), grids=tune.grids)

    @cached_property
    def class_weight(self) -> dict[int, float] | Literal["balanced"] | None:
        """The setting ``class_weight``, for labels 0 and 1."""
        return read_class_weight(self.config.get("class_weight"))

    @property
    def constraints(self) -> dict[str, Any]:
        """The rules of the group ``constraints``, including those of its file."""
        rules: dict[str, Any] = self.configuration.get("constraints", {})
        return rules

    @property
    def kernel(self) -> KernelConfig | None:
        """The group ``kernel``; None for linear scorers."""
        return None if self.given_kernel.name == "none" else self.given_kernel

    @property
    def makes_items(self) -> bool:
        """Whether columns become the items of a scorecard."""
        return bool(self.configuration["preprocess"].get("_target_") == "auclab.scorecards.card.items")

    @property
    def encoding(self) -> Encoding:
        """The settings of the group ``preprocess`` that encode the columns of a table; items have no pooled values."""
        from auclab.datasets.columns import Encoding

        given = {"max_categories": None} if self.makes_items else {}
        given |= self.configuration["preprocess"]
        return cast("Encoding", {key: value for key, value in given.items() if key in Encoding.__annotations__})


def compose_experiment(overrides: Sequence[str] = ()) -> Experiment:
    """The experiment that ``auclab run OVERRIDES`` runs."""
    from hydra import compose, initialize_config_dir

    register_schema()
    with initialize_config_dir(version_base="1.3", config_dir=str(conf_folder())):
        config = compose("config", with_formulation(overrides), return_hydra_config=True)
    choices = dict(config.hydra.runtime.choices)
    with open_dict(config):
        del config["hydra"]
    return Experiment(config, choices)


def load_dataset(experiment: Experiment) -> Dataset:
    """The data set of an experiment, loaded once; jobs of a sweep that run in one process share it."""

    def load() -> Dataset:
        return _with_checksum(build(experiment.config.dataset), experiment)

    sweep = os.environ.get(SWEEP_VARIABLE)
    if sweep is None:
        return experiment.once("dataset", load)
    from auclab.datasets.cache import load_cached

    # With the id of the sweep: a worker may outlive it, and files may change.
    key = json.dumps([sweep, experiment.configuration["dataset"]], sort_keys=True, default=str)
    return load_cached(key, load)


def _with_checksum(made: Any, experiment: Experiment) -> Dataset:
    """What the group ``dataset`` made; that of a function of the user's has no checksum yet."""
    from auclab.datasets.records import Dataset, table_sha256
    from auclab.samples.tables import in_memory

    if not isinstance(made, Dataset):
        raise AuclabError(
            f"{experiment.config.dataset['_target_']} returned a {type(made).__name__}; a Dataset is needed: "
            "auclab.datasets.Dataset(name, X, y)"
        )
    if made.sha256 or not in_memory(made.X):
        return made
    return replace(made, sha256=table_sha256(made.X, made.target))


def built(experiment: Experiment, group: str) -> Any:
    """The object that a group of an experiment names, made once; the checks before a solve may have made it.

    `group`: one with an object that is never modified.
    """
    made = experiment.once(group, lambda: build(experiment.config[group]))
    if group == "formulation" and not hasattr(made, "kind"):
        from auclab.estimators.baselines import as_baseline

        return experiment.once("the classifier", lambda: as_baseline(made))
    return made


def build(config: Any) -> Any:
    """Instantiate a configuration; errors of the object are raised unchanged.

    Any callable that it names is called. A configuration that was read from a store comes from
    `auclab.runs.stored.configuration.stored_experiment`, which refuses names that are not allowed.

    `config`: with ``_target_`` and arguments; without ``_target_``, its entries are instantiated.
    """
    import hydra

    # Hydra 1.4 asks who decides what may be called: here the user's own configuration, else `stored_experiment`.
    decided = getattr(hydra.utils, "UNSAFE_DISABLE_EXECUTION_CHECKS", None)
    policy = {} if decided is None else {"_execution_whitelist_": decided}
    try:
        # Lists and dictionaries, not OmegaConf's.
        return hydra.utils.instantiate(config, _convert_="all", **policy)
    except hydra.errors.InstantiationException as error:
        if isinstance(error.__cause__, AuclabError | OSError):
            raise error.__cause__ from None
        raise AuclabError(_in_words(error)) from error


def _in_words(error: Exception) -> str:
    """What Hydra says of an object that it could not make, with what stopped the import of a module of the user's."""
    text = " ".join(str(error).split()).replace(", set env var HYDRA_FULL_ERROR=1 to see chained exception.", "")
    deepest: BaseException = error
    while deepest.__cause__ is not None:
        deepest = deepest.__cause__
    if not text.startswith("Error locating") or deepest is error:
        return text
    missing = str(deepest.name) if isinstance(deepest, ModuleNotFoundError) else ""
    if "." in missing:
        module, _, name = missing.rpartition(".")
        return f"{text}; {module} has no {name}"
    where = " (a module of your own is found in the folders of PYTHONPATH)" if missing else ""
    return f"{text}; {type(deepest).__name__}: {deepest}{where}"
