"""Which of four ways to travel is chosen: pairs within travellers, compared with the conditional logit, ten splits.

statsmodels' data set modechoice: 210 travellers, of air, train, bus and car. Columns are the costs and times of each
way, constants of air, train and bus, and income for air. Half of the travellers train; λ and z are one of four, chosen
on half of these. The conditional logit has no penalty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from auclab._core.base import Array, AuclabError
from experiments.ranking.compared import OWN, Compared, Fit, Index, Scorer, measured
from experiments.study import VALUE, Row, main

SEEDS = {"smoke": 1, "default": 10, "full": 50}
NAME = "modechoice"


def travellers() -> Compared:
    """A row for each way of each traveller.

    Raises
    ------
    AuclabError
        statsmodels is not installed.
    """
    try:
        from statsmodels.datasets import modechoice
    except ImportError as error:
        raise AuclabError("the data set is that of statsmodels: pip install 'auclab[survival]'") from error
    table = modechoice.load_pandas().data
    ways = [(table["mode"] == way).to_numpy(float) for way in (1, 2, 3)]
    columns = [*(table[name].to_numpy(float) for name in ("gc", "ttme", "invc", "invt")), *ways]
    X = np.column_stack([*columns, ways[0] * table["hinc"].to_numpy(float)])
    return Compared(X, table["choice"].to_numpy(float), "groups", groups=table["individual"].to_numpy(int))


def conditional_logit(rows: Compared, part: float) -> Scorer:
    """The maximum likelihood of a choice within each group."""
    from statsmodels.discrete.conditional_models import ConditionalLogit

    found = ConditionalLogit(rows.y, rows.X, groups=rows.groups).fit(disp=0)
    return lambda X: np.asarray(X @ found.params)


SCORERS: dict[str, tuple[Fit, Sequence[float]]] = {**OWN, "conditional_logit": (conditional_logit, (0.0,))}


def first_share(rows: Compared, scores: Array) -> float:
    """The share of groups in which the chosen row has the largest score.

    Examples
    --------
    >>> rows = Compared(np.zeros((4, 1)), np.array([1, 0, 0, 1.0]), "groups", groups=np.array([1, 1, 2, 2]))
    >>> first_share(rows, np.array([2.0, 1.0, 2.0, 1.0]))
    0.5
    """
    assert rows.groups is not None
    labels = np.unique(rows.groups)
    inside = [np.flatnonzero(rows.groups == label) for label in labels]
    return float(np.mean([rows.y[each[np.argmax(scores[each])]] for each in inside]))


def of_groups(groups: Array, numbers: Index) -> Index:
    """The rows of the groups with these numbers among the groups."""
    return np.flatnonzero(np.isin(groups, np.unique(groups)[numbers]))


def run_seed(seed: int, scale: str) -> Iterator[Row]:
    """AUC and bAUC within new travellers, the share whose way comes first, and processor seconds."""
    rows = travellers()
    assert rows.groups is not None
    shuffled = np.random.default_rng(seed).permutation(np.unique(rows.groups).size)
    train, test = np.array_split(shuffled, 2)
    in_train = of_groups(rows.groups, train)
    scaled = rows.standardised(in_train)
    train_groups = rows.groups[in_train]
    first, second = np.array_split(np.random.default_rng(seed).permutation(train.size), 2)
    halves = of_groups(train_groups, first), of_groups(train_groups, second)
    tested = scaled.part(of_groups(rows.groups, test))
    for scorer, numbers, scores in measured(scaled.part(in_train), halves, tested, SCORERS):
        for key, value in (numbers | {"first": first_share(tested, scores)}).items():
            yield Row(f"{VALUE}{NAME}.{key}", round(value, 6), seed, scorer)
            yield Row(f"choice.{key}", value, seed, scorer)


if __name__ == "__main__":
    main(run_seed, SEEDS)
