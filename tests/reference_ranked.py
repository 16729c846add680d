"""Small samples of ranked pairs, and the pairs one by one."""

import numpy as np

KINDS = ("groups", "grades", "groups of grades", "times", "strata of times")


def data(kind, seed, size=36):
    """Rows that half of the pairs rank right, what is passed to `solve` of them, and the pairs."""
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    X = np.round(generator.normal(size=(size, 3)), 2) * (generator.random((size, 3)) < 0.8)
    risk = X @ generator.normal(size=3) + generator.normal(size=size)
    given = {"sample_weight": generator.integers(0, 3, size).astype(float)} if seed % 2 else {}
    weight = given.get("sample_weight", np.ones(size))
    groups, winners = np.zeros(size, dtype=int), np.ones(size)
    if kind in ("groups", "groups of grades", "strata of times"):
        groups = generator.integers(0, 6, size)
        given |= {"groups": groups, "group_weights": ("pairs", "groups")[seed % 3 == 0]}
    if kind in ("times", "strata of times"):
        y = np.round(np.exp(-risk), 1)  # with ties
        given["event"] = winners = generator.integers(0, 2, size)
        levels = -y
    else:
        y = levels = (risk > 0.3).astype(int) if kind == "groups" else np.digitize(risk, [-1.0, 0.0, 0.5, 1.5])
        given |= {"ordered": True} if kind == "grades" else {}
    pairs = [
        (i, j, weight[i] * weight[j])
        for i in range(size)
        for j in range(size)
        if winners[i] and levels[i] > levels[j] and groups[i] == groups[j] and weight[i] * weight[j] > 0
    ]
    upper, lower, q = (np.array(part) for part in zip(*pairs, strict=True))
    if given.get("group_weights") == "groups":
        q = q / np.bincount(groups[upper], q)[groups[upper]]
    return X, y, given, (upper, lower, q / q.sum())
