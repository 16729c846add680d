"""Tags of runs that identify an adaptive search; importing this module does not import MLflow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Tag of a parent with what its search maximised or minimised.
METRIC_TAG = "search.metric"
#: Tag of a run with its metrics on every inner fold, in JSON; of one that was left early, on those it did.
FOLDS_TAG = "inner.values"
#: The tag ``status`` of a pruned run.
PRUNED = "pruned"
#: Digits kept of a run's id, and number of ids in a tag, whose length MLflow limits.
_DIGITS, _IDS = 12, 500


@dataclass(frozen=True)
class KeptSearch:
    """The tags of the parent of an adaptive search.

    `metric`, `direction`, `sampler`: what made a job better, ``maximize`` or ``minimize``, and what proposed settings.
    `space`: the settings that were searched. `runs`: first letters of the id of each job's run, in the order of the
    jobs; "" of a job without a run. `importances`: share of each setting in the variance of the values; empty where it
    was not estimated.
    """

    metric: str
    direction: str
    sampler: str
    space: tuple[str, ...]
    runs: tuple[str, ...]
    importances: dict[str, float] = field(default_factory=dict)

    @property
    def tags(self) -> dict[str, str]:
        """As tags of the parent."""
        tags = {METRIC_TAG: self.metric, "search.direction": self.direction, "search.sampler": self.sampler}
        tags |= {"search.space": "\n".join(self.space), "search.importances": json.dumps(self.importances)}
        ids = [each[:_DIGITS] or "-" for each in self.runs]
        parts = range(0, max(len(ids), 1), _IDS)
        return tags | {f"search.runs.{k}": " ".join(ids[at : at + _IDS]) for k, at in enumerate(parts)}

    @classmethod
    def from_tags(cls, tags: Mapping[str, str]) -> KeptSearch | None:
        """That of the tags of a run; None if it is not a parent of a search.

        Examples
        --------
        >>> kept = KeptSearch("inner/auc", "maximize", "tpe", ("kernel",), ("0123456789ab", ""))
        >>> KeptSearch.from_tags(kept.tags) == kept, KeptSearch.from_tags({})
        (True, None)
        """
        if METRIC_TAG not in tags:
            return None
        ids: list[str] = []
        while (part := tags.get(f"search.runs.{len(ids) // _IDS}")) and len(ids) % _IDS == 0:
            ids += ["" if each == "-" else each for each in part.split()]
        try:
            found = json.loads(tags.get("search.importances", "{}"))
            importances = {str(key): float(value) for key, value in found.items()}
        except (ValueError, TypeError, AttributeError):
            importances = {}
        texts = (tags[METRIC_TAG], tags.get("search.direction", "maximize"), tags.get("search.sampler", ""))
        return cls(*texts, tuple(tags.get("search.space", "").split("\n")), tuple(ids), importances)


def read_values(tags: Mapping[str, Any], metric: str) -> tuple[float, ...]:
    """A metric on each inner fold, from the tags of a run; empty where they do not say."""
    from auclab.datasets.target import name_among  # NumPy, which the help of a run does not need

    try:
        values = json.loads(tags.get(FOLDS_TAG, "{}"))
        return tuple(float(each) for each in values[name_among(metric.partition("/")[2], values)])
    except (ValueError, TypeError, KeyError):
        return ()
