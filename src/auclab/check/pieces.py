"""Names of stored pieces, and the error for one that has no rational twin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from auclab.types import AuclabError


def piece_name(stored: Any, package: str) -> str:
    """The name of a stored piece: a word, or its class, of a package of ours as a word and without the module.

    Examples
    --------
    >>> piece_name({"class": "auclab.margins.margins.AllPairs"}, "margins")
    'all_pairs'
    >>> piece_name({"class": "mine.Hinge"}, "losses")
    'mine.Hinge'
    """
    name = str(stored.get("class") or stored.get("_target_") if isinstance(stored, Mapping) else stored)
    home, _, last = name.rpartition(".")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", last).lower() if f"{home}.".startswith(f"auclab.{package}.") else name


def no_twin(piece: str, name: str, known: Iterable[str]) -> AuclabError:
    """The error for something that the checker has no class of its own for."""
    return AuclabError(
        f"the checker does not support the {piece} {name}, so objective, bound and status are not checked; "
        f"it supports {', '.join(sorted(known))}"
    )
