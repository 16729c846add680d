"""Defaults that depend on the command: the formulation, its norm, and ``constraints=rules``.

Where no formulation is named, it is RankSVM with λ‖w‖², λ chosen on inner folds. Of the formulations with certificates
it has the best average rank by test AUC on 29 data sets; bAUC without a penalty has the worst
(docs/which_formulation.md). With ``solver=highs``, which takes linear programs, the default is bAUC, and a norm that is
not chosen is l1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from omegaconf import DictConfig, OmegaConf

#: The solver of linear programs.
LINEAR = "highs"

_FORMULATION = ("formulation=ranksvm", "formulation.squared=true")
_TUNING = "tune=penalty"
_CONSTRAINTS = "constraints=rules"
#: The encoding of a scorecard's items, and its time limit.
_SCORECARD, _ITEMS, _SECONDS = "formulation=scorecard", "preprocess=items", "solver.time_limit=60"
_CHOOSES_LINEAR = re.compile(rf"solver=.*\b{LINEAR}\b.*")


def with_formulation(settings: Sequence[str]) -> list[str]:
    """The settings of a command, after the default formulation and its tuning where they name none.

    The columns of an integer scorecard are encoded as items, and its time limit is a minute. A command that sets a
    constraint has ``constraints=rules``, unless it makes another choice.
    """
    keys = {word.partition("=")[0].lstrip("+~").partition("@")[0] for word in settings}
    constrained = any(key.startswith("constraints.") for key in keys) and "constraints" not in keys
    added = [_CONSTRAINTS] if constrained else []
    if _SCORECARD in settings:
        added += [word for word in (_ITEMS, _SECONDS) if word.partition("=")[0] not in keys]
    if keys & {"formulation", "experiment"} or any(map(_CHOOSES_LINEAR.fullmatch, settings)):
        return [*added, *settings]
    added += [word for word in _FORMULATION if word.partition("=")[0] not in keys]
    # Rows in blocks are not split into inner folds.
    fixed = {"tune", "formulation.penalty"} & keys or {"dataset=blocks", "dataset=artificial_blocks"} & set(settings)
    return [*added, *([] if fixed else [_TUNING]), *settings]


def norm_for(solver: str) -> str:
    """The norm of a formulation whose norm is not chosen.

    Examples
    --------
    >>> norm_for("highs"), norm_for("auto")
    ('l1', 'l2')
    """
    return "l1" if solver == LINEAR else "l2"


def linear_notes(config: DictConfig, hydra: DictConfig) -> Iterator[str]:
    """What the solver of linear programs made of settings that were not chosen.

    `config`: composed. `hydra`: Hydra's own configuration of the run.
    """
    if config.solver.name != LINEAR:
        return
    named = any(word.startswith(("formulation=", "experiment=")) for word in hydra.overrides.task)
    if not named and hydra.job.config_name == "config":
        yield (
            f"solver={LINEAR} takes linear programs, and without a formulation it fits bauc, where other solvers fit "
            "ranksvm with λ‖w‖² and λ chosen on inner folds"
        )
    if "norm" in config.formulation and OmegaConf.is_interpolation(config.formulation, "norm"):
        yield f"solver={LINEAR} takes linear programs: a norm that is not chosen is l1, where other solvers take l2"
