"""Summaries that merge: limits contain the value, and no order of additions shows."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest

from auclab._core.accurate import bins_of
from auclab._core.base import AuclabError
from auclab.metrics import (
    METRICS,
    Interval,
    ScoreSummary,
    auc_score,
    bauc_score,
    buffered_auc,
    score_blocks,
    score_edges,
    scored_table,
    summarise,
)
from auclab.metrics.summary.class_bins import ExactSums
from auclab.samples.blocks import DaskEngine, open_parquet

KINDS = (
    "normal", "ties", "decimals", "offset", "cauchy", "powers", "constant", "separated", "rare", "two values", "atoms"
)  # fmt: skip
WEIGHTS = ("none", "none", "integer", "real", "wild")
BINS = ("quantiles", "few", "one", "far", "uniform")
METRICS_OF_A_CASE = (
    ("auc", {}),
    ("auc", {"ties": "strict"}),
    ("auc", {"ties": "upper"}),
    ("partial_auc", {"max_fpr": 0.3, "standardized": False}),
    ("partial_auc", {"min_fpr": 0.1, "max_fpr": 0.2, "standardized": "mcclish"}),
    ("two_way_partial_auc", {"min_tpr": 0.4, "max_fpr": 0.5}),
    ("voros", {}),
    ("voros", {"cost_range": (0.2, 0.4)}),
    ("ferri_auc", {}),
    ("scored_auc", {}),
    ("scored_auc", {"ties": "half"}),
    ("ranking_superquantile", {"level": 0.7}),
    ("ranking_superquantile", {"level": 1.0}),
)


def sample(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
    """Labels, scores, weights and edges of one of many kinds."""
    kind, weights, bins = (str(rng.choice(choices)) for choices in (KINDS, WEIGHTS, BINS))
    n_pos, n_neg = (int(rng.integers(1, 4)), 2000) if kind == "rare" else rng.integers(1, 300, 2)
    pos, neg = rng.normal(size=n_pos) + rng.choice([0.0, 0.5, 2.0]), rng.normal(size=n_neg)
    match kind:
        case "ties":
            pos, neg = np.round(3 * pos), np.round(3 * neg)
        case "decimals":  # ties of scores, hardly any of differences
            pos, neg = 0.1 * np.round(pos, 1), 0.1 * np.round(neg, 1)
        case "offset":
            pos, neg = pos + 1e9, neg + 1e9
        case "cauchy":
            pos, neg = rng.standard_cauchy(n_pos), rng.standard_cauchy(n_neg)
        case "powers":
            pos, neg = (rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-100, 100, n) for n in (n_pos, n_neg))
        case "constant":
            pos, neg = np.full(n_pos, 0.3), np.full(n_neg, 0.3)
        case "separated":
            pos = pos - pos.min() + 10.0
        case "two values":
            pos, neg = (pos > 0) * 1.0, (neg > 0.3) * 1.0
        case "atoms":
            pos[rng.random(n_pos) < 0.5] = neg[rng.random(n_neg) < 0.5] = 0.1
    y, s = np.repeat([1, 0], [n_pos, n_neg]), np.concatenate((pos, neg))
    w = {
        "none": None,
        "integer": rng.integers(0, 4, y.size).astype(float),
        "real": rng.uniform(0.01, 5.0, y.size),
        "wild": 10.0 ** rng.uniform(-8, 8, y.size),
    }[weights]
    if w is not None and not (w[y == 1].any() and w[y == 0].any()):
        w = None
    order = rng.permutation(y.size)
    edges = {
        "quantiles": score_edges(pos, neg, int(rng.integers(2, 200))),
        "few": np.unique(rng.choice(s, 3)),
        "one": np.empty(0),
        "far": np.array([1e200, 2e200]),
        "uniform": np.unique(np.linspace(s.min(), s.max(), 20)),
    }[bins]
    return y[order], s[order], None if w is None else w[order], edges


def cut(rng: np.random.Generator, *arrays: np.ndarray | None) -> list[tuple[np.ndarray, ...]]:
    """Blocks of any size, empty ones among them, in any order."""
    size = arrays[0].size
    rows = np.split(np.arange(size), np.sort(rng.integers(0, size + 1, rng.integers(0, 6))))
    parts = [tuple(array[part] for array in arrays if array is not None) for part in rows]
    return [parts[k] for k in rng.permutation(len(parts))]


def thresholds(rng: np.random.Generator, y: np.ndarray, s: np.ndarray, w: np.ndarray | None) -> float:
    """z between the mean and the largest error, at either of them, beyond, or 0."""
    weight = np.ones(s.size) if w is None else w
    pos, neg = (y == 1) & (weight > 0), (y == 0) & (weight > 0)
    mean = np.average(s[neg], weights=weight[neg]) - np.average(s[pos], weights=weight[pos])
    top = s[neg].max() - s[pos].min()
    return float(rng.choice([0.0, mean, top, 2 * top, mean + 0.5 * (top - mean), mean + 1e-3 * (top - mean)]))


@pytest.mark.slow
@pytest.mark.covering(seed=20)
@pytest.mark.parametrize("seed", range(200))
def test_limits_contain_the_value(seed):
    rng = np.random.default_rng(seed)
    y, s, w, edges = sample(rng)
    parts = cut(rng, y, s, w)
    z = thresholds(rng, y, s, w)
    summary = summarise(parts, edges=edges)
    two = [METRICS_OF_A_CASE[k] for k in rng.choice(len(METRICS_OF_A_CASE), 2, replace=False)]
    requests = [partial(METRICS[name].function, **options) for name, options in (("bauc", {"threshold": z}), *two)]
    values = [request(y, s, sample_weight=w) for request in requests]
    for request, value in zip(requests, values, strict=True):
        low, high = summary.bounds(request)
        assert low <= value <= high
    limits, whole = summary.buffered_auc(threshold=z), buffered_auc(y, s, threshold=z, sample_weight=w)
    for name in ("value", "gamma_left", "area_closed", "area_open"):
        interval, value = getattr(limits, name), getattr(whole, name)
        assert np.isnan(value) or interval.low <= value <= interval.high


@pytest.mark.parametrize("seed", range(40))
def test_no_order_of_additions_shows(seed):
    rng = np.random.default_rng(1000 + seed)
    y, s, w, edges = sample(rng)
    y, s, w = np.tile(y, 2), np.concatenate((s, -s)), None if w is None else np.tile(w, 2)
    first = ScoreSummary.from_scores(y, s, edges=edges, sample_weight=w)
    parts = [
        ScoreSummary.from_scores(*part[:2], edges=edges, sample_weight=part[2] if w is not None else None)
        for part in cut(rng, y, s, w)
    ]
    while len(parts) > 1:
        k = int(rng.integers(0, len(parts) - 1))
        parts[k : k + 2] = [parts[k] + parts[k + 1]]
    assert parts[0].to_bytes() == first.to_bytes()
    again = ScoreSummary.from_bytes(first.to_bytes())
    assert again == first
    assert again.auc() == first.auc()
    assert again + first == first + again


def test_sums_are_exact_and_have_one_form():
    rng = np.random.default_rng(0)
    values = rng.choice([-1, 1], 3000) * 2.0 ** rng.uniform(-1074, 1000, 3000)
    values[:40] = [5e-324, -5e-324, 1e308, -1e308] * 10
    bins = rng.integers(0, 7, values.size).astype(np.int32)
    sums = ExactSums.of(7, bins, values)
    whole, exponent = sums.integers()
    for k in range(7):
        assert whole[k] * Fraction(2) ** exponent == sum(map(Fraction, values[bins == k]))
    high, low, unit = sums.parts()
    for k in range(7):
        got = (Fraction(high[k]) + Fraction(low[k])) * Fraction(2) ** int(unit[k])
        assert abs(got - whole[k] * Fraction(2) ** exponent) <= abs(got) * Fraction(2) ** -100
    back = sums + ExactSums.of(7, bins, -values)
    assert not back.limbs.any()
    assert (back.first, back.limbs.shape) == (0, (7, 1))
    assert ExactSums.from_bytes(memoryview(sums.to_bytes()))[0].to_bytes() == sums.to_bytes()


def test_bins_are_those_of_numpy():
    rng = np.random.default_rng(0)
    for size in (0, 1, 2, 3, 100, 4097):
        for draw in (rng.standard_normal, rng.standard_cauchy, lambda n: 10.0 ** rng.uniform(-320, 308, n) - 1e307):
            edges = np.unique(draw(size))
            scores = np.concatenate((draw(500), edges, np.nextafter(edges, -np.inf), [-np.inf, np.inf, 5e-324]))
            np.testing.assert_array_equal(bins_of(scores, edges), np.searchsorted(edges, scores, side="right"))
    for edges in ([-1.7e308, 1.7e308], [0.0, 5e-324], [1.0, 1.0 + 2.0**-52]):
        scores = np.array([-1.7e308, -1.0, 0.0, 5e-324, 1.0, 1.0 + 2.0**-52, 2.0, 1.7e308])
        np.testing.assert_array_equal(bins_of(scores, np.array(edges)), np.searchsorted(edges, scores, side="right"))


def test_limits_shrink_with_the_bins_by_first_and_by_second_order():
    rng = np.random.default_rng(0)
    y = (rng.random(60_000) < 0.4).astype(int)
    s = rng.normal(size=y.size) + y
    widths = np.array(
        [
            (summary.auc().width, summary.bauc().width, summary.bounds("scored_auc").width)
            for summary in (summarise([(y, s)], n_bins=n) for n in (64, 256, 1024))
        ]
    )
    assert widths[-1, 0] < 3 / 1024
    ratios = widths[:-1] / widths[1:]
    assert (np.abs(ratios[:, 0] / 4 - 1) < 0.3).all()
    assert (ratios[:, 1:] > 8).all()


def test_ties_are_exact():
    """Whole numbers: every value that repeats has a bin of its own."""
    rng = np.random.default_rng(0)
    y = (rng.random(5000) < 0.3).astype(int)
    s = np.round(4 * (rng.normal(size=y.size) + y))
    summary = summarise([(y[:2000], s[:2000]), (y[2000:], s[2000:])], n_bins=256)
    assert summary.auc() == Interval(auc_score(y, s), auc_score(y, s))
    for ties in ("strict", "upper"):
        value = auc_score(y, s, ties=ties)
        assert summary.auc(ties=ties) == (value, value)


def test_squares_are_about_the_edge():
    rng = np.random.default_rng(0)
    y, s, w = rng.integers(0, 2, 300), rng.normal(size=300), rng.uniform(size=300)
    summary = ScoreSummary.from_scores(y, s, edges=[-0.5, 0.5], sample_weight=w)
    bins = np.searchsorted([-0.5, 0.5], s, side="right")
    for k, reference in enumerate((-0.5, -0.5, 0.5)):
        inside = (bins == k) & (y == 1)
        assert summary.pos.squares.values()[k] == pytest.approx(np.sum(w[inside] * (s[inside] - reference) ** 2))
        assert summary.pos.total.values()[k] == pytest.approx(np.sum(w[inside] * s[inside]))
        assert summary.pos.mass.values()[k] == pytest.approx(np.sum(w[inside]))


def test_infinite_scores_are_ranks_and_no_differences():
    y, s = np.array([1, 1, 0, 0, 0]), np.array([np.inf, 0.0, 0.0, -np.inf, np.inf])
    for edges in ([], [0.0], [-1.0, 1.0]):
        summary = ScoreSummary.from_scores(y, s, edges=edges)
        low, high = summary.auc()
        assert low <= auc_score(y, s) <= high
        with pytest.raises(AuclabError, match="contain ±∞"):
            summary.bauc()


def test_what_cannot_be_summarised_is_said():
    make = partial(ScoreSummary.from_scores, edges=[0.0])
    only_pos = make([1, 1], [0.5, 2.0])
    with pytest.raises(AuclabError, match=r"no block had a score of the negative class"):
        only_pos.auc()
    assert (only_pos + make([0], [1.0])).auc() == (0.0, 1.0)
    with pytest.raises(AuclabError, match="different edges"):
        _ = only_pos + ScoreSummary.from_scores([1], [0.5], edges=[1.0])
    with pytest.raises(AuclabError, match=r"y_score\[1\] is nan"):
        make([1, 0], [0.5, np.nan])
    with pytest.raises(AuclabError, match=r"edges must ascend, got 1\.0 before 0\.0"):
        ScoreSummary.from_scores([1], [0.5], edges=[1.0, 0.0])
    with pytest.raises(AuclabError, match="labels of a block must be 0/1"):
        make([1, 2], [0.5, 1.0])
    with pytest.raises(AuclabError, match=r"labels\[1\] is missing"):
        make([1, np.nan], [0.5, 1.0])
    with pytest.raises(AuclabError, match="lengths differ"):
        make([1, 0], [0.5])
    with pytest.raises(AuclabError, match=r"sample_weight\[0\] is -1"):
        make([1, 0], [0.5, 1.0], sample_weight=[-1.0, 1.0])
    with pytest.raises(AuclabError, match="got the labels 'a', 'b', 'c' in one block"):
        make(["a", "b", "c"], [0.5, 1.0, 2.0], pos_label="a")
    both = only_pos + make([0], [1.0])
    with pytest.raises(AuclabError, match="does not bound soft_auc"):
        both.bounds("soft_auc", beta=1.0)
    for data in (b"", b"something else", both.to_bytes()[:-3], both.to_bytes() + b"x"):
        with pytest.raises(AuclabError, match=r"not a ScoreSummary|damaged or cut off"):
            ScoreSummary.from_bytes(data)
    with pytest.raises(AuclabError, match="blocks must be tuples"):
        score_blocks([])
    with pytest.raises(AuclabError, match="there are no blocks"):
        summarise(lambda: iter(()))
    with pytest.raises(AuclabError, match="n_bins must be at least 2"):
        summarise([([1, 0], [0.5, 1.0])], n_bins=1)


def test_labels_of_any_kind():
    s = np.array([0.5, 1.5, 2.5])
    for labels, pos_label in (([-1, 1, -1], None), ([False, True, False], None), (["n", "p", "n"], "p")):
        summary = ScoreSummary.from_scores(labels, s, edges=[1.0, 2.0], pos_label=pos_label)
        assert summary.pos.count.tolist() == [0, 1, 0]


def test_a_table_in_blocks(tmp_path):
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.3).astype("int8")
    X = rng.normal(size=(4000, 3)) + y[:, None]
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(tmp_path / "a.parquet", row_group_size=700, index=False)
    table, labels = open_parquet(tmp_path, target="y")
    coef, weight = np.array([1.0, 0.5, -0.2]), rng.uniform(size=4000)
    blocks = scored_table(table, labels, coef, sample_weight=weight)
    summary = summarise(blocks, n_bins=128)
    value = bauc_score(y, X @ coef, sample_weight=weight)
    low, high = summary.bauc()
    assert low <= value <= high
    assert low == pytest.approx(high, abs=1e-3)
    with pytest.raises(AuclabError, match="a label per row and a coefficient per column"):
        scored_table(table, labels, coef[:2])


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs distributed")
def test_dask_arrays_and_tables_on_dask_workers(tmp_path):
    """The same bits as by hand, for arrays, series and a table, with one and with two workers."""
    import dask.array as da
    from distributed import Client, LocalCluster

    rng = np.random.default_rng(0)
    y = (rng.random(5000) < 0.3).astype("int8")
    s = np.round(rng.normal(size=5000) + y, 3)
    pd.DataFrame({"s": s, "y": y}).to_parquet(tmp_path / "a.parquet", row_group_size=600, index=False)
    by_hand = summarise([(y, s)], n_bins=64, edges=score_edges(s[y == 1], s[y == 0], 64))
    found = set()
    for workers in (1, 2):
        with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
            arrays = da.from_array(y, chunks=900), da.from_array(s, chunks=900)
            blocks = score_blocks(*arrays)
            assert summarise(blocks, edges=by_hand.edges) == by_hand
            found.add(summarise(blocks, n_bins=64).to_bytes())
            engine = DaskEngine(address=cluster.scheduler_address)
            table, labels = open_parquet(tmp_path, target="y", engine=engine)
            assert summarise(scored_table(table, labels, [1.0]), edges=by_hand.edges) == by_hand
            engine.close()
    assert len(found) == 1
    with pytest.raises(AuclabError, match="must all be Dask collections"):
        score_blocks(arrays[0], s)
    with pytest.raises(AuclabError, match="partitions; rechunk"):
        score_blocks(arrays[0], arrays[1].rechunk(500))


def test_products_of_weight_and_score_that_no_double_holds():
    """Their sum overflowed, and [0, 0] came out where 1 is right."""
    y, s, w = [1, 0, 1, 0], [2.8e300, -3.1e300, 2e300, 1e299], [1.0, 1.0, 1e8, 1e8]
    summary = ScoreSummary.from_scores(y, s, edges=[], sample_weight=w)
    with pytest.raises(AuclabError, match="weight × score of the positive class leaves the range of doubles"):
        summary.bauc()
    assert summary.auc() == pytest.approx((1.0, 1.0), abs=1e-12)
    again = ScoreSummary.from_bytes(summary.to_bytes())
    with pytest.raises(AuclabError, match="leaves the range"):
        (again + again).bauc()
    low, high = ScoreSummary.from_scores(y, s, edges=[], sample_weight=np.ldexp(w, -40)).bauc()
    assert low <= 1.0 <= high
    with pytest.raises(AuclabError, match="leaves the range"):  # the digits of 1e-170 · 1e-170 are lost
        ScoreSummary.from_scores([1, 0], [1e-170, 0.0], edges=[], sample_weight=[1e-170, 1.0]).bauc()


def test_subnormal_scores_have_means():
    """A mean between two of the smallest doubles was one of them: high was 6e-14, and .25 is right."""
    y, s = [1, 1, 0, 0, 0], 5e-324 * np.array([2, -1, 1, 0, -1.5])
    low, high = ScoreSummary.from_scores(y, s, edges=[]).bauc()
    assert 0.2 < low <= bauc_score(y, s) == 0.25 <= high
    plain = ScoreSummary.from_scores(y, s / 5e-324, edges=[]).bauc()
    assert low == pytest.approx(plain.low, rel=1e-12)
    assert high <= plain.high  # a mean between two doubles is spread over both, which says more here
