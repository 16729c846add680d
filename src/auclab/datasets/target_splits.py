"""Parts of rows that stay together, follow each other in time, or are not two classes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.datasets.target import Target
from auclab.types import AuclabError

Parts = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def drawn_parts(target: Target, *, n_repeats: int, test_size: float, seed: int) -> Parts:
    """Training and test rows of `n_repeats` draws; in time, of the one cut, the first rows and the last."""
    if target.order is not None:
        if n_repeats > 1:
            raise AuclabError("split=time has one hold-out part, the last rows; use split.n_folds for several")
        return _checked(target, [_cut(target.order, 1.0 - test_size, 1.0)])
    from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

    rows = np.arange(target.y.size)
    if target.wholes is not None:
        _require_wholes(target.wholes, 2, "a training and a test part need", "use split=holdout")
        shuffle: Any = GroupShuffleSplit(n_repeats, test_size=test_size, random_state=seed)
        return _checked(target, shuffle.split(rows, groups=target.wholes))
    strata = _large_strata(target, 2)
    few = strata is None or np.unique(strata).size > math.ceil(min(test_size, 1.0 - test_size) * rows.size)
    kind = ShuffleSplit if few else StratifiedShuffleSplit
    return _checked(target, kind(n_repeats, test_size=test_size, random_state=seed).split(rows, strata))


def folds_of(target: Target, *, n_folds: int, seed: int, setting: str = "split") -> Parts:
    """Training and test rows of folds; in time, each is trained on all stretches before the one that is tested."""
    checked = partial(_checked, target, setting=setting)
    if target.order is not None:
        ends = np.arange(1, n_folds + 1) / (n_folds + 1)
        return checked([_cut(target.order, end, end + ends[0]) for end in ends])
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    rows = np.arange(target.y.size)
    shuffled: dict[str, Any] = {"shuffle": True, "random_state": seed}
    if target.wholes is not None:
        key = "split.n_folds" if setting == "split" else setting
        _require_wholes(target.wholes, n_folds, f"{key}={n_folds} needs", "use fewer folds")
        strata = _large_strata(target, n_folds) if target.is_of_classes else None
        kind: Any = GroupKFold if strata is None else StratifiedGroupKFold
        return checked(kind(n_folds, **shuffled).split(rows, strata, groups=target.wholes))
    strata = _large_strata(target, n_folds)
    kind = KFold if strata is None else StratifiedKFold
    return checked(kind(n_folds, **shuffled).split(rows, strata))


def _checked(target: Target, parts: Iterable[tuple[Any, Any]], setting: str = "split") -> Parts:
    """The parts, where each has rows that can be compared."""
    found = [(np.asarray(train), np.asarray(test)) for train, test in parts]
    for train, test in found:
        target.take(train).check_part("training part", setting)
        target.take(test).check_part("test part", setting)
    return found


def _cut(order: NDArray[np.intp], first: float, last: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows before the share `first` of all rows, and those from there to `last`; rows of one time are not parted."""
    place = np.argsort(order, kind="stable")
    times = order[place]

    def end(share: float) -> int:
        """The number of rows before the time that is nearest to a share of the rows."""
        at = round(share * order.size)
        return order.size if at >= order.size else int(np.searchsorted(times, times[at]))

    cut, stop = end(first), end(last)
    return np.sort(place[:cut]), np.sort(place[cut:stop])


def _require_wholes(wholes: NDArray[Any], needed: int, what: str, advice: str) -> None:
    if (there := np.unique(wholes).size) < needed:
        raise AuclabError(
            f"{what} {needed} groups of rows that stay together, and there {'is' if there == 1 else 'are'} {there}: "
            f"give a column with more values, or {advice}"
        )


def _large_strata(target: Target, fewest: int) -> NDArray[np.int64] | None:
    """The strata of a target, None where one has too few rows to be in every part."""
    strata = target.strata
    return strata if np.bincount(strata).min() >= fewest else None
