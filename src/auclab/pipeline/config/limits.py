"""Valid values of settings: declared with the field, and checked in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, fields, is_dataclass
from typing import Any

from auclab.types import AuclabError
from auclab.wording import did_you_mean


def limited(default: Any, good: Callable[[Any], bool], words: str) -> Any:
    """A field whose values satisfy `good`; `words` state what is needed, after "is VALUE; " in the message."""
    return field(default=default, metadata={"good": good, "words": words})


def chosen(default: str, names: Sequence[str]) -> Any:
    """A field whose value is one of `names`."""
    return field(default=default, metadata={"names": tuple(names)})


def check_values(record: Any, group: str) -> None:
    """Refuse an invalid value of a field of a record; None is valid where its type allows it.

    `record`: with fields made by `limited` and `chosen`, and records of such fields. `group`: its key in the
    settings, for the message.

    Examples
    --------
    >>> from auclab.pipeline.config.settings import SolverConfig
    >>> check_values(SolverConfig("newton", tolerance=-1.0), "solver")
    Traceback (most recent call last):
        ...
    auclab.types.AuclabError: solver.tolerance is -1.0; it is a relative gap > 0, such as 1e-6
    """
    for item in fields(record):
        value, at = getattr(record, item.name), f"{group}.{item.name}"
        if is_dataclass(value):
            check_values(value, at)
            continue
        names, good = item.metadata.get("names"), item.metadata.get("good")
        if names is not None and value not in names:
            raise AuclabError(f"{at} is {value!r}{did_you_mean(value, names)}; it is one of {', '.join(names)}")
        if good is not None and value is not None and not good(value):
            raise AuclabError(f"{at} is {value!r}; {item.metadata['words']}")
