"""What a command need not say: its formulation, and that it has constraints.

Where no formulation is named, it is RankSVM with λ‖w‖², λ chosen on inner folds.

Of the formulations with certificates it has the best average rank by test AUC on 29 data sets, and maximal bAUC without
a penalty, which has nothing to tune, has the worst (docs/which_formulation.md). With ``solver=highs`` alone it is the
latter, a linear program.
"""

from __future__ import annotations

from collections.abc import Sequence

_FORMULATION = ("formulation=ranksvm", "formulation.squared=true")
_TUNING = "tune=penalty"
_CONSTRAINTS = "constraints=rules"
#: The items to which a scorecard gives points, and how long its search lasts.
_SCORECARD, _ITEMS, _SECONDS = "formulation=scorecard", "preprocess=items", "solver.time_limit=60"
#: With it the formulation stays that of the configuration, which is linear.
_LINEAR_ONLY = "solver=highs"


def with_formulation(overrides: Sequence[str]) -> list[str]:
    """The overrides, with the formulation and its tuning before them where they name none.

    An integer scorecard has items for columns and ends after a minute; a command that sets a constraint has
    ``constraints=rules``, unless it says which choice it is.

    `overrides`: of a command line, with its options.
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
    """Beside the other settings: Hydra's parser takes them in one row, before or after its options."""
    first = next((at for at, word in enumerate(overrides) if _is_setting(word)), len(overrides))
    return [*overrides[:first], *added, *overrides[first:]]


def _is_setting(word: str) -> bool:
    return not word.startswith("-") and ("=" in word or word.startswith("~"))
