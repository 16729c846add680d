"""Names in the runs of auclab 0.1 that are others today: they are translated when a store is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Functions and classes of conf/ that have moved, by their address in the configurations of auclab 0.1.
MOVED_TARGETS = {
    **{f"auclab.splits.{name}": f"auclab.datasets.splits.{name}" for name in ("holdout", "kfold", "none", "repeated")},
    **{
        f"auclab.preprocess.{name}": f"auclab.datasets.preprocess.{name}"
        for name in ("minmax", "none", "standard", "unit_ball")
    },
    "auclab.datasets.blocks.load_blocks": "auclab.datasets.parquet_blocks.load_blocks",
    "auclab.blocks.LocalEngine": "auclab.samples.blocks.LocalEngine",
    "auclab.blocks.DaskEngine": "auclab.samples.blocks.DaskEngine",
}
#: Settings of auclab 0.1 that have another name, by group: old name, new name.
RENAMED_SETTINGS = {"solver": {"pairs": "encoding"}}


def update_configuration(configuration: Any) -> Any:
    """A configuration of an earlier version with today's addresses and names; one of today is returned as it is.

    Parameters
    ----------
    configuration : dict, list or scalar
        Plain nested data.

    Examples
    --------
    >>> old = {"split": {"_target_": "auclab.splits.holdout", "seed": 1}, "solver": {"name": "highs", "pairs": "dual"}}
    >>> new = update_configuration(old)
    >>> new["split"]["_target_"], new["solver"]
    ('auclab.datasets.splits.holdout', {'name': 'highs', 'encoding': 'dual'})
    """
    updated = _with_new_targets(configuration)
    for group, names in RENAMED_SETTINGS.items():
        if isinstance(updated.get(group), dict):
            updated[group] = {names.get(key, key): value for key, value in updated[group].items()}
    return updated


def update_params(params: Mapping[str, str]) -> dict[str, str]:
    """Parameters of a run of an earlier version under today's names.

    Examples
    --------
    >>> update_params({"solver": "highs", "solver.pairs": "dual"})
    {'solver': 'highs', 'solver.encoding': 'dual'}
    """
    renamed = {
        f"{group}.{old}": f"{group}.{new}" for group, names in RENAMED_SETTINGS.items() for old, new in names.items()
    }
    return {renamed.get(key, key): value for key, value in params.items()}


def _with_new_targets(value: Any) -> Any:
    if isinstance(value, dict):
        replaced = {key: _with_new_targets(item) for key, item in value.items()}
        if "_target_" in replaced:
            replaced["_target_"] = MOVED_TARGETS.get(replaced["_target_"], replaced["_target_"])
        return replaced
    return [_with_new_targets(item) for item in value] if isinstance(value, list) else value
