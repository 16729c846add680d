"""Sums of many results in a fixed tree, whose shape depends on their number alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from auclab.types import AuclabError

#: Results that are added in one task; a power of 2, so that the tree is the same as that of `tree_sum`.
FAN_IN = 8


def tree_sum(results: Iterable[Any]) -> Any:
    """The sum of successive results, added in a binary tree: log₂ of their number are in memory at a time.

    If groups of `FAN_IN` results are summed elsewhere, and their sums likewise, the tree is the same, so that sums of
    floats do not depend on where they are added.
    """
    held: list[tuple[int, Any]] = []
    for result in results:
        size = 1
        while held and held[-1][0] == size:
            result = held.pop()[1] + result
            size *= 2
        held.append((size, result))
    if not held:
        raise AuclabError("there are no blocks; a pass must yield at least one")
    total = held.pop()[1]
    while held:
        total = held.pop()[1] + total
    return total
