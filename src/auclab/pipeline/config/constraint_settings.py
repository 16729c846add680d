"""The group ``constraints``: conditions on a scorer, typed or in a file of rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab.sizes import SETTINGS_BYTES
from auclab.types import AuclabError
from auclab.wording import did_you_mean, few

if TYPE_CHECKING:
    from auclab.formulations.constraints import Constraints

#: Example of a row, for messages.
_ROW = "{coefficients: {age: 1, debt: -2}, at_most: 0}"
_LISTS, _BOUNDS = ("nonnegative", "nonpositive", "excluded", "forced"), ("lower", "upper")


@dataclass(frozen=True)
class ConstraintsConfig:
    """Conditions on a linear scorer, by column names and in the units of the data.

    `nonnegative`, `nonpositive`, `excluded`, `forced`: as in `auclab.Constraints`. `file`: a yaml file with the same
    keys; typed lists are added to those of the file, and other typed values replace them.
    """

    nonnegative: Any = field(default_factory=list)
    nonpositive: Any = field(default_factory=list)
    lower: Any = None
    upper: Any = None
    rows: Any = field(default_factory=list)
    sum_to: Any = None
    excluded: Any = field(default_factory=list)
    forced: Any = field(default_factory=list)
    max_features: Any = None
    file: str | None = None


#: The keys of a file of rules.
KEYS = tuple(item.name for item in fields(ConstraintsConfig) if item.name != "file")


def resolve_constraints(given: Mapping[str, Any]) -> dict[str, Any]:
    """The typed rules and those of the file together, without rules that are not set.

    `given`: as composed.
    """
    typed = _checked({key: value for key, value in given.items() if key != "file"}, "constraints.")
    if not given.get("file"):
        return typed
    found = read_rules(given["file"])
    for key, value in typed.items():
        if key in (*_LISTS, "rows"):
            found[key] = [*found.get(key, []), *(each for each in value if each not in found.get(key, []))]
        else:
            found[key] = {**found.get(key, {}), **value} if key in _BOUNDS else value
    return found


def read_rules(path: str | Path) -> dict[str, Any]:
    """A file of rules, in yaml or json."""
    import yaml

    place = Path(path).expanduser()
    if not place.is_file():
        raise AuclabError(f"constraints.file={path} does not exist; give the path of a yaml file from this folder")
    try:
        if place.stat().st_size > SETTINGS_BYTES:
            raise AuclabError(f"constraints.file={path} is larger than a megabyte, the limit for a file of rules")
        found = yaml.safe_load(place.read_text(encoding="utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        what = " ".join(str(error).split())
        raise AuclabError(f"constraints.file={path} is not yaml: {what}") from error
    except OSError as error:
        raise AuclabError(f"constraints.file={path} cannot be read: {error.strerror or error}") from error
    if not isinstance(found, dict) or not found:
        raise AuclabError(f"constraints.file={path} has no rules; a line is such as nonnegative: [age, debt]")
    return _checked(found, f"{path}: ")


def check_rules(rules: Mapping[str, Any], columns: Sequence[str]) -> None:
    """Refuse unknown names of columns, and bounds that no coefficient satisfies.

    A fast check before heavy imports; every name is checked later (`auclab.pipeline.split.constrained`).

    `rules`: from `resolve_constraints`. `columns`: names of the columns before preprocessing.
    """
    names = [*(name for key in _LISTS for name in rules.get(key, []))]
    names += [name for key in _BOUNDS for name in rules.get(key, {})]
    names += [name for row in rules.get("rows", []) for name in row["coefficients"]]
    for name in map(str, names):
        made = any(name == column or name.startswith(f"{column}_") for column in columns)
        if not made and not (name.isdecimal() and int(name) < len(columns)):
            raise AuclabError(
                f"constraints name {name!r}, which the data do not have{did_you_mean(name, columns)}; columns are "
                f"{few(columns)}"
            )
    for name in dict.fromkeys(map(str, names)):
        low = max([rules.get("lower", {}).get(name, -math.inf), *(0.0 for _ in _in(rules, ("nonnegative",), name))])
        high = min([rules.get("upper", {}).get(name, math.inf), *(0.0 for _ in _in(rules, ("nonpositive",), name))])
        if low > high:
            raise AuclabError(f"constraints leave no coefficient for {name!r}: at least {low:g} and at most {high:g}")


def check_groups(names: Iterable[str], columns: Sequence[str]) -> None:
    """Refuse names in groups of columns that are not columns of the data."""
    if unknown := [name for name in names if name not in columns]:
        raise AuclabError(
            f"formulation.regulariser.groups has {unknown[0]!r}, which is not a column of the data"
            f"{did_you_mean(unknown[0], columns)}; columns are {few(columns)}"
        )


def _in(rules: Mapping[str, Any], keys: Sequence[str], name: str) -> list[str]:
    """The lists that contain the name."""
    return [key for key in keys if name in map(str, rules.get(key, []))]


def as_constraints(rules: Mapping[str, Any], columns: Sequence[str]) -> Constraints | None:
    """Resolved rules as `auclab.Constraints`; None where there are none.

    `rules`: from `resolve_constraints`. `columns`: names of the columns before preprocessing, for those that are given
    by number.
    """
    from auclab.formulations.constraints import Constraints

    if not rules:
        return None

    def named(name: str | int) -> str:
        if str(name) in columns or not str(name).isdecimal():
            return str(name)
        if not int(name) < len(columns):
            raise AuclabError(f"constraints name column {name}; the columns are 0 to {len(columns) - 1}")
        return columns[int(name)]

    found: dict[str, Any] = {key: [named(name) for name in rules[key]] for key in _LISTS if key in rules}
    found |= {key: {named(name): value for name, value in rules[key].items()} for key in _BOUNDS if key in rules}
    if "rows" in rules:
        found["rows"] = [
            {**row, "coefficients": {named(name): value for name, value in row["coefficients"].items()}}
            for row in rules["rows"]
        ]
    return Constraints(**found, **{key: rules[key] for key in ("sum_to", "max_features") if key in rules})


def _checked(given: Mapping[Any, Any], where: str) -> dict[str, Any]:
    """The keys that are set, with their values checked."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key not in KEYS:
            raise AuclabError(
                f"{where}{key} is not a constraint{did_you_mean(key, KEYS)}; choose from {', '.join(KEYS)}"
            )
        if value is None or value == [] or value == {}:
            continue
        at = f"{where}{key}"
        if key in _LISTS:
            found[key] = _names([value] if _is_name(value) else value, at)
        elif key in _BOUNDS:
            found[key] = _numbers(value, at)
        elif key == "rows":
            found[key] = [_row(row, at) for row in ([value] if isinstance(value, Mapping) else _listed(value, at))]
        elif key == "max_features":
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise AuclabError(f"{at} is {value!r}; it is a whole number ≥ 1")
            found[key] = value
        elif not _is_number(value):
            raise AuclabError(f"{at} is {value!r}; it is a number")
        else:
            found[key] = float(value)
    return found


def _listed(value: Any, at: str) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise AuclabError(f"{at} is {value!r}; a list is needed, such as [{_ROW}]")
    return list(value)


def _names(value: Any, at: str) -> list[str | int]:
    if not isinstance(value, list | tuple) or not all(_is_name(name) for name in value):
        raise AuclabError(f"{at} is {value!r}; it is a list of columns, such as [age,debt]")
    return list(value)


def _numbers(value: Any, at: str) -> dict[str | int, float]:
    good = isinstance(value, Mapping) and all(_is_name(name) and _is_number(each) for name, each in value.items())
    if not good:
        raise AuclabError(f"{at} is {value!r}; it has a number for each column, such as {{age: 0, debt: 0.5}}")
    return {name: float(each) for name, each in value.items()}


def _row(row: Any, at: str) -> dict[str, Any]:
    kinds = [kind for kind in ("at_most", "at_least", "equals") if isinstance(row, Mapping) and kind in row]
    if len(kinds) != 1 or set(row) != {"coefficients", kinds[0]} or not row["coefficients"]:
        raise AuclabError(
            f"{at} has {row!r}; a row has coefficients and one of at_most, at_least, equals, such as {_ROW}"
        )
    if not _is_number(row[kinds[0]]):
        raise AuclabError(f"{at} has {kinds[0]}: {row[kinds[0]]!r}; a number is needed")
    return {"coefficients": _numbers(row["coefficients"], f"{at}, coefficients"), kinds[0]: float(row[kinds[0]])}


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
