"""Errors of a configuration that are found before the libraries of a solve are imported.

A value that is never valid is refused within a second; other errors are found when the data are read or in the solve.
The yaml files of ``conf/`` are the reference for known keys and for the types of values.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from auclab.datasets.bad_cells import Refusals
from auclab.pipeline.config.compose import (
    Experiment,
    check_multiples,
    conf_folder,
    is_baseline,
    known_keys,
    parameters_of,
    plain_yaml,
)
from auclab.pipeline.config.constraint_settings import check_groups, check_rules
from auclab.pipeline.config.settings import DecisionConfig, KernelConfig, TuneConfig, check_decision, check_values
from auclab.tracking.address import Address
from auclab.types import AuclabError
from auclab.wording import did_you_mean

if TYPE_CHECKING:
    from auclab.datasets.columns import Columns
    from auclab.datasets.records import Dataset

_OF_BASELINES = "not supported for baselines such as {}, which other libraries fit; leave"
#: For each kind of fit, what it does not support and why; {} is replaced by the name of the formulation.
REFUSED = {
    "baseline": {
        "constraints": f"constraints are {_OF_BASELINES} them out",
        "kernel": f"a kernel is {_OF_BASELINES} it out",
        "tune.tolerance": f"tune.tolerance is {_OF_BASELINES} it out",
        "ranked": "formulation={} is fitted by another library, which compares all rows of two classes; formulation="
        "bauc and ranksvm compare rows within groups, by grades and by times",
        "blocks": "formulation={} is fitted by another library, which needs all rows in memory; dataset=blocks works "
        "with ranksvm, bauc, csvm and the other convex means of hinges",
    },
    "integer": {
        "kernel": "a kernel is for bauc, ranksvm, csvm and the like, and not for {}",
        "ranked": "formulation={} compares all rows of two classes; formulation=bauc and ranksvm compare rows within "
        "groups, by grades and by times",
        "blocks": "formulation={} needs all rows in memory; use dataset=file and fewer rows",
    },
    "ranked": {
        "class_weight": "class_weight is for two classes, and rows are compared within groups, by grades or by times; "
        "leave it out",
        "max_features": "constraints.max_features is for two classes, and rows are compared within groups, by grades "
        "or by times; leave it out, or use formulation.norm=l1, which uses few columns",
        "decision": "decision.threshold and decision.probability are for two classes, and rows that are compared "
        "within groups, by grades or by times have no labels to predict; leave them out",
        "tuned_kernel": "tune=kernel and a tuned kernel=precomputed are for two classes, and rows are compared within "
        "groups, by grades or by times; set kernel.gamma and tune=penalty, or leave tune out",
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
    auclab.types.AuclabError: a kernel is for bauc, ranksvm, csvm and the like, and not for scorecard
    """
    for what, reason in REFUSED.get(kind, {}).items():
        if given.get(what.replace(".", "_")):
            raise AuclabError(reason.format(name))


#: Groups with one yaml file a choice, which names an object and its arguments.
_GROUPS = ("dataset", "split", "preprocess", "formulation", "engine")
#: Required groups.
_NEEDED = (*_GROUPS, "solver", "metrics", "bounds", "tracking")
#: Numbers that may be null: no limit.
_MAY_BE_NULL = ("preprocess.max_categories", "dataset.rows", "dataset.features", "dataset.n_pos", "dataset.n_neg")


def check_settings(experiment: Experiment) -> None:
    """Refuse a configuration that no data can make valid, with all its errors in one message."""
    check_groups_chosen(experiment.config)
    try:
        plain = experiment.configuration
    except OmegaConfBaseException as error:  # ${…} that cannot be resolved
        raise AuclabError(f"{error.full_key}: {str(error).splitlines()[0]}; give the value itself") from error
    described, refusals = _described(experiment.choices), Refusals()
    wrong: set[str] = set()  # groups with a value of a wrong type; their values are not checked further
    for group, description in described.items():
        with refusals.collected(wrong, group):
            _check_group(group, plain.get(group) or {}, description)
    for name, metric in (plain.get("metrics") or {}).items():
        with refusals.collected(wrong, "metrics"):
            _check_group(f"metrics.{name}", metric or {}, (_yaml("metrics", name) or {}).get(name))
    of_groups: dict[str, Callable[[], object]] = {
        "split": lambda: _check_split(plain.get("split") or {}),
        "dataset": lambda: _check_file(plain.get("dataset") or {}),
        "solver": lambda: check_values(experiment.solver, "solver"),
        "inner": lambda: check_values(experiment.inner, "inner"),
        "bounds": lambda: check_values(experiment.bounds, "bounds"),
        "decision": lambda: check_decision(experiment.decision),
        "class_weight": lambda: experiment.class_weight,  # reading it checks it
        "constraints": lambda: _check_constraints(experiment),
    }
    for group, check in of_groups.items():
        if group not in wrong:
            with refusals.collected(wrong, group):
                check()
    refusals.raise_all()
    # Checks across groups need valid groups, and the libraries of the formulation.
    of_several: tuple[Callable[[], object], ...] = (
        lambda: check_tuning(experiment),
        lambda: _check_kernel(experiment),
        lambda: _check_places(experiment, plain),
        lambda: _check_formulation(experiment, plain, described.get("formulation")),
        lambda: _check_metrics(experiment, plain),
    )
    for check in of_several:
        with refusals.collected():
            check()
    refusals.raise_all()


def check_data(experiment: Experiment) -> tuple[Dataset, Columns | None]:
    """Load the data set and check its columns before anything else is imported.

    Returns the columns of a table in memory, for the screen.
    """
    refusals = Refusals()
    dataset, columns = _sorted_columns(experiment, refusals)
    with refusals.collected():
        _check_parts(experiment, dataset)
    _raise_of_file(refusals, experiment)
    if columns is None:
        return dataset, None
    if experiment.makes_items:  # how many there are is known once they are made
        columns = replace(columns, widths={})
    return dataset, replace(columns, notes=(*prepared_notes(experiment, dataset), *columns.notes))


def check_file(experiment: Experiment) -> None:
    """Refuse a table of the user's own that no job of a sweep could use; other data sets are left to the jobs."""
    if _is_file(experiment.configuration["dataset"]):
        refusals = Refusals()
        _sorted_columns(experiment, refusals)
        _raise_of_file(refusals, experiment)


def _sorted_columns(experiment: Experiment, refusals: Refusals) -> tuple[Dataset, Columns | None]:
    """The data set and the columns of a table in memory; raises only where the data set cannot be loaded."""
    import pandas as pd

    from auclab.datasets.columns import refuse_constant, sort_columns
    from auclab.pipeline.config.build import load_dataset

    with refusals.collected():
        dataset = load_dataset(experiment)
    if refusals.reasons:
        with refusals.collected():
            _refuse_columns_of_file(experiment)
        _raise_of_file(refusals, experiment)
    columns = None
    if isinstance(dataset.X, pd.DataFrame):
        with refusals.collected():
            columns = sort_columns(dataset, **experiment.encoding)
        if experiment.choices.get("preprocess") != "none":
            with refusals.collected():
                refuse_constant(dataset)
    return dataset, columns


def _check_parts(experiment: Experiment, dataset: Dataset) -> None:
    """Check that every part has rows, and that the columns of all constraints exist."""
    from auclab.datasets import splits

    split = experiment.configuration["split"]
    if str(split.get("_target_", "")).startswith("auclab.datasets.splits."):
        test_size, n_folds = split.get("test_size"), split.get("n_folds")
        splits.check_rows(dataset.target, test_size=test_size, n_folds=n_folds, setting="split.n_folds")
    _check_ranked(experiment, dataset)
    found: Any = dataset.X
    names = list(map(str, found.columns if hasattr(found, "columns") else (f"x{k}" for k in range(found.shape[1]))))
    if experiment.constraints:
        check_rules(experiment.constraints, names)
    if experiment.configuration["formulation"].get("regulariser"):
        from auclab.pipeline.config.build import built

        check_groups(built(experiment, "formulation").regulariser.names, names)


def _raise_of_file(refusals: Refusals, experiment: Experiment) -> None:
    """Raise the collected refusals; for several problems of a file, with the command that proposes settings."""
    dataset = experiment.configuration["dataset"]
    if len(refusals.reasons) > 1 and _is_file(dataset):
        refusals.reasons[-1] += f"; auclab inspect {shlex.quote(str(dataset['path']))} proposes settings for all of it"
    refusals.raise_all()


def _is_file(dataset: Mapping[str, Any]) -> bool:
    return dataset.get("_target_") == "auclab.datasets.file.load_file" and isinstance(dataset.get("path"), str)


def _refuse_columns_of_file(experiment: Experiment) -> None:
    """Collect the problems of a file's columns when the file could not be loaded for another reason."""
    dataset = experiment.configuration["dataset"]
    if not _is_file(dataset):
        return
    from auclab.datasets.file import TABLES, FileSettings, read_table

    path = Path(dataset["path"]).expanduser()
    if path.is_file() and path.name.lower().endswith(TABLES):
        given = FileSettings.of(dataset)
        read_table(path, given).refuse_columns(given, experiment.encoding)


def _check_ranked(experiment: Experiment, dataset: Dataset) -> None:
    """Refuse settings and splits that groups, grades and times do not support."""
    from auclab.datasets.splits import split_rows
    from auclab.pipeline.config.build import build

    if not dataset.target.is_of_classes:
        formulation = experiment.configuration["formulation"]
        if is_baseline(formulation):
            _refuse_of_baseline(experiment, ranked=True)
        kernel, tuned = experiment.kernel, experiment.tune.parameter
        of_kernel = tuned == "kernel" or (tuned is not None and kernel is not None and kernel.name == "precomputed")
        decision = experiment.decision
        decided = decision.threshold != DecisionConfig().threshold or decision.probability not in ("auto", "none")
        given = {"class_weight": experiment.class_weight is not None, "decision": decided, "tuned_kernel": of_kernel}
        given["max_features"] = experiment.constraints.get("max_features") is not None
        refuse("ranked", str(formulation.get("_target_")), **given)
    splitter = build(experiment.config.split)
    if not dataset.target.is_plain or hasattr(splitter, "splits"):
        split_rows(splitter, dataset)  # refuses parts without comparable pairs


def prepared_notes(experiment: Experiment, dataset: Dataset) -> tuple[str, ...]:
    """What preprocessing fills and leaves out in a table in memory (`auclab.datasets.columns`)."""
    return experiment.once("prepared", lambda: _prepared_notes(experiment, dataset))


def _prepared_notes(experiment: Experiment, dataset: Dataset) -> tuple[str, ...]:
    import pandas as pd

    from auclab.datasets.columns import gap_notes

    made_by = str(experiment.configuration["preprocess"].get("_target_"))
    if not (isinstance(dataset.X, pd.DataFrame) and made_by.startswith("auclab.datasets.preprocess.")):
        return ()
    return gap_notes(dataset.X, drops_constant=not made_by.endswith(".none"))


def check_groups_chosen(config: DictConfig) -> None:
    """Refuse a configuration without one of the groups that every experiment needs."""
    for group in _NEEDED:
        if group not in config:
            way = "give some by list, such as 'metrics=[auc,bauc]'" if group == "metrics" else f"leave out ~{group}"
            raise AuclabError(f"no {group} is chosen, but every experiment needs one; {way}")


def unread_notes(config: DictConfig) -> Iterator[str]:
    """Keys that ``conf/config.yaml`` lacks, such as that of ``+foo=1``; other settings may refer to them."""
    for key in map(str, config):
        if key not in (known := known_keys()):
            near = did_you_mean(key, known)
            yield f"{key} is not a setting{near}: it is stored, and has an effect where other settings refer to it"


@cache
def _yaml(group: str, choice: str) -> dict[Any, Any] | None:
    """A file of conf/; None if the choice has none there."""
    path = conf_folder() / group / f"{choice}.yaml"
    return plain_yaml(path) if path.is_file() else None


def _described(choices: Mapping[str, str]) -> dict[str, dict[Any, Any] | None]:
    return {group: _yaml(group, str(choices[group])) for group in _GROUPS if group in choices}


def _check_group(group: str, given: Mapping[str, Any], description: Mapping[Any, Any] | None) -> None:
    """Keys and types of a group, compared with its yaml file."""
    if description is None or given.get("_target_") != description.get("_target_"):
        return
    unknown = [key for key in given if key not in description]
    if unknown and (absent := [key for key in unknown if key not in _parameters(given["_target_"])]):
        known = [str(key) for key in description if not str(key).startswith("_")]
        has = f"it has {', '.join(known)}" if known else "it has none"
        raise AuclabError(f"{group} has no setting {absent[0]!r}{did_you_mean(absent[0], known)}; {has}")
    for key, usual in description.items():
        if not str(key).startswith("_"):
            _check_type(f"{group}.{key}", given.get(key), usual)


def _parameters(target: str) -> list[str]:
    """Names of the arguments of a function or class; for keys that its yaml does not list."""
    import inspect
    from importlib import import_module

    module, _, name = target.rpartition(".")
    return list(inspect.signature(getattr(import_module(module), name)).parameters)


def _check_type(key: str, value: Any, usual: Any) -> None:
    """Compare a value with the type of the one in the yaml file; where that is text or null, any type is valid."""
    if isinstance(usual, bool):
        good, kind = isinstance(value, bool), "true or false"
    elif isinstance(usual, int):
        good, kind = isinstance(value, int) and not isinstance(value, bool), f"a whole number, such as {usual}"
    elif isinstance(usual, float):
        good, kind = isinstance(value, int | float) and not isinstance(value, bool), f"a number, such as {usual}"
    else:
        return
    if not good and not (value is None and key in _MAY_BE_NULL):
        raise AuclabError(f"{key} is {'null' if value is None else repr(value)}; it is {kind}")


def _check_split(split: Mapping[str, Any]) -> None:
    from auclab.datasets import splits

    keys = ("test_size", "seed", "n_repeats", "n_folds", "fold")
    if str(split.get("_target_", "")).startswith("auclab.datasets.splits."):
        fold = split.get("fold")
        if fold is not None and (isinstance(fold, bool) or not isinstance(fold, int)):
            raise AuclabError(f"split.fold is {fold!r}; it is a whole number, or null for all folds")
        splits.check_settings(**{key: split[key] for key in keys if key in split})


def check_tuning(experiment: Experiment) -> None:
    """Refuse a tuned parameter that the formulation does not have, and settings of tuning without effect."""
    given = experiment.given_tune
    if given.parameter is None and given != (usual := TuneConfig()):
        key = next(each.name for each in fields(usual) if getattr(given, each.name) != getattr(usual, each.name))
        raise AuclabError(
            f"tune.{key} has no effect with tune=none; choose a parameter with tune=auto, tune=penalty, "
            "tune=threshold or, with a kernel, tune=kernel"
        )
    _check_gammas(given, experiment)
    tune = experiment.tune
    if tune.parameter is None:
        return
    formulation = experiment.config.formulation
    if is_baseline(formulation):
        _refuse_of_baseline(experiment, tune_tolerance=tune.tolerance is not None)
    has = parameters_of(formulation)
    if tune.parameter not in has and tune.parameter != "kernel":
        name = experiment.choices.get("formulation", "the formulation")
        raise AuclabError(
            f"tune.parameter is {tune.parameter!r}, which {name} does not have"
            f"{did_you_mean(tune.parameter, has)}; it has {', '.join(has) or 'no parameter'}: tune=auto takes the "
            "parameter that a formulation has, if any"
        )
    if not tune.values and tune.parameter != "penalty":  # λ has a series of its own
        raise AuclabError("tune.values is empty; give the values to choose from, such as tune.values=[0.01,0.1]")
    check_values(tune, "tune")
    if tune.metric != "auc":
        from auclab.metrics.registry import METRICS

        if tune.metric not in METRICS:
            near = did_you_mean(tune.metric, METRICS)
            raise AuclabError(f"tune.metric is {tune.metric!r}{near}; metrics are {', '.join(METRICS)}")


def _check_gammas(given: TuneConfig, experiment: Experiment) -> None:
    """Check that ``tune=kernel`` has a kernel with γ, and that ``tune.gammas`` is set for it only."""
    if given.parameter != "kernel":
        if given.gammas:
            raise AuclabError("tune.gammas has an effect with tune=kernel alone; add tune=kernel")
        return
    if experiment.kernel is None:
        raise AuclabError("tune=kernel selects γ of a kernel, and there is none; add kernel=rbf, or use tune=auto")
    if experiment.kernel.name == "precomputed":
        raise AuclabError("kernel=precomputed has no γ to select; use tune=auto, which selects λ or z")
    check_multiples(given.gammas)


def _check_constraints(experiment: Experiment) -> None:
    """Refuse ``constraints=signs`` without a column, and settings that the choice does not use."""
    choice, rules = experiment.choices.get("constraints", "none"), experiment.constraints
    if rules and choice == "none":
        raise AuclabError(
            f"constraints.{next(iter(rules))} has no effect with constraints=none; leave out constraints=none, and to "
            "compare with and without it sweep its values, such as constraints.nonnegative=[],[age]"
        )
    if choice == "signs" and (others := [key for key in rules if key not in ("nonnegative", "nonpositive")]):
        raise AuclabError(
            f"constraints=signs has nonnegative and nonpositive; constraints.{others[0]} is of constraints=rules"
        )
    if choice == "signs" and not rules:
        raise AuclabError("constraints=signs names no column; add constraints.nonnegative=[age], or nonpositive")
    if is_baseline(experiment.configuration["formulation"]):
        _refuse_of_baseline(experiment, constraints=bool(rules))


def _refuse_of_baseline(experiment: Experiment, **given: bool) -> None:
    refuse("baseline", experiment.choices.get("formulation", "this"), **given)


def _check_kernel(experiment: Experiment) -> None:
    """Refuse settings of a kernel without a kernel, and values out of range."""
    given = experiment.given_kernel
    if given.name == "none":
        if set_keys := [key for key, value in vars(given).items() if value != getattr(KernelConfig(), key)]:
            raise AuclabError(f"kernel.{set_keys[0]} has no effect with kernel=none; add kernel=rbf, or another")
        return
    if is_baseline(experiment.configuration["formulation"]):
        _refuse_of_baseline(experiment, kernel=True)
    refuse("kernel", given.name, constraints=bool(experiment.constraints))
    if given.name == "precomputed":
        _check_precomputed(experiment)
    given.kernel()  # refuses parameters out of range before the data are read


def _check_precomputed(experiment: Experiment) -> None:
    """Refuse splits and preprocessing of a precomputed kernel: its matrix is used whole and unscaled."""
    for group, why in (
        ("split", "a part of the rows leaves all columns"),
        ("preprocess", "scaled columns are not a kernel"),
    ):
        if (choice := experiment.choices.get(group)) != "none":
            raise AuclabError(
                f"kernel=precomputed needs {group}=none, and {group} is {choice}: the columns are the matrix of all "
                f"rows, and {why}; add split=none preprocess=none"
            )


def _check_file(dataset: Mapping[str, Any]) -> None:
    """Check that the user's own file can be read, before the solvers are imported."""
    path = dataset.get("path")
    if dataset.get("_target_") != "auclab.datasets.file.load_file" or not isinstance(path, str) or "://" in path:
        return
    file = Path(path).expanduser()
    try:
        with file.open("rb"):
            return
    except OSError as error:
        there = [each.name for each in file.parent.iterdir()] if file.parent.is_dir() and not file.exists() else []
        reason = f"{error.strerror or error}{did_you_mean(file.name, there)}"
        raise AuclabError(f"{file} cannot be read: {reason}; check the path and its permissions") from None


def _check_places(experiment: Experiment, plain: Mapping[str, Any]) -> None:
    """Check the data folder, the tracking settings and the engine."""
    tracking = experiment.tracking
    if tracking.name not in ("mlflow", "none"):
        raise AuclabError(f"tracking.name is {tracking.name!r}; it is mlflow or none")
    if tracking.name == "mlflow":
        Address.of_settings(tracking)  # refuses a wrong address, and one whose driver is missing
    data_dir = plain.get("data_dir")
    if data_dir is not None and not Path(str(data_dir)).expanduser().is_dir():
        raise AuclabError(f"data_dir={data_dir} is not a folder; give one that is there, or leave data_dir out")
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


def _check_formulation(experiment: Experiment, plain: Mapping[str, Any], usual: Mapping[Any, Any] | None) -> None:
    """Check the formulation and that the solver supports it; skipped for default values."""
    given = plain.get("formulation") or {}
    if not str(given.get("_target_", "")).startswith("auclab.formulations."):
        return
    solver = experiment.solver.name
    if given == usual and solver == "auto":
        return
    from auclab.pipeline.config.build import built
    from auclab.solvers.encodings import check_exportable
    from auclab.solvers.registry import check_capable

    program = built(experiment, "formulation")
    if solver != "auto":
        check_capable(solver, program)
    if experiment.export is not None:
        check_exportable(program)


def _check_metrics(experiment: Experiment, plain: Mapping[str, Any]) -> None:
    """Try metrics with user-defined options on a few scores, because they are computed only after the solve."""
    changed = [
        name
        for name, metric in (plain.get("metrics") or {}).items()
        if (_yaml("metrics", name) or {}).get(name) != metric
    ]
    if not changed:
        return
    from auclab.pipeline.config.build import built

    metrics = built(experiment, "metrics")
    for name in changed:
        try:
            metrics[name]([0, 1, 0, 1, 0, 1, 1, 0], [0.1, 0.3, 0.2, 0.8, 0.5, 0.4, 0.9, 0.0])
        except AuclabError as error:
            raise AuclabError(f"metrics.{name}: {error}") from error
