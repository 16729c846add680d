"""The classes, functions and addresses that a stored configuration may name.

A configuration composed here names what its user typed. One read from a store is written by whoever made the store:
instantiating it unchecked would run that person's code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from auclab.types import AuclabError

#: Returns a function by its name; that name must be allowed too.
GET_METHOD = "hydra.utils.get_method"

#: The classes and functions that the yaml files of each group of ``conf/`` name; a test compares the two.
ALLOWED: dict[str, frozenset[str]] = {
    "dataset": frozenset(
        {
            "auclab.datasets.artificial.make_artificial",
            "auclab.datasets.artificial_blocks.make_artificial_blocks",
            "auclab.datasets.breast_cancer.load_breast_cancer",
            "auclab.datasets.file.load_file",
            "auclab.datasets.parquet_blocks.load_blocks",
            "auclab.datasets.perturbed.make_perturbed",
            "auclab.datasets.published.load_published",
            "auclab.samples.blocks.DaskEngine",
            "auclab.samples.blocks.LocalEngine",
        }
    ),
    "engine": frozenset({"auclab.samples.blocks.DaskEngine", "auclab.samples.blocks.LocalEngine"}),
    "split": frozenset(
        (
            *(f"auclab.datasets.splits.{name}" for name in ("holdout", "kfold", "none", "repeated")),
            *(f"auclab.datasets.split_by_column.{name}" for name in ("Grouped", "Timed")),
        )
    ),
    "preprocess": frozenset(
        (
            "auclab.scorecards.preprocess.items",
            *(f"auclab.datasets.preprocess.{name}" for name in ("minmax", "none", "standard", "unit_ball")),
        )
    ),
    "formulation": frozenset(
        {
            "auclab.estimators.baselines.BoostedTrees",
            "auclab.estimators.baselines.LinearDiscriminant",
            "auclab.estimators.baselines.Logistic",
            "auclab.formulations.bauc.BufferedAUC",
            "auclab.formulations.composed.Composed",
            "auclab.losses.Hinge",
            "auclab.regularisers.ElasticNet",
            "auclab.regularisers.GroupLasso",
            "auclab.regularisers.Norm",
            "auclab.formulations.csvm.CSVM",
            "auclab.formulations.ecsvm.ECSVM",
            "auclab.formulations.exact_auc.ExactAUC",
            "auclab.formulations.generalized_bauc.GeneralizedBufferedAUC",
            "auclab.formulations.partial_auc.PartialAUC",
            "auclab.formulations.ranksvm.RankSVM",
            "auclab.formulations.scorecard.Scorecard",
        }
    ),
    "metrics": frozenset(
        {
            GET_METHOD,
            *(
                f"auclab.metrics.{name}"
                for name in (
                    *("auc_score", "auc_threshold", "bauc_score", "ferri_auc", "gauc_score", "partial_auc"),
                    *("polynomial_auc", "polynomial_soft_auc", "probabilistic_auc", "ranking_superquantile"),
                    *("scored_auc", "soft_auc", "two_way_partial_auc", "voros_score", "weighted_auc"),
                )
            ),
        }
    ),
}

#: Packages of the pieces of a formulation, whose public names are allowed.
PIECES = ("auclab.losses", "auclab.regularisers")

#: Modules whose universal functions (``numpy.ufunc``: numbers in, numbers out) a metric may apply.
FUNCTION_MODULES = ("numpy", "scipy.special")


def check_targets(configuration: Mapping[str, Any], allow: Sequence[str] = ()) -> None:
    """Refuse a stored configuration that names anything not named by the same group of ``conf/``.

    `configuration`: plain nested data, before anything of it is interpolated or instantiated. `allow`: further names
    that the reader of the store trusts, such as ``my.module.Class``.
    """
    for group, part in configuration.items():
        known = ALLOWED.get(str(group), frozenset())
        for path, mapping in _mappings(part, str(group)):
            if "_target_" not in mapping:
                continue
            name = mapping["_target_"]
            if name in allow or (group == "formulation" and is_piece(name)):
                continue
            if not isinstance(name, str) or name not in known:
                raise _foreign(f"{path}._target_", name, sorted(known))
            if name == GET_METHOD and not is_function(called := mapping.get("path")) and called not in allow:
                functions = [f"{module}.NAME of a universal function" for module in FUNCTION_MODULES]
                raise _foreign(f"{path}.path", called, functions)


def is_piece(name: Any) -> bool:
    """Whether a name is that of a loss or a regulariser of auclab.

    Examples
    --------
    >>> is_piece("auclab.losses.Hinge"), is_piece("auclab.losses.LOSSES"), is_piece("os.system")
    (True, False, False)
    """
    package, _, piece = str(name).rpartition(".")
    home = import_module(package) if package in PIECES else None
    return piece in getattr(home, "__all__", ()) and isinstance(getattr(home, piece), type)


def is_function(name: Any) -> bool:
    """Whether a name is that of a universal function of NumPy or SciPy."""
    import numpy as np

    module, _, function = str(name).rpartition(".")
    if not isinstance(name, str) or module not in FUNCTION_MODULES:
        return False
    return isinstance(getattr(import_module(module), function, None), np.ufunc)


def _mappings(value: Any, path: str) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Every mapping in nested data, with its path; interpolations are refused."""
    if isinstance(value, Mapping):
        yield path, value
        for key, item in value.items():
            _refuse_interpolation(key, path)
            yield from _mappings(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _mappings(item, f"{path}[{number}]")
    else:
        _refuse_interpolation(value, path)


def _refuse_interpolation(value: Any, path: str) -> None:
    if isinstance(value, str) and "${" in value:
        raise AuclabError(
            f"the stored configuration has the interpolation {value!r} at {path}, which could read environment "
            "variables or other settings of this machine; auclab stores configurations without any, so this one was "
            "changed by hand. Write the value itself in its place"
        )


def _foreign(path: str, name: Any, known: Sequence[str]) -> AuclabError:
    choices = f"one of {', '.join(known)}" if known else "none"
    return AuclabError(
        f"the stored configuration names {name!r} at {path}, and building it would run it; allowed there: {choices}. "
        f"If you trust whoever made this run, and know what {name} does, allow it by name: --allow {name}"
    )


def check_locations(configuration: Mapping[str, Any], allow: Sequence[str] = ()) -> None:
    """Refuse a stored configuration that would connect to another machine or download data not in ``conf/``.

    Data files of this machine may be named: they are only read, and their contents are not written or sent.

    `configuration`: plain nested data. `allow`: addresses of Dask schedulers (``tcp://host:8786``) and data sets at
    OpenML (``openml:40945``) that the reader of the store trusts.
    """
    for group in ("dataset", "engine"):
        for path, mapping in _mappings(configuration.get(group), group):
            address = mapping.get("address")
            if address is not None and address not in allow:
                raise AuclabError(
                    f"the stored configuration connects to the Dask scheduler {address!r} at {path}.address; a "
                    f"scheduler can run any program here. If it is yours, allow it: --allow {address}"
                )
    dataset = configuration.get("dataset")
    if isinstance(dataset, Mapping) and dataset.get("openml_id") is not None:
        file, number = dataset.get("file"), dataset["openml_id"]
        if f"openml:{number}" not in allow and _download(dataset) not in _described_downloads():
            raise AuclabError(
                f"the stored configuration would keep OpenML's data set {number} in the cache as {file}, which no data "
                f"set of conf/dataset describes; later experiments would read it. If you want that: --allow "
                f"openml:{number}"
            )


def _download(dataset: Mapping[Any, Any]) -> str:
    """The settings that determine the content and the name of a downloaded copy."""
    labels = dataset.get("openml_labels") or {}
    pairs = sorted((str(key), str(value)) for key, value in labels.items()) if isinstance(labels, Mapping) else labels
    return repr((dataset.get("file"), str(dataset.get("openml_id")), dataset.get("target"), pairs))


@cache
def _described_downloads() -> frozenset[str]:
    from omegaconf import OmegaConf

    from auclab.datasets.catalogue import dataset_configs

    files = sorted(dataset_configs().glob("*.yaml"))
    described = [OmegaConf.to_container(OmegaConf.load(file), resolve=False) for file in files]
    return frozenset(_download(each) for each in described if isinstance(each, dict) and each.get("openml_id"))
