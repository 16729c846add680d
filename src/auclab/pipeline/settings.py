"""Settings of an experiment: one frozen dataclass for each group of ``conf/`` that carries options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from auclab.types import AuclabError


@dataclass(frozen=True)
class StabilityConfig:
    """Stability bounds on the training part.

    Attributes
    ----------
    a : float
        Scale of the hinge ``[1 − a w·(x⁺ − x⁻)]₊``, ≥ 0, fixed before the data are seen.
    """

    a: float = 1.0


@dataclass(frozen=True)
class MarginConfig:
    """Margin bound on the training part; it has no options."""


@dataclass(frozen=True)
class FixedScorerConfig:
    """Bounds on the held-out part for a scorer fixed before it was seen; they have no options."""


@dataclass(frozen=True)
class WeightedConfig:
    """Bound on the partial AUC of the held-out part.

    Attributes
    ----------
    max_fpr : float or None
        End of the band of false positive rates, in (0, 1]; None takes that of the formulation, if it has one.
    """

    max_fpr: float | None = None


@dataclass(frozen=True)
class BoundsConfig:
    """Which generalization bounds are computed; a kind that is None is left out.

    Attributes
    ----------
    rho : float
        1 − confidence of each bound, in (0, 1).
    """

    rho: float = 0.05
    stability: StabilityConfig | None = None
    margin: MarginConfig | None = None
    fixed_scorer: FixedScorerConfig | None = None
    weighted: WeightedConfig | None = None


_KINDS = {
    "stability": StabilityConfig,
    "margin": MarginConfig,
    "fixed_scorer": FixedScorerConfig,
    "weighted": WeightedConfig,
}


def bounds_config(settings: Mapping[str, Any]) -> BoundsConfig:
    """The group ``bounds`` of a resolved configuration.

    Raises
    ------
    AuclabError
        An unknown kind of bounds or an unknown option.

    Examples
    --------
    >>> bounds_config({"rho": 0.1, "stability": {"a": 2.0}})
    BoundsConfig(rho=0.1, stability=StabilityConfig(a=2.0), margin=None, fixed_scorer=None, weighted=None)
    """
    values: dict[str, Any] = {}
    for kind, options in settings.items():
        if kind == "rho":
            values[kind] = float(options)
        elif kind not in _KINDS:
            raise AuclabError(f"bounds of the kind {kind!r} are unknown; choose among {', '.join(_KINDS)}")
        else:
            unknown = set(options or {}) - {field.name for field in fields(_KINDS[kind])}
            if unknown:
                raise AuclabError(f"{kind} bounds have no option {', '.join(sorted(unknown))}")
            values[kind] = _KINDS[kind](**(options or {}))
    return BoundsConfig(**values)
