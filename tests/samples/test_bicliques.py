"""LevelPairs against the pairs themselves, one by one."""

from functools import partial

import numpy as np
import pytest

from auclab import AuclabError
from auclab.samples.bicliques import censored_pairs, ordered_pairs

MAKERS = {"grades": ordered_pairs, "times": censored_pairs}


def pairs_one_by_one(levels, winners, groups, weights):
    """The weight of every pair before it is divided, by its rows."""
    rows = range(len(levels))
    return {
        (i, j): weights[i] * weights[j]
        for i in rows
        for j in rows
        if groups[i] == groups[j] and winners[i] and levels[i] > levels[j] and weights[i] * weights[j] > 0
    }


def drawn(seed):
    """A small sample with ties, weights of 0, and groups of one class."""
    generator = np.random.default_rng(seed)
    size = generator.integers(2, 15)
    grades = generator.integers(0, generator.integers(2, 6), size).astype(float)
    groups = generator.integers(0, generator.integers(1, 4), size)
    return grades, generator.integers(0, 2, size), groups, generator.integers(0, 3, size).astype(float)


@pytest.mark.parametrize("kind", ["grades", "times"])
@pytest.mark.parametrize("group_weights", ["pairs", "groups"])
def test_the_pairs_are_those_found_one_by_one(kind, group_weights):
    n_without = 0
    for seed in range(100):
        levels, events, groups, weights = drawn(seed)
        winners = events if kind == "times" else np.ones(len(levels))
        labels = (-levels, events) if kind == "times" else (levels,)
        made = partial(MAKERS[kind], *labels, groups, weights, group_weights=group_weights)
        expected = pairs_one_by_one(levels, winners, groups, weights)
        if not expected:
            n_without += 1
            with pytest.raises(AuclabError, match="no two rows can be compared"):
                made()
            continue
        bicliques = made()
        totals = {g: sum(q for (i, _), q in expected.items() if groups[i] == g) for g in set(groups.tolist())}
        n_groups, total = sum(t > 0 for t in totals.values()), sum(totals.values())
        each = {
            p: q / (total if group_weights == "pairs" else totals[groups[p[0]]] * n_groups) for p, q in expected.items()
        }
        upper, lower, weight = bicliques.pairs()
        found = dict(zip(zip(upper.tolist(), lower.tolist(), strict=True), weight, strict=True))
        assert len(found) == len(weight) == bicliques.n_pairs
        assert found == pytest.approx(each, rel=1e-12)
        assert bicliques.shares[0] == pytest.approx(np.bincount(upper, weight, len(levels)), rel=1e-12)
        assert bicliques.shares[1] == pytest.approx(np.bincount(lower, weight, len(levels)), rel=1e-12)
    assert n_without > 0


def test_sides_are_sorted_and_hold_the_same_pairs_whatever_the_scores():
    levels, events, groups, _ = drawn(4)
    bicliques = censored_pairs(-levels, events, groups)
    scores = np.random.default_rng(0).normal(size=levels.size)
    before = [set(zip(*(part.tolist() for part in bicliques.pairs()[:2]), strict=True))]
    pairs = set()
    upper, lower = bicliques.sorted_by(scores)
    for k in range(upper.starts.size - 1):
        above, below = (slice(side.starts[k], side.starts[k + 1]) for side in (upper, lower))
        for side, part in ((upper, above), (lower, below)):
            assert (np.diff(side.scores[part]) >= 0).all()
        differences = upper.scores[above][:, None] - lower.scores[below]
        expected = scores[upper.rows[above]][:, None] - scores[lower.rows[below]]
        assert differences == pytest.approx(expected, abs=1e-12)
        pairs |= {(int(i), int(j)) for i in upper.rows[above] for j in lower.rows[below]}
    assert pairs == before[0]


def test_entries_are_at_most_a_logarithm_for_each_row():
    for n_levels in (2, 3, 8, 1000):
        upper, lower = ordered_pairs(np.arange(1000) % n_levels).sorted_by(np.zeros(1000))
        assert upper.rows.size + lower.rows.size <= 1000 * np.ceil(np.log2(n_levels))


def test_many_groups_are_drawn_as_wholes_and_few_by_rows():
    generator = np.random.default_rng(0)
    many = ordered_pairs(np.arange(10_000) % 2, np.arange(10_000) // 10)
    rows, part = many.thinned(5_000, generator)
    assert (np.bincount(part.groups)[np.unique(part.groups)] == 10).all()
    assert part.n_pairs == 25 * len(rows) / 10
    rows, part = ordered_pairs(np.arange(10_000) % 2, np.arange(10_000) // 5_000).thinned(1_000, generator)
    assert 800 < len(rows) < 1_200
    assert part.pairs()[2].sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: ordered_pairs([0, 1], [0, 1]), "rows of one group"),
        (lambda: ordered_pairs([2, 2]), "two different values of y"),
        (lambda: ordered_pairs([0, 1], sample_weight=[1, 0]), "weights above 0"),
        (lambda: ordered_pairs([0, 1], [0, 1, 2]), "a group for each row"),
        (lambda: ordered_pairs([0, 1], [0.0, np.nan]), r"groups\[1\] is missing"),
        (lambda: ordered_pairs([0, np.nan]), "y"),
        (lambda: censored_pairs([1.0, 1.0], [1, 1]), "an event before the time"),
        (lambda: censored_pairs([1.0, 2.0], [0, 1]), "an event before the time"),
        (lambda: censored_pairs([1.0, 2.0], [1, 2]), "0 or 1"),
        (lambda: censored_pairs([1.0, 2.0], [1]), "1 entries, but there are 2 times"),
        (lambda: ordered_pairs([0, 1], group_weights="same"), "group_weights"),
    ],
)
def test_samples_without_a_pair_and_bad_input_are_refused(made, message):
    with pytest.raises(AuclabError, match=message):
        made()


@pytest.mark.parametrize("scale", [1e200, 1e-200, 5e-310])
@pytest.mark.parametrize("group_weights", ["pairs", "groups"])
def test_the_scale_of_weights_cancels(scale, group_weights):
    """Products of 1e-200 are 0, and of 1e200 infinite."""
    rng = np.random.default_rng(5)
    y, groups, weights = rng.integers(0, 3, 40), rng.integers(0, 9, 40), rng.random(40) + 0.1
    plain = ordered_pairs(y, groups, weights, group_weights=group_weights)
    scaled = ordered_pairs(y, groups, scale * weights, group_weights=group_weights)
    for ours, theirs in zip(scaled.pairs(), plain.pairs(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    for ours, theirs in zip(scaled.shares, plain.shares, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_a_group_of_very_small_weights_has_the_weight_of_the_others():
    y, groups, weights = [0, 1, 0, 1, 1], [0, 0, 1, 1, 1], [1.0, 2.0, 1e-200, 1e-200, 3e-200]
    upper, lower, weight = ordered_pairs(y, groups, weights, group_weights="groups").pairs()
    assert sorted(zip(upper.tolist(), lower.tolist(), weight.round(12).tolist(), strict=True)) == [
        (1, 0, 0.5), (3, 2, 0.125), (4, 2, 0.375)
    ]  # fmt: skip


def test_pairs_are_printed_on_one_line_whatever_their_number():
    assert repr(ordered_pairs(np.arange(1000))) == "LevelPairs(499500 pairs of 1000 rows, kind='grades')"
