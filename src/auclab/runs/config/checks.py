"""Errors of a configuration that are found before the libraries of a solve are imported.

A value that is never valid is refused within a second; other errors are found when the data are read or in the solve.
Values of the typed groups are refused by their records (`auclab.runs.config.settings`). Keys and types of the
groups that name an object are those of their yaml files in ``conf/``.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from auclab._core.base import AuclabError
from auclab._core.words import did_you_mean, few
from auclab.datasets.bad_cells import Refusals
from auclab.runs.config.compose import (
    OBJECTS,
    Experiment,
    built,
    conf_folder,
    is_baseline,
    known_keys,
    load_dataset,
    parameters_of,
    plain_yaml,
)
from auclab.runs.config.settings import DecisionConfig, RunConfig
from auclab.runs.tracking.address import Address

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from auclab.datasets.columns import Columns
    from auclab.datasets.records import Dataset

_BASELINE = "not supported for baselines such as {}, which other libraries fit; leave"
_PAIRS = "formulation=bauc and ranksvm compare rows within groups, by grades and by times"
_RANKED = "for two classes, and rows are compared within groups, by grades or by times; leave"
#: For each kind of fit, what it does not support and why; {} is replaced by the name of the formulation.
REFUSED = {
    "baseline": {
        "constraints": f"constraints are {_BASELINE} them out",
        "kernel": f"a kernel is {_BASELINE} it out",
        "tune_tolerance": f"tune.tolerance is {_BASELINE} it out",
        "ranked": "formulation={} is fitted by another library, which compares all rows of two classes; " + _PAIRS,
        "blocks": "formulation={} is fitted by another library, which needs all rows in memory; dataset=blocks works "
        "with ranksvm, bauc, csvm and the other convex means of hinges",
    },
    "integer": {
        "kernel": "a kernel is for bauc, ranksvm, csvm and the like, and not for {}",
        "ranked": "formulation={} compares all rows of two classes; " + _PAIRS,
        "blocks": "formulation={} needs all rows in memory; use dataset=file and fewer rows",
    },
    "ranked": {
        "class_weight": f"class_weight is {_RANKED} it out",
        "max_features": f"constraints.max_features is {_RANKED} it out, or use formulation.norm=l1",
        "decision": "decision.threshold and decision.probability are for two classes, and rows that are compared "
        "within groups, by grades or by times have no labels to predict; leave them out",
        "tuned_kernel": f"tune=kernel and a tuned kernel=precomputed are {_RANKED} tune out, or set kernel.gamma and "
        "tune=penalty",
    },
    "kernel": {
        "constraints": "constraints are on the coefficients of columns, but a kernel has none; leave one out",
        "blocks": "a kernel needs its rows in memory, and X is in blocks; use fewer rows, or no kernel",
    },
}


def refuse(kind: str, name: str, **given: bool) -> None:
    """Raise `AuclabError` for the first option in use that this kind of fit does not support.

    `kind`: a key of `REFUSED`; other kinds support everything. `name`: of the formulation. `**given`: whether each
    entry of the table is used.

    Examples
    --------
    >>> refuse("integer", "scorecard", class_weight=True)
    >>> refuse("integer", "scorecard", kernel=True)
    Traceback (most recent call last):
        ...
    auclab.AuclabError: a kernel is for bauc, ranksvm, csvm and the like, and not for scorecard
    """
    for what, reason in REFUSED.get(kind, {}).items():
        if given.get(what):
            raise AuclabError(reason.format(name))


_SCORECARD = "auclab.formulations.scorecard.Scorecard"
#: What a scorecard needs whose columns are encoded otherwise.
NEEDS_ITEMS = "formulation=scorecard gives points to items, bins and categories of the columns; add preprocess=items"
#: Groups that every experiment has.
_NEEDED = (*OBJECTS, "engine", "solver", "bounds", "tracking")
#: Numbers that may be null: no limit.
_MAY_BE_NULL = (
    *("preprocess.max_categories", "preprocess.missing_category"),
    *("dataset.rows", "dataset.features", "dataset.n_pos", "dataset.n_neg"),
)


def check_settings(experiment: Experiment) -> None:
    """Refuse a configuration that no data can make valid, with all its errors in one message."""
    for group in _NEEDED:
        if group not in experiment.config:
            way = "give some by list, such as 'metrics=[auc,bauc]'" if group == "metrics" else f"leave out ~{group}"
            raise AuclabError(f"no {group} is chosen, but every experiment needs one; {way}")
    try:
        plain = experiment.configuration
    except OmegaConfBaseException as error:  # ${…} that cannot be resolved
        raise AuclabError(f"{error.full_key}: {str(error).splitlines()[0]}; give the value itself") from error
    refusals = Refusals()
    for name, metric in plain["metrics"].items():
        with refusals.collected():
            _check_object(f"metrics.{name}", metric or {}, (_yaml("metrics", name) or {}).get(name))
    for group in {*_NEEDED} & {"dataset", "split", "preprocess", "formulation", "engine"}:
        with refusals.collected():
            _check_object(group, plain[group] or {}, _yaml(group, experiment.choices.get(group)))
    for group in ("solver", "inner", "bounds", "decision", "tracking", "given_kernel", "given_tune"):
        with refusals.collected():
            getattr(experiment, group)  # reading it checks it
    for key in (item.name for item in fields(RunConfig) if item.name in plain):
        with refusals.collected():
            RunConfig(**{key: plain[key]})
    refusals.raise_all()
    # Checks across groups need valid groups, and the libraries of the formulation.
    for check in (check_tuning, _check_constraints, _check_kernel, _check_places, _check_formulation, _check_metrics):
        with refusals.collected():
            check(experiment)
    refusals.raise_all()


def check_data(experiment: Experiment) -> tuple[Dataset, Columns | None]:
    """Load the data set, and check its columns before anything else is imported, and then its parts.

    Returns the columns of a table in memory, for the screen.
    """
    dataset, columns = _checked_columns(experiment)
    _refuse_together(experiment, ranked=not dataset.target.is_of_classes)
    experiment.parts(dataset)  # refuses parts without rows that can be compared
    if experiment.configuration["formulation"].get("regulariser"):
        _check_groups_of_columns(built(experiment, "formulation").regulariser.names, dataset)
    if columns is None:
        return dataset, None
    if experiment.makes_items:  # how many there are is known once they are made
        columns = replace(columns, widths={})
    return dataset, replace(columns, notes=(*prepared_notes(experiment, dataset), *columns.notes))


def check_file(experiment: Experiment) -> None:
    """Refuse a table of the user's own that no job of a sweep could use; other data sets are left to the jobs."""
    if _is_file(experiment.configuration["dataset"]):
        _checked_columns(experiment)


def _checked_columns(experiment: Experiment) -> tuple[Dataset, Columns | None]:
    """The data set and the columns of a table in memory; one message has all problems with them."""
    import pandas as pd

    from auclab.datasets.columns import refuse_constant, sort_columns

    refusals, columns = Refusals(), None
    with refusals.collected():
        dataset = load_dataset(experiment)
    if refusals.reasons:
        with refusals.collected():
            _refuse_columns_of_file(experiment)
    elif isinstance(dataset.X, pd.DataFrame):
        with refusals.collected():
            columns = sort_columns(dataset, **experiment.encoding)
        if experiment.choices.get("preprocess") != "none":
            with refusals.collected():
                refuse_constant(dataset)
    if len(refusals.reasons) > 1 and _is_file(experiment.configuration["dataset"]):
        path = shlex.quote(experiment.configuration["dataset"]["path"])
        refusals.reasons[-1] += f"; auclab inspect {path} proposes settings for all of it"
    refusals.raise_all()
    return dataset, columns


def _is_file(dataset: Mapping[str, Any]) -> bool:
    return dataset.get("_target_") == "auclab.datasets.file.load_file" and isinstance(dataset.get("path"), str)


def _refuse_columns_of_file(experiment: Experiment) -> None:
    """Refuse the columns of a file that could not be loaded for another reason."""
    from auclab.datasets.file import FileSettings, read_table
    from auclab.datasets.formats import format_of

    dataset = experiment.configuration["dataset"]
    path = Path(str(dataset.get("path"))).expanduser()
    if _is_file(dataset) and path.is_file() and format_of(path) != "svmlight":
        given = FileSettings.of(dataset)
        read_table(path, given).refuse_columns(given, experiment.encoding)


def _check_groups_of_columns(names: Any, dataset: Dataset) -> None:
    """Refuse names in groups of columns that are not columns of the data."""
    table: Any = dataset.X
    columns = list(map(str, getattr(table, "columns", [f"x{k}" for k in range(table.shape[1])])))
    if unknown := [name for name in names if name not in columns]:
        raise AuclabError(
            f"formulation.regulariser.groups has {unknown[0]!r}, which is not a column of the data"
            f"{did_you_mean(unknown[0], columns)}; columns are {few(columns)}"
        )


def _refuse_together(experiment: Experiment, *, ranked: bool = False) -> None:
    """Refuse settings that this kind of fit does not support, `ranked`: within groups, by grades or by times."""
    formulation, kernel, decision = experiment.configuration["formulation"], experiment.kernel, experiment.decision
    tuned, usual = experiment.tune.parameter, DecisionConfig()
    given = {
        "constraints": bool(experiment.constraints),
        "kernel": kernel is not None,
        "tune_tolerance": tuned is not None and experiment.tune.tolerance is not None,
        "ranked": ranked,
        "class_weight": experiment.class_weight is not None,
        "max_features": "max_features" in experiment.constraints,
        "decision": decision.threshold != usual.threshold or decision.probability not in ("auto", "none"),
        "tuned_kernel": tuned == "kernel" or bool(tuned and kernel and kernel.name == "precomputed"),
    }
    kinds = {"baseline": is_baseline(formulation), "kernel": kernel is not None, "ranked": ranked}
    for kind in (kind for kind, applies in kinds.items() if applies):
        refuse(kind, experiment.choices.get("formulation", "this"), **given)


def prepared_notes(experiment: Experiment, dataset: Dataset) -> tuple[str, ...]:
    """What preprocessing fills and leaves out in a table in memory (`auclab.datasets.columns`)."""
    from auclab.datasets.columns import gap_notes, share_of_category

    made_by = str(experiment.configuration["preprocess"].get("_target_"))
    table: Any = dataset.X
    if not (hasattr(table, "iloc") and made_by.startswith("auclab.datasets.preprocess.")):
        return ()
    share = share_of_category(experiment.encoding)
    return experiment.once("notes", lambda: gap_notes(table, drops_constant=not made_by.endswith(".none"), share=share))


def leaks_of_run(experiment: Experiment, dataset: Dataset, rows: NDArray[np.intp]) -> tuple[str, ...]:
    """Columns of a file that tell the target of the training rows alone (`auclab.datasets.leaks`), in words."""
    from auclab.datasets.columns import sort_columns
    from auclab.datasets.labels import as_labels
    from auclab.datasets.leaks import leak_notes

    given = experiment.configuration["dataset"]
    if "drop" not in given:
        return ()
    dates = sort_columns(dataset, **experiment.encoding).dates if hasattr(dataset.X, "iloc") else {}
    return leak_notes(dataset, rows=rows, dates=dates, dropped=as_labels(given["drop"]))


def unread_notes(config: DictConfig) -> Iterator[str]:
    """Keys that ``conf/config.yaml`` lacks, such as that of ``+foo=1``; other settings may refer to them."""
    for key in map(str, config):
        if key not in (known := known_keys()):
            near = did_you_mean(key, known)
            yield f"{key} is not a setting{near}: it is stored, and has an effect where other settings refer to it"


@cache
def _yaml(group: str, choice: str | None) -> dict[Any, Any] | None:
    """A file of conf/; None if the choice has none there."""
    path = conf_folder() / group / f"{choice}.yaml"
    return plain_yaml(path) if path.is_file() else None


def _check_object(group: str, given: Mapping[str, Any], usual: Mapping[Any, Any] | None) -> None:
    """Keys and types of a group that names an object, compared with its yaml file; limits of a split, a file."""
    if usual is not None and given.get("_target_") == usual.get("_target_"):
        known = [str(key) for key in usual if not str(key).startswith("_")]
        unknown = given.keys() - usual.keys()
        if unknown and (absent := sorted(unknown - _parameters(given["_target_"]))):
            has = ", ".join(known) or "none"
            raise AuclabError(f"{group} has no setting {absent[0]!r}{did_you_mean(absent[0], known)}; it has {has}")
        for key in known:
            _check_type(f"{group}.{key}", given.get(key), usual[key])
    if group == "split" and str(given.get("_target_", "")).startswith("auclab.datasets.splits."):
        from auclab.datasets import splits

        fold = given.get("fold")
        if fold is not None and type(fold) is not int:
            raise AuclabError(f"split.fold is {fold!r}; it is a whole number, or null for all folds")
        keys = ("test_size", "seed", "n_repeats", "n_folds", "fold")
        splits.check_settings(**{key: given[key] for key in keys if key in given})
    if group == "dataset" and _is_file(given) and "://" not in given["path"]:
        from auclab.datasets.records import file_sha256

        if not (path := Path(given["path"]).expanduser()).is_file():
            file_sha256(path)  # says why it cannot be read


def _parameters(target: str) -> set[str]:
    """Names of the arguments of a function or class; for keys that its yaml does not list."""
    import inspect
    from importlib import import_module

    module, _, name = target.rpartition(".")
    return set(inspect.signature(getattr(import_module(module), name)).parameters)


def _check_type(key: str, value: Any, usual: Any) -> None:
    """Compare a value with the type of the one in the yaml file; where that is text or null, any type is valid."""
    kinds = {
        bool: ((bool,), "true or false"),
        int: ((int,), f"a whole number, such as {usual}"),
        float: ((int, float), f"a number, such as {usual}"),
    }
    types, words = kinds.get(type(usual), ((), ""))
    if types and type(value) not in types and not (value is None and key in _MAY_BE_NULL):
        raise AuclabError(f"{key} is {'null' if value is None else repr(value)}; it is {words}")


def check_tuning(experiment: Experiment) -> None:
    """Refuse a tuned parameter that the formulation or the kernel does not have, and an unknown metric."""
    given, kernel = experiment.given_tune, experiment.given_kernel.name
    if given.parameter == "kernel" and kernel == "none":
        raise AuclabError("tune=kernel selects γ of a kernel, and there is none; add kernel=rbf, or use tune=auto")
    if given.parameter == "kernel" and kernel == "precomputed":
        raise AuclabError("kernel=precomputed has no γ to select; use tune=auto, which selects λ or z")
    tune, has = experiment.tune, parameters_of(experiment.config.formulation)
    if tune.parameter is None:
        return
    if tune.parameter not in (*has, "kernel"):
        name = experiment.choices.get("formulation", "the formulation")
        raise AuclabError(
            f"tune.parameter is {tune.parameter!r}, which {name} does not have"
            f"{did_you_mean(tune.parameter, has)}; it has {', '.join(has) or 'no parameter'}: tune=auto takes the "
            "parameter that a formulation has, if any"
        )
    if not tune.values and tune.parameter != "penalty":  # λ has a series of its own
        raise AuclabError("tune.values is empty; give the values to choose from, such as tune.values=[0.01,0.1]")
    if tune.metric != "auc":
        from auclab.metrics.registry import METRICS

        if tune.metric not in METRICS:
            near = did_you_mean(tune.metric, METRICS)
            raise AuclabError(f"tune.metric is {tune.metric!r}{near}; metrics are {', '.join(METRICS)}")


def _check_constraints(experiment: Experiment) -> None:
    if experiment.choices.get("constraints") == "signs" and not experiment.constraints:
        raise AuclabError("constraints=signs names no column; add constraints.nonnegative=[age], or nonpositive")


def _check_kernel(experiment: Experiment) -> None:
    """Refuse what the kernel does not support; a precomputed matrix is used whole and unscaled."""
    given = experiment.given_kernel
    _refuse_together(experiment)
    reasons = {"split": "a part of the rows leaves all columns", "preprocess": "scaled columns are not a kernel"}
    for group, why in reasons.items() if given.name == "precomputed" else ():
        if (choice := experiment.choices.get(group)) != "none":
            raise AuclabError(
                f"kernel=precomputed needs {group}=none, and {group} is {choice}: the columns are the matrix of all "
                f"rows, and {why}; add split=none preprocess=none"
            )
    if given.name != "none":
        given.kernel()  # refuses parameters out of range before the data are read


def _check_places(experiment: Experiment) -> None:
    """Check the store, the file of the program and the engine."""
    tracking = experiment.tracking
    if tracking.name not in ("mlflow", "none"):
        raise AuclabError(f"tracking.name is {tracking.name!r}; it is mlflow or none")
    if tracking.name == "mlflow":
        Address.of_settings(tracking)  # refuses a wrong address, and one whose driver is missing
    if (export := experiment.export) is not None:
        place = next(each for each in export.absolute().parents if each.exists())
        if export.is_dir() or not place.is_dir() or not os.access(place, os.W_OK):
            raise AuclabError(f"solver.export={export} cannot be written, in {place}; give another path")
    if experiment.choices.get("engine") == "dask":
        if find_spec("distributed") is None:
            raise AuclabError("engine=dask needs distributed; install it with pip install 'auclab[dask]'")
        if experiment.choices.get("dataset") != "blocks":
            raise AuclabError(
                "engine=dask reads the blocks of dataset=blocks, and no other data set; leave it out, or spread the "
                "jobs of a sweep with -m hydra/launcher=dask"
            )


def _check_formulation(experiment: Experiment) -> None:
    """Check the formulation and that the solver supports it; skipped for default values."""
    given, solver = experiment.configuration["formulation"] or {}, experiment.solver.name
    usual = _yaml("formulation", experiment.choices.get("formulation"))
    encoding = str((experiment.configuration["preprocess"] or {}).get("_target_", ""))
    if given.get("_target_") == _SCORECARD and encoding.startswith("auclab.datasets.preprocess."):
        raise AuclabError(NEEDS_ITEMS)
    if isinstance(given.get("comparisons"), Mapping):
        raise AuclabError(
            "formulation.comparisons names pairs by row numbers, and a run splits its rows; give them in Python: "
            "auclab.solve(Composed(Bicliques(upper, lower, weights), …), X, None)"
        )
    if not str(given.get("_target_", "")).startswith("auclab.formulations.") or (given == usual and solver == "auto"):
        return
    from auclab.solvers.registry import check_capable, check_exportable

    program = built(experiment, "formulation")
    if solver != "auto":
        check_capable(solver, program)
    if experiment.export is not None:
        check_exportable(program)


def _check_metrics(experiment: Experiment) -> None:
    """Try metrics with options of the user's own on a few scores, because they are computed only after the solve."""
    import numpy as np

    from auclab.metrics import ScoredPart
    from auclab.metrics.concordance import is_of_times

    labels, scores = np.array([0, 1, 0, 1, 0, 1, 1, 0]), np.array([0.1, 0.3, 0.2, 0.8, 0.5, 0.4, 0.9, 0.0])
    for name, metric in experiment.configuration["metrics"].items():
        if (_yaml("metrics", name) or {}).get(name) != metric:
            try:
                if is_of_times(given := built(experiment, "metrics")[name]):  # has no two classes
                    continue
                ScoredPart(labels, scores).value(given)
            except AuclabError as error:
                raise AuclabError(f"metrics.{name}: {error}") from error
