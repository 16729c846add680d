"""An adaptive search over every scorer: Optuna proposes a job, which runs in this process and has a value."""

import pytest
from auclab.sweeps.adaptive import Outcome, Search, check_search
from auclab.sweeps.search_results import _valued
from auclab.sweeps.search_space import space_of

from auclab.pipeline.config.checks import check_data, check_settings
from auclab.pipeline.experiment import solve_splits
from composed import composed
from matrix.table import SCORERS, SEARCH, SEARCHED
from matrix.test_matrix import need, settings_of

SWEEPER = {"n_trials": 1, "batch": None, "sampler": "random", "seed": 0, "metric": "inner/auc", "prune": False}


@pytest.mark.slow
@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.name)
def test_a_search(scorer, place):
    need(scorer.needs, SEARCH.needs)
    from hydra.core.override_parser.overrides_parser import OverridesParser

    searched = SEARCHED.get(scorer.name, *SEARCH.words)
    grid = settings_of(place, "tracking=none", *scorer.words, "inner.folds=2", searched)
    assert check_search(grid, SWEEPER, metrics=["auc", "bauc"], tracked=False) == 1
    space, fixed = space_of(OverridesParser.create().parse_overrides(grid))
    search = Search.start(space, sampler="random", seed=0)
    [job] = search.ask(1)
    assert [word.partition("=")[0] for word in job] == [searched.partition("=")[0]]
    experiment = composed([*fixed, *job])
    check_settings(experiment)
    check_data(experiment)
    found = _valued(solve_splits(experiment).folds[0].inner.numbers, "inner/auc")
    search.tell([Outcome("FINISHED", **found)])
    assert search.best == 0
    assert 0.5 < search.values[0] <= 1.0
