"""A stored configuration as an experiment that can be run again, read as untrusted input.

A configuration composed here names what its user typed. One read from a store is written by whoever made the store:
instantiating it unchecked would run that person's code.

`stored_experiment` is the only way from a stored ``config.yaml`` to objects: its result has been checked, so
`auclab.runs.config.compose` may instantiate its groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from auclab._core.base import AuclabError
from auclab.runs.config.compose import OBJECTS, Experiment
from auclab.runs.config.settings import SETTINGS_BYTES
from auclab.runs.stored.stored_files import damaged, stored_file

#: Entries that a stored configuration may have.
MOST_ENTRIES = 10_000

#: Returns a function by its name; that name must be allowed too.
GET_METHOD = "hydra.utils.get_method"

_ENGINES = frozenset({"auclab.samples.blocks.DaskEngine", "auclab.samples.blocks.LocalEngine"})

#: The classes and functions that ``conf/`` calls at each place of a configuration, where * is any name; nothing is
#: called elsewhere. A test compares the two.
ALLOWED: dict[str, frozenset[str]] = {
    "dataset": frozenset(
        {
            "auclab.datasets.artificial.make_artificial",
            "auclab.datasets.published.load_breast_cancer",
            "auclab.datasets.file.load_file",
            "auclab.datasets.blocks.load_blocks",
            "auclab.datasets.artificial.make_perturbed",
            "auclab.datasets.published.load_published",
        }
    ),
    "dataset.engine": _ENGINES,
    "engine": _ENGINES,
    "split": frozenset(
        (
            *(f"auclab.datasets.splits.{name}" for name in ("holdout", "kfold", "none", "repeated")),
            *(f"auclab.datasets.splits.{name}" for name in ("Grouped", "Timed")),
        )
    ),
    "preprocess": frozenset(
        (
            "auclab.scorecards.card.items",
            *(f"auclab.datasets.preprocess.{name}" for name in ("minmax", "none", "standard", "unit_ball")),
        )
    ),
    "formulation": frozenset(
        {
            "auclab.estimators.baselines.AnyClassifier",
            "auclab.estimators.baselines.LinearDiscriminant",
            "auclab.estimators.baselines.Logistic",
            "auclab.formulations.programs.BufferedAUC",
            "auclab.formulations.programs.Composed",
            "auclab.formulations.programs.CSVM",
            "auclab.formulations.programs.ECSVM",
            "auclab.formulations.programs.ExactAUC",
            "auclab.formulations.programs.GeneralizedBufferedAUC",
            "auclab.formulations.programs.PartialAUC",
            "auclab.formulations.programs.RankSVM",
            "auclab.formulations.scorecard.Scorecard",
        }
    ),
    "formulation.estimator": frozenset(
        {
            "lightgbm.LGBMClassifier",
            "sklearn.ensemble.HistGradientBoostingClassifier",
            "sklearn.ensemble.RandomForestClassifier",
            "sklearn.svm.SVC",
        }
    ),
    "metrics.*": frozenset(
        f"auclab.metrics.{name}"
        for name in (
            *("auc_score", "auc_threshold", "bauc_score", "ferri_auc", "gauc_score", "partial_auc"),
            *("polynomial_auc", "polynomial_soft_auc", "probabilistic_auc", "ranking_superquantile"),
            *("scored_auc", "soft_auc", "two_way_partial_auc", "voros_score", "weighted_auc"),
            *("concordance_index", "time_dependent_auc"),
        )
    ),
    "metrics.*.modifier": frozenset({GET_METHOD}),
    "metrics.*.weight": frozenset({GET_METHOD}),
}

#: Packages whose public classes are allowed at a place: the pieces of a formulation.
PIECES = {"formulation.loss": "auclab.losses", "formulation.regulariser": "auclab.regularisers"}

#: Modules whose universal functions (``numpy.ufunc``: numbers in, numbers out) a metric may apply.
FUNCTION_MODULES = ("numpy", "scipy.special")

#: Arguments that say where files are. A test compares them with the signatures.
FILES = ("path", "file", "data_dir")

#: Keys by which Hydra's ``instantiate`` is directed, of this and of other versions.
_DIRECTION = re.compile(r"_\w*_")


def check_configuration(configuration: Mapping[str, Any], allow: Sequence[str] = ()) -> None:
    """Refuse a stored configuration that calls, contacts or downloads anything that ``conf/`` does not name.

    Every mapping is checked, wherever it is, and so is every argument: what is called at this place, by keyword
    arguments alone, files of this machine alone, and no interpolation. Files are only read, and their contents are
    neither written nor sent.

    `configuration`: plain nested data, before anything of it is interpolated or instantiated. `allow`: what the reader
    of the store trusts besides: names such as ``my.module.Class``, addresses (``tcp://host:8786`` of a Dask scheduler,
    ``s3://bucket``) and data sets at OpenML (``openml:40945``).
    """
    for path, value in _walk(configuration, ()):
        where = ".".join(path)
        if isinstance(value, str) and "${" in value:
            raise AuclabError(
                f"the stored configuration has the interpolation {value!r} at {where}, which could read environment "
                "variables or other settings of this machine; auclab stores configurations without any, so this one "
                "was changed by hand. Write the value itself in its place"
            )
        if isinstance(value, Mapping):
            if "_target_" in value:
                _check_call(path, value, allow)
            for key, item in value.items():
                if _DIRECTION.fullmatch(str(key)) and key != "_target_" and (key, item) != ("_partial_", True):
                    raise AuclabError(
                        f"the stored configuration has {key}: {item!r} in {where or 'it'}; objects are built from "
                        "keyword arguments alone, with _target_ and _partial_: true. Write them as NAME: VALUE"
                    )


def _walk(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Nested data with the path of each part, keys included; parts come before what they are part of."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield path, key
            yield from _walk(item, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _walk(item, (*path[:-1], f"{path[-1]}[{number}]") if path else ())
    yield path, value


def _check_call(path: tuple[str, ...], call: Mapping[Any, Any], allow: Sequence[str]) -> None:
    """A mapping from which Hydra would make an object: its function or class, and the arguments that lead elsewhere."""
    where, name = ".".join(path), call["_target_"]
    place = ".".join(("metrics", "*", *path[2:]) if path[:1] == ("metrics",) else path)
    known = ALLOWED.get(place, frozenset())
    if name not in allow and (not isinstance(name, str) or not (name in known or is_piece(name, place))):
        raise _foreign(".".join((*path, "_target_")), name, sorted(known))
    if name == GET_METHOD and not is_function(called := call.get("path")) and called not in allow:
        functions = [f"{module}.NAME of a universal function" for module in FUNCTION_MODULES]
        raise _foreign(f"{where}.path", called, functions)
    if (address := call.get("address")) is not None and not _is_allowed(address, allow):
        raise AuclabError(
            f"the stored configuration connects to the Dask scheduler {address!r} at {where}.address; a scheduler can "
            f"run any program here. If it is yours, allow it: --allow {address}"
        )
    for key in FILES:
        for _, text in _walk(call.get(key), ()):
            if isinstance(text, str) and is_elsewhere(text) and not _is_allowed(text, allow):
                raise AuclabError(
                    f"the stored configuration reads {text!r} at {where}.{key}, which is not a file of this machine; "
                    f"its server would learn who reads it. If you know the address, allow it: --allow {text}"
                )
    number = call.get("openml_id")
    if not (number is None or f"openml:{number}" in allow or _download(call) in _described_downloads()):
        raise AuclabError(
            f"the stored configuration would keep OpenML's data set {number} in the cache as {call.get('file')}, which "
            "no data set of conf/dataset describes; later experiments would read it. If you want that: --allow "
            f"openml:{number}"
        )


def is_piece(name: str, place: str) -> bool:
    """Whether a name is that of a loss or a regulariser of auclab, where a formulation has one.

    Examples
    --------
    >>> is_piece("auclab.losses.Hinge", "formulation.loss"), is_piece("auclab.losses.LOSSES", "formulation.loss")
    (True, False)
    """
    package, _, piece = name.rpartition(".")
    home = import_module(package) if place in PIECES and package == PIECES[place] else None
    return piece in getattr(home, "__all__", ()) and isinstance(getattr(home, piece), type)


def is_function(name: Any) -> bool:
    """Whether a name is that of a universal function of NumPy or SciPy."""
    import numpy as np

    module, _, function = str(name).rpartition(".")
    if not isinstance(name, str) or module not in FUNCTION_MODULES:
        return False
    return isinstance(getattr(import_module(module), function, None), np.ufunc)


def is_elsewhere(path: str) -> bool:
    r"""Whether a path leads to another machine: an address, or a share of Windows.

    Examples
    --------
    >>> [is_elsewhere(path) for path in ("s3://bucket/x", r"\\host\share", "//host/share", r"C:\x.csv", "data/x.csv")]
    [True, True, True, False, False]
    """
    return "://" in path or path.replace("\\", "/").startswith("//")


def _is_allowed(address: Any, allow: Sequence[str]) -> bool:
    """Whether the reader of the store trusts an address, or the place that it is in."""
    return any(address == each or str(address).startswith(f"{each.rstrip('/')}/") for each in allow)


def _foreign(path: str, name: Any, known: Sequence[str]) -> AuclabError:
    choices = f"one of {', '.join(known)}" if known else "none"
    return AuclabError(
        f"the stored configuration names {name!r} at {path}, and building it would run it; allowed there: {choices}. "
        f"If you trust whoever made this run, and know what {name} does, allow it by name: --allow {name}"
    )


def _download(call: Mapping[Any, Any]) -> str:
    """The settings that determine the content and the name of a downloaded copy."""
    labels = call.get("openml_labels") or {}
    pairs = sorted((str(key), str(value)) for key, value in labels.items()) if isinstance(labels, Mapping) else labels
    return repr((call.get("file"), str(call.get("openml_id")), call.get("target"), pairs))


@cache
def _described_downloads() -> frozenset[str]:
    from omegaconf import OmegaConf

    from auclab.datasets.catalogue import dataset_configs

    files = sorted(dataset_configs().glob("*.yaml"))
    described = [OmegaConf.to_container(OmegaConf.load(file), resolve=False) for file in files]
    return frozenset(_download(each) for each in described if isinstance(each, dict) and each.get("openml_id"))


CONFIG_FILE = "config.yaml"

#: Largest nesting depth of a configuration; auclab's have 6.
MOST_LEVELS = 40


def stored_experiment(
    folder: Path, *, choices: Mapping[str, str] | None = None, allow: Sequence[str] = ()
) -> Experiment:
    """The experiment that a run's ``config.yaml`` describes; refuses names that are not allowed.

    Tracking and export of models are disabled, whatever the file says.

    `folder`: files of the run. `choices`: the choice of each group, for the name of the experiment. `allow`: trusted in
    addition to the classes and functions of ``conf/``, as in `check_configuration`.
    """
    return Experiment(_plain_configuration(folder, allow), dict(choices or {}))


def _plain_configuration(folder: Path, allow: Sequence[str]) -> Any:
    from omegaconf import OmegaConf

    path = stored_file(folder, CONFIG_FILE, most=SETTINGS_BYTES)
    if path is None:
        raise AuclabError(f"{folder / CONFIG_FILE} is missing, and it contains the configuration of the run")
    configuration = _parse(path)
    check_configuration(configuration, allow)
    if "export" in (solver := configuration.get("solver", {})):
        solver["export"] = None  # it would write a file to any path
    if isinstance(rules := configuration.get("constraints"), dict):
        rules["file"] = None  # the rules are already in the configuration
    configuration["tracking"] = {"name": "none"}
    with damaged(path):
        return OmegaConf.create(configuration)


def _parse(path: Path) -> dict[str, Any]:
    """The file as nested data, without tags (they create objects) and aliases (a few bytes expand to gigabytes)."""
    import yaml
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    with damaged(path, yaml.YAMLError, OmegaConfBaseException):
        text = path.read_text(encoding="utf-8")
        _check_events(path, yaml.parse(text, Loader=yaml.SafeLoader))
        plain = OmegaConf.to_container(OmegaConf.create(text), resolve=False)
    if not isinstance(plain, dict):
        raise AuclabError(f"{path} is not a configuration of auclab")
    # A missing group is an error only if it is needed.
    if wrong := [group for group in (*OBJECTS, "solver", "bounds") if not isinstance(plain.get(group, {}), dict)]:
        raise AuclabError(f"{path} is not a configuration of auclab: its {', '.join(wrong)} has no settings")
    return {str(key): value for key, value in plain.items()}


def _check_events(path: Path, events: Any) -> None:
    import yaml

    levels = 0
    for entries, event in enumerate(events):
        levels += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        reason = None
        if isinstance(event, yaml.AliasEvent):
            reason = "an alias (*)"
        elif getattr(event, "tag", None) is not None:
            reason = f"the tag {event.tag}"
        elif levels > MOST_LEVELS or entries > MOST_ENTRIES:
            reason = f"more than {MOST_LEVELS} levels or {MOST_ENTRIES} entries"
        if reason:
            raise AuclabError(f"{path} has {reason}, and configurations of auclab have none; somebody has changed it")
