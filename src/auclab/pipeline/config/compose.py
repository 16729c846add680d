"""From command-line overrides to a composed configuration, as `auclab run` and `python run.py` make it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from omegaconf import DictConfig, OmegaConf, open_dict

from auclab.pipeline.config.auto_tuning import resolve_tuning
from auclab.pipeline.config.constraint_settings import resolve_constraints
from auclab.pipeline.config.default_experiment import with_formulation
from auclab.pipeline.config.kernel_settings import KernelConfig, resolve_kernel
from auclab.pipeline.config.run_name import flatten, run_name
from auclab.pipeline.config.settings import (
    BoundsConfig,
    DecisionConfig,
    InnerConfig,
    SolverConfig,
    TuneConfig,
    read_class_weight,
    typed,
)
from auclab.tracking.config import TrackingConfig

if TYPE_CHECKING:
    from auclab.datasets.columns import Encoding

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
