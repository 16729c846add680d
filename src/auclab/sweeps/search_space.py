"""The space of an adaptive search, parsed from the command line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from hydra.core.override_parser.types import ChoiceSweep, IntervalSweep, Override, RangeSweep

from auclab.types import AuclabError

#: Ratio of two bounds above which a logarithmic scale is advised.
_WIDE = 1000


@dataclass(frozen=True)
class Interval:
    """Numbers between two bounds, both included.

    `low`, `high`: the bounds. `log`: whether proposals are uniform on a logarithmic scale,
    ``tag(log,interval(1e-5,1))``. `whole`: whether they are integers, ``int(interval(1,9))``.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False


#: The values of a setting: an interval, or a list of texts as typed on the command line.
Space = dict[str, "Interval | tuple[str, ...]"]


def space_of(overrides: Sequence[Override]) -> tuple[Space, list[str]]:
    """The settings that are searched, and the overrides that all jobs share; a list of one value is shared."""
    space: Space = {}
    fixed: list[str] = []
    for override in overrides:
        key, value = override.get_key_element(), override.value()
        if isinstance(value, IntervalSweep):
            space[key] = _interval(key, value)
        elif isinstance(value, ChoiceSweep | RangeSweep) or override.is_sweep_override():
            if tags := getattr(value, "tags", None):
                raise AuclabError(f"{key}: tag({', '.join(sorted(tags))}, …) is for intervals; a list has none")
            choices = tuple(dict.fromkeys(override.sweep_string_iterator()))
            if len(choices) > 1:
                space[key] = choices
            else:
                fixed += [f"{key}={each}" for each in choices]
        else:
            fixed.append(f"{key}={override.get_value_element_as_str()}")
    return space, fixed


def _interval(key: str, value: IntervalSweep) -> Interval:
    low, high = value.start, value.end
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise AuclabError(f"{key}: interval({low}, {high}) needs two numbers, the smaller one first")
    if unknown := value.tags - {"log"}:
        raise AuclabError(
            f"{key}: tag({', '.join(sorted(unknown))}, interval({low}, {high})) is not supported; the only tag is log, "
            "for proposals on a logarithmic scale"
        )
    log = "log" in value.tags
    if log and low <= 0:
        raise AuclabError(f"{key}: an interval of logarithms needs bounds above 0, got {low}")
    return Interval(low, high, log, isinstance(low, int) and isinstance(high, int))


def advice_on(space: Mapping[str, Interval | tuple[str, ...]]) -> Iterator[str]:
    """Advice on a valid space."""
    for key, allowed in space.items():
        if not isinstance(allowed, tuple) and not allowed.log and 0 < allowed.low * _WIDE <= allowed.high:
            above = allowed.low + (allowed.high - allowed.low) / 10
            yield (
                f"{key}: nine of ten proposals in interval({allowed.low}, {allowed.high}) are above {above:.3g}; "
                f"write tag(log,interval({allowed.low},{allowed.high})) for as many in each decade"
            )


def size_of(space: Mapping[str, Interval | tuple[str, ...]]) -> int | None:
    """Number of different settings; None if infinite."""
    counts = [_count(each) for each in space.values()]
    return None if None in counts else math.prod(each for each in counts if each is not None)


def _count(allowed: Interval | tuple[str, ...]) -> int | None:
    if isinstance(allowed, tuple):
        return len(allowed)
    return int(allowed.high) - int(allowed.low) + 1 if allowed.whole else None


def every_setting(space: Mapping[str, Interval | tuple[str, ...]]) -> Iterator[dict[str, str | int]]:
    """All settings of a finite space, the last key varying fastest."""
    values: list[Any] = [
        each if isinstance(each, tuple) else range(int(each.low), int(each.high) + 1) for each in space.values()
    ]
    return (dict(zip(space, chosen, strict=True)) for chosen in product(*values))
