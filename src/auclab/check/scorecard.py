"""Whether the points of a stored card are such as its program allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def refused_points(
    points: NDArray[np.float64], stated: Mapping[str, Any], features: Sequence[int], signs: Any = None
) -> list[str]:
    """What is wrong with the points; nothing where they are whole, in their range, few enough and of the stated signs.

    Parameters
    ----------
    points : array of shape (n_items,)
    stated : mapping
        ``points``, ``max_items`` and ``max_features`` of the configuration.
    features : sequence of int
        The feature of each item, of the training part that was prepared again.
    signs : optional
        Constraints by the signs of features: arrays lower, upper, matrix and limit.

    Examples
    --------
    >>> refused_points(np.array([2.0, 0.5, 9.0]), {"points": [-5, 5], "max_items": 2}, [0, 0, 1])
    ['0.5 is not a whole number', '9 is not between -5 and 5', '3 items have points, and 2 may']
    """
    low, high = stated["points"]
    wrong = [f"{value:g} is not a whole number" for value in points if value != int(value)]
    wrong += [f"{value:g} is not between {low} and {high}" for value in points if not low <= value <= high]
    used = np.flatnonzero(points)
    counts = {"items": len(used), "features": len(set(np.asarray(features)[used].tolist()))}
    for what, count in counts.items():
        most = stated.get(f"max_{what}")
        if most is not None and count > most:
            wrong.append(f"{count} {what} have points, and {most} may")
    if signs is not None and not (
        (signs.lower <= points).all()
        and (points <= signs.upper).all()
        and (signs.matrix @ points <= signs.limit).all()  # whole numbers times ±1: exact
    ):
        wrong.append("the signs of features are violated")
    return wrong
