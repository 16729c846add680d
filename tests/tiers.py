"""Which tests the first tier leaves out: what is marked `weekly`, and most cases of the products marked `covering`."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest


def mark_tiers(items: Sequence[pytest.Item]) -> None:
    """`covering` makes the slow cases beyond a covering choice `weekly`, and what is `weekly` is `slow` too."""
    products: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("covering") is not None and item.get_closest_marker("weekly") is None:
            products.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in products.values():
        most = cases[0].get_closest_marker("covering").kwargs
        quick = [case.get_closest_marker("slow") is None for case in cases]
        kept = covering_choice([case.callspec.params for case in cases], quick, most)
        for case, stays in zip(cases, kept, strict=True):
            if not stays:
                case.add_marker(pytest.mark.weekly)
    for item in items:
        if item.get_closest_marker("weekly") is not None and item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.slow)


def covering_choice(cases: Sequence[Mapping[str, Any]], kept: Sequence[bool], most: Mapping[str, int]) -> list[bool]:
    """The cases that are kept, and few more, so that every value of every parameter is among them; of a parameter in
    `most`, such as a seed, its first so many values.
    """
    values = [{(name, _key(value)) for name, value in case.items()} for case in cases]
    wanted, beyond = set(), set()
    for name in cases[0]:
        different = list(dict.fromkeys((name, _key(case[name])) for case in cases))
        wanted.update(different[: most.get(name)])
        beyond.update(different[most.get(name, len(different)) :])
    uses = Counter(value for case, stays in zip(values, kept, strict=True) if stays for value in case)
    wanted -= uses.keys()
    chosen = list(kept)

    def worth(i: int) -> tuple[int, int, int]:
        """Of equal gain those whose other values are within `most`, and were used least."""
        return len(values[i] & wanted), -len(values[i] & beyond), -sum(uses[each] for each in values[i])

    while wanted:
        best = max(range(len(cases)), key=worth)
        chosen[best] = True
        uses.update(values[best])
        wanted -= values[best]
    return chosen


def _key(value: Any) -> Hashable:
    """Equal for equal values; a check of scikit-learn is another object in every case."""
    if isinstance(value, partial):
        return value.func, repr(value.keywords)
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value
