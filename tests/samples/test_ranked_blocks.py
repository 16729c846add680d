"""Rows in blocks that are compared within groups: the numbers of the same rows in memory, and of pairs written out."""

import numpy as np
import pandas as pd
import pytest

import auclab
from auclab import AuclabError, BufferedAUC, GeneralizedBufferedAUC, RankSVM
from auclab.datasets.blocks import load_blocks
from auclab.datasets.preprocess import none
from auclab.estimators import AUCRanker
from auclab.formulations.problem import Problem, Ranking
from auclab.samples.blocks import open_parquet
from auclab.solvers.smoothed import smooth_loss

N_ROWS = 600
#: In the order of the groups, of which some are in two or three blocks, and in no order.
ORDERS = ("sorted", "scattered")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Groups of 1 to 60 rows with grades, times and weights, in row groups of 70 rows and two files."""
    rng, place = np.random.default_rng(4), tmp_path_factory.mktemp("ranked")
    group = np.sort(np.r_[np.repeat([1, 2, 3], 60), rng.integers(4, 60, N_ROWS - 180)])
    X = rng.normal(size=(N_ROWS, 3)) * [1.0, 0.1, 30.0] + [0.0, 0.0, 1e6]
    signal = X @ [1.0, 4.0, 0.02] + rng.normal(size=60)[group] * 3.0 + rng.normal(size=N_ROWS) - 2e4
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        **{"kind": rng.choice(["x", "y"], N_ROWS), "group": [f"q{k}" for k in group]},
        grade=np.digitize(signal, [-2.0, 0.0, 2.0]), days=np.exp(-signal / 4.0).round(2) + 0.01,
        died=rng.random(N_ROWS) < 0.6, weight=rng.integers(0, 4, N_ROWS),
    )  # fmt: skip
    for order in ORDERS:
        rows = frame if order == "sorted" else frame.sample(frac=1.0, random_state=0)
        (place / order).mkdir()
        for name, part in (("a", rows[:250]), ("b", rows[250:])):
            part.to_parquet(place / order / f"{name}.parquet", row_group_size=70, index=False)
    return place


def table_of(folder, order):
    """The table in blocks, its rows in memory, and its other columns."""
    frame = pd.concat([pd.read_parquet(path) for path in sorted((folder / order).glob("*.parquet"))])
    others = ["group", "days", "died", "weight", "kind"]
    table, grades = open_parquet(folder / order, target="grade", drop=others)
    assert list(grades) == list(frame["grade"])
    return table, frame[["a", "b", "c"]].to_numpy(), frame.reset_index(drop=True)


def both(program, folder, order, times=False, **options):
    """The problem in blocks, and in memory."""
    table, X, frame = table_of(folder, order)
    given = {"groups": frame["group"]} | ({"event": frame["died"]} if times else {})
    ranking = Ranking(**given, **options)
    y, weight = frame["days" if times else "grade"], frame["weight"].to_numpy(float)
    return [Problem(*ranking.problem_parts(program, rows, y, weight)) for rows in (table, X)]


@pytest.mark.slow
@pytest.mark.parametrize("read_together", [1, 10_000_000])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("program", [RankSVM(0.1), GeneralizedBufferedAUC(-0.2), RankSVM(0.1, loss="squared_hinge")])
def test_sums_over_blocks_are_those_of_all_pairs(folder, order, program, read_together, monkeypatch):
    blocks, memory = both(program, folder, order, group_weights="groups")
    monkeypatch.setattr("auclab.samples.blocks.ranked_blocks.READ_TOGETHER", read_together)
    ours, theirs = blocks.sample, memory.sample
    assert ours.in_blocks
    assert len(ours.table.blocks) == 9
    more = {("sorted", 1): 3, ("scattered", 1): 20}.get((order, read_together), 1)
    assert len(ours.parts) >= 9 + more
    for name in ("share_pos", "share_neg", "peaks", "offset"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    np.testing.assert_allclose(ours.spread, theirs.spread, rtol=1e-9)
    rng = np.random.default_rng(0)
    theta = np.r_[rng.normal(size=3) / theirs.spread, 0.0, 0.0]
    theta[-1] = program.regulariser.norm(theta[:-2])
    upper, lower, weight = theirs.pairs()
    moved = theirs.X_pos[upper] - theirs.X_pos[lower]
    margins = moved @ theta[:-2] + program.threshold * theta[-1]
    for width in (0.5, 3.0):
        loss, plain = smooth_loss(blocks, ours), smooth_loss(memory, theirs)
        here, there = loss.evaluate(theta, width), plain.evaluate(theta, width)
        assert here.value == pytest.approx(there.value, rel=1e-12)
        np.testing.assert_allclose(
            loss.direction_sum(here.multipliers), plain.direction_sum(there.multipliers), rtol=1e-9, atol=1e-9
        )
        pieces = program.loss.smoothed(width)
        piece = np.searchsorted(pieces.breakpoints, 1.0 - margins, side="right") - 1
        curvature = np.where(piece >= 0, pieces.curvatures[piece], 0.0)
        D = np.c_[moved, np.zeros(len(moved)), np.full(len(moved), program.threshold)]
        pairs = (D * (weight * curvature)[:, None]).T @ D
        for found in (loss.hessian(here), plain.hessian(there)):
            np.testing.assert_allclose(found, pairs, rtol=1e-9, atol=1e-10 * abs(pairs).max())


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("solver", ["newton", "cutting_plane"])
@pytest.mark.parametrize("times", [False, True])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "program",
    [RankSVM(1e-2), RankSVM(1e-2, loss="squared_hinge", squared=True), RankSVM(1e-2, norm="l1"), BufferedAUC()],
    ids=str,
)
def test_a_solve_is_certified_as_in_memory(folder, program, order, times, solver):
    table, X, frame = table_of(folder, order)
    y = frame["days" if times else "grade"]
    given = {"groups": frame["group"], "sample_weight": frame["weight"]} | ({"event": frame["died"]} if times else {})
    blocks, memory = (auclab.solve(program, rows, y, solver=solver, **given) for rows in (table, X))
    assert str(blocks.status).startswith("optimal")
    assert blocks.gap <= 1e-6
    assert blocks.objective == pytest.approx(memory.objective, rel=2e-6)
    assert blocks.lower_bound <= memory.objective * (1.0 + 1e-9)
    certificate = auclab.certify(program, table, y, blocks.coef, **given)
    assert certificate.objective == pytest.approx(blocks.objective, rel=1e-9)


@pytest.mark.slow
def test_columns_of_categories_and_an_estimator(folder):
    dataset = load_blocks(folder / "sorted", "grade", group="group", graded=True, drop=["days", "died", "weight"])
    assert (dataset.ranked.kind, dataset.ranked.graded, dataset.nominal) == ("groups", True, ())
    prepared = none(dataset).fit_transform(dataset.X)
    ranker = AUCRanker("ranksvm", penalty=0.01).fit(prepared, dataset.y, groups=dataset.ranked.groups)
    held = AUCRanker("ranksvm", penalty=0.01).fit(np.asarray(prepared), dataset.y, groups=dataset.ranked.groups)
    np.testing.assert_allclose(ranker.coef_, held.coef_, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(ranker.predict(prepared), np.asarray(prepared) @ ranker.coef_, rtol=1e-9)
    assert ranker.score(prepared, dataset.y, groups=dataset.ranked.groups) > 0.8


def test_more_rows_than_a_subsample(tmp_path):
    rng, m = np.random.default_rng(1), 20_000
    X, group = rng.normal(size=(m, 2)), np.repeat(np.arange(m // 10), 10)
    y = (X @ [1.0, -1.0] + rng.normal(size=m) > 0).astype(int)
    pd.DataFrame(X, columns=["a", "b"]).assign(y=y).to_parquet(
        tmp_path / "a.parquet", row_group_size=3_333, index=False
    )
    table, _ = open_parquet(tmp_path, target="y")
    for program in (RankSVM(0.01), RankSVM(0.01, squared=True, loss="squared_hinge")):
        blocks, memory = (auclab.solve(program, rows, y, groups=group) for rows in (table, X))
        assert max(blocks.gap, memory.gap) <= 1e-6
        assert blocks.objective == pytest.approx(memory.objective, rel=1e-6)


def test_what_is_refused(folder, monkeypatch):
    table, _, frame = table_of(folder, "sorted")
    groups, y = frame["group"], frame["grade"]
    with pytest.raises(AuclabError, match="compares all rows with each other, which must be in memory"):
        auclab.solve(RankSVM(0.1), table, y, ordered=True)
    with pytest.raises(AuclabError, match="event compares all rows with each other"):
        auclab.solve(RankSVM(0.1), table, frame["days"], event=frame["died"])
    with pytest.raises(AuclabError, match=r"solver=clarabel needs all rows in memory.*cutting_plane or solver=newton"):
        auclab.solve(RankSVM(0.1, loss="squared_hinge"), table, y, groups=groups, solver="clarabel")
    monkeypatch.setattr("auclab.samples.blocks.ranked_blocks.READ_TOGETHER", 100)
    with pytest.raises(AuclabError, match=r"a group of 60 rows is in several blocks.*at most 33 of 3 columns"):
        auclab.solve(RankSVM(0.1), table, y, groups=groups)
    for missing in (np.nan, 1e200):
        frame = pd.DataFrame({"a": [0.0, missing, 1.0, 2.0], "y": [0, 1, 0, 1]})
        frame.to_parquet(folder / "bad.parquet", index=False)
        with pytest.raises(AuclabError, match=r"first at row 1, column 'a'|column 'a' has values beyond"):
            auclab.solve(RankSVM(0.1), open_parquet(folder / "bad.parquet", target="y")[0], frame["y"], groups=[0] * 4)
