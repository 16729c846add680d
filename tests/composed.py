"""Experiments composed as `run.py` composes them, run in this process."""

from math import inf
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
SHARED_DATA = REPOSITORY.parent / "shared" / "data"


def run_here(folder, *overrides, brief=False, command=""):
    """The result of ``python run.py`` with `overrides`; files go below `folder`, without a database unless asked."""
    from dataclasses import replace
    from unittest.mock import patch

    from auclab.cli.typed_words import quoted_where_needed
    from auclab.pipeline.config.compose import compose_experiment
    from auclab.pipeline.experiment import run_experiment

    if not any(word.startswith(("formulation=", "experiment=")) for word in overrides):
        overrides = ("formulation=bauc", *overrides)  # which has nothing to tune, unlike the default
    # The folder may have spaces and umlauts, as in a command.
    experiment = replace(compose_experiment(quoted_where_needed(["tracking=none", *overrides])), command=command)
    with patch("auclab.pipeline.split.decision.LONGEST", inf):  # whether scores are calibrated is no matter of the load
        return run_experiment(experiment, folder=folder, brief=brief)
