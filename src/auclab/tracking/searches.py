"""Stores an adaptive search with the parent run of its sweep: metric, sampler, space, and jobs in order.

MLflow's page draws ``search/value`` and ``search/best`` of the parent over the number of the job.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from auclab.tracking.address import cannot_keep
from auclab.tracking.config import TrackingConfig
from auclab.tracking.search_tags import KeptSearch
from auclab.tracking.store import STORE_ERRORS, open_tracked
from auclab.types import AuclabError

_VALUE, _BEST = "search/value", "search/best"


def keep_search(tracking: TrackingConfig, parent: str, search: KeptSearch, values: Sequence[float | None]) -> None:
    """Store a search with its parent run, and new values of its jobs."""
    from mlflow.entities import Metric, RunTag

    store = open_tracked(tracking)
    sign, best, now, metrics = 1 if search.direction == "maximize" else -1, None, int(time.time() * 1000), []
    try:
        there = {each.step for each in store.client.get_metric_history(parent, _VALUE)}
        for number, value in enumerate(values):
            if value is None:
                continue
            best = value if best is None or sign * value > sign * best else best
            if number not in there:
                metrics += [Metric(_VALUE, value, now, number), Metric(_BEST, best, now, number)]
        tags = [RunTag(key, value) for key, value in search.tags.items()]
        for at in range(0, max(len(metrics), 1), 500):  # more at a time MLflow refuses
            store.client.log_batch(parent, metrics=metrics[at : at + 500], tags=tags if at == 0 else [])
    except STORE_ERRORS as error:
        raise AuclabError(cannot_keep(store.address, error)) from error
