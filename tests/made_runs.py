"""Runs as `read_runs` gives them, made up, so that every answer is known."""

import itertools

import pandas as pd


def fake(*, auc, dataset="one", formulation="bauc", seed=0, fold="holdout", started=0, **more):
    """A row as `read_runs` makes it."""
    number = next(_numbers)
    split = {"split": "holdout", "split.test_size": 0.3, "split.seed": seed}
    facts = {"run_id": f"{number:032d}", "run": f"{formulation} on {dataset}, {number}", "run_status": "FINISHED"}
    facts |= {"started": pd.Timestamp(started, unit="s", tz="UTC"), "fold": fold, "data_sha256": dataset}
    times = {"gap": 1e-9, "seconds/total": 3.0, "seconds/compile": 2.0}
    return facts | {"dataset": dataset, "formulation": formulation, "test/auc": auc} | split | times | more


_numbers = itertools.count()


def table_of(scores, **more):
    """``{(dataset, formulation): [value of seed 0, of seed 1, …]}`` as runs; None for a seed that was not run."""
    return pd.DataFrame(
        [
            fake(auc=value, dataset=dataset, formulation=formulation, seed=seed, **more)
            for (dataset, formulation), values in scores.items()
            for seed, value in enumerate(values)
            if value is not None
        ]
    )
