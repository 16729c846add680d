"""The group ``constraints``: conditions on a scorer, typed or in a file of rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auclab.pipeline.config.settings import ConstraintsConfig, is_number
from auclab.sizes import SETTINGS_BYTES
from auclab.types import AuclabError
from auclab.wording import did_you_mean

if TYPE_CHECKING:
    from auclab.formulations.constraints import Constraints

_LISTS, _BOUNDS = ("nonnegative", "nonpositive", "excluded", "forced"), ("lower", "upper")
#: The keys of a file of rules.
KEYS = tuple(item.name for item in fields(ConstraintsConfig) if item.name != "file")


def resolve_constraints(given: Mapping[str, Any]) -> dict[str, Any]:
    """The typed rules and those of the file together, without rules that are not set.

    `given`: as composed. Typed lists are added to those of the file, and other typed values replace them.
    """
    typed = _checked({key: value for key, value in given.items() if key != "file"})
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
    try:
        if place.stat().st_size > SETTINGS_BYTES:
            raise AuclabError(f"constraints.file={path} is larger than a megabyte, the limit for a file of rules")
        found = yaml.safe_load(place.read_text(encoding="utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise AuclabError(f"constraints.file={path} is not yaml: {' '.join(str(error).split())}") from error
    except OSError as error:
        raise AuclabError(f"constraints.file={path} cannot be read: {error.strerror or error}") from error
    if not isinstance(found, dict) or not found:
        raise AuclabError(f"constraints.file={path} has no rules; a line is such as nonnegative: [age, debt]")
    try:
        return _checked(found)
    except AuclabError as error:
        raise AuclabError(f"{path}: {error}") from None


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

    def by_name(numbers: Mapping[str | int, float]) -> dict[str, float]:
        return {named(name): number for name, number in numbers.items()}

    found = dict(rules)
    found |= {key: [named(name) for name in rules[key]] for key in _LISTS if key in rules}
    found |= {key: by_name(rules[key]) for key in _BOUNDS if key in rules}
    found["rows"] = [{**row, "coefficients": by_name(row["coefficients"])} for row in rules.get("rows", ())]
    return Constraints(**found)


def _checked(given: Mapping[Any, Any]) -> dict[str, Any]:
    """The keys that are set, within their limits, with lists for single entries and floats for numbers."""
    for key in given:
        if key not in KEYS:
            raise AuclabError(f"{key} is not a constraint{did_you_mean(key, KEYS)}; choose from {', '.join(KEYS)}")
    found = {str(key): value for key, value in given.items() if value not in (None, [], {})}
    ConstraintsConfig(**found)
    for key in {*_LISTS, "rows"} & found.keys():
        found[key] = found[key] if isinstance(found[key], list | tuple) else [found[key]]
    return {key: value if key in (*_LISTS, "max_features") else _floats(value) for key, value in found.items()}


def _floats(value: Any) -> Any:
    """With floats in place of whole numbers, so that 0 and 0.0 are the same setting."""
    if isinstance(value, Mapping):
        return {key: _floats(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_floats(each) for each in value]
    return float(value) if is_number(value) else value
