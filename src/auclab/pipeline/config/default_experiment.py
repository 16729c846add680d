"""Defaults that depend on the command: the formulation, and ``constraints=rules``.

Where no formulation is named, it is RankSVM with λ‖w‖², λ chosen on inner folds.

Of the formulations with certificates it has the best average rank by test AUC on 29 data sets; bAUC without
a penalty has the worst (docs/which_formulation.md). With ``solver=highs`` the default is bAUC, a linear program.
"""

from __future__ import annotations

from collections.abc import Sequence

_FORMULATION = ("formulation=ranksvm", "formulation.squared=true")
_TUNING = "tune=penalty"
_CONSTRAINTS = "constraints=rules"
#: The encoding of a scorecard's items, and its time limit.
_SCORECARD, _ITEMS, _SECONDS = "formulation=scorecard", "preprocess=items", "solver.time_limit=60"
#: With this solver the default is the formulation of the configuration, a linear program.
_LINEAR_ONLY = "solver=highs"


def with_formulation(overrides: Sequence[str]) -> list[str]:
    """The overrides, preceded by the default formulation and its tuning where they name none.

    The columns of an integer scorecard are encoded as items, and its time limit is a minute. A command that sets a
    constraint has ``constraints=rules``, unless it makes another choice.

    `overrides`: the arguments of a command line, options included.
    """
    settings = [word for word in overrides if _is_setting(word)]
    keys = {word.partition("=")[0].lstrip("+~").partition("@")[0] for word in settings}
    shows_pages = any(word.startswith("--") for word in overrides if "config" in word)
    constrained = any(key.startswith("constraints.") for key in keys) and "constraints" not in keys
    rules = [_CONSTRAINTS] if constrained and not shows_pages else []
    if _SCORECARD in settings:
        rules += [word for word in (_ITEMS, _SECONDS) if word.partition("=")[0] not in keys]
    if keys & {"formulation", "experiment"} or _LINEAR_ONLY in settings or shows_pages:
        return _before_settings(overrides, rules)
    added = rules + [word for word in _FORMULATION if word.partition("=")[0] not in keys]
    # Rows in blocks are not split into inner folds.
    fixed = {"tune", "formulation.penalty"} & keys or {"dataset=blocks", "dataset=artificial_blocks"} & set(settings)
    added += [] if fixed else [_TUNING]
    return _before_settings(overrides, added)


def _before_settings(overrides: Sequence[str], added: Sequence[str]) -> list[str]:
    """Place overrides next to the others: Hydra's parser needs them together, before or after its options."""
    first = next((at for at, word in enumerate(overrides) if _is_setting(word)), len(overrides))
    return [*overrides[:first], *added, *overrides[first:]]


def _is_setting(word: str) -> bool:
    return not word.startswith("-") and ("=" in word or word.startswith("~"))
