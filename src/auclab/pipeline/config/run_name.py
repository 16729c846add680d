"""Settings as flat parameters, and the name of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from auclab.pipeline.config.auto_tuning import tuned_parameter

#: How the parameters of a formulation are written in a name.
SYMBOLS = {"threshold": "z", "penalty": "λ", "max_fpr": "fpr≤", "C": "C", "n_estimators": "trees"}

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
    """The kernel with its γ, and the method if it is not the default."""
    if not kernel:
        return []
    gamma, method = kernel.get("gamma"), kernel.get("method", "landmarks")
    terms = [str(kernel["name"])]
    shown = f"γ={gamma:g}" if _is_number(gamma) else f"γ={gamma}"
    terms += ["γ tuned" if tuned else shown] if gamma is not None else []
    terms += [] if method == "landmarks" else [str(method)]
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
