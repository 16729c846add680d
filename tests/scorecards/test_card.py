"""The card: what totals mean, and its files."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from auclab.scorecards import Card
from auclab.scorecards.card import MOST_TOTALS, meanings, rising_shares
from auclab.scorecards.items import Item
from auclab.scorecards.render import as_html, as_latex, as_markdown, as_text

ITEMS = [
    Item(0, "age", high=25.0),
    Item(0, "age", low=40.0),
    Item(1, "a_b & <c>", category="50% | x"),
    Item(2, "z", missing=True),
]


def card():
    rng = np.random.default_rng(0)
    matrix = (rng.random((90, 4)) < 0.4).astype(float)
    matrix[:, 1] *= 1 - matrix[:, 0]
    positive = matrix @ np.array([2, -1, 3, 0]) + rng.normal(size=90) > 1.5
    facts = {"objective": 0.25, "lower_bound": 0.2, "gap": 0.2, "status": "time_limit", "seconds": 1.0, "margin": 3}
    return Card.of(
        ITEMS, np.array([2.0, -1.0, 3.0, 0.0]), matrix, positive, classes=("no", "yes"), threshold=2, **facts
    )


def test_intervals_are_wilsons():
    for total in card().totals:
        if total.count:
            expected = binomtest(total.positives, total.count).proportion_ci(method="wilson")
            assert (total.lower, total.upper) == pytest.approx((expected.low, expected.high), abs=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(-40, 40), st.booleans()), min_size=1, max_size=60))
def test_lines_cover_every_total_once_and_count_every_row(rows):
    scores, positive = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    totals = meanings(scores, positive, (-50, 50))
    assert totals[0].low == -50
    assert totals[-1].high == 50
    assert all(after.low == before.high + 1 for before, after in itertools.pairwise(totals))
    assert sum(total.count for total in totals) == len(rows)
    assert sum(total.positives for total in totals) == positive.sum()
    assert all(total.count for total in totals)
    assert len(totals) <= 2 * MOST_TOTALS


def test_items_without_points_are_left_out_and_ranges_count_one_bin_a_feature():
    assert card().n_items == 3
    assert card().range == (-1, 5)


def test_json_is_read_again(tmp_path):
    written = card()
    written.write_json(tmp_path / "card.json")
    content = json.loads((tmp_path / "card.json").read_text(encoding="utf-8"))
    assert Card.from_dict(content) == written
    assert content["items"][0] | {"points": 2, "label": "age < 25", "high": 25.0, "low": None} == content["items"][0]


def test_every_form_has_every_item_and_escapes_what_it_must():
    text, markdown, latex, page = as_text(card()), as_markdown(card()), as_latex(card()), as_html(card())
    assert "50% | x" in text
    assert r"50% \| x" in markdown
    assert r"a\_b \& $<$c$>$" in latex
    assert r"50\% | x" in latex
    assert "a_b &amp; &lt;c&gt;" in page
    assert "<c>" not in page
    for form in (text, markdown, latex, page):
        assert "+3" in form
    assert "no card of these items has more than 0.8000" in text


def test_a_card_without_points_says_so():
    empty = Card.of(ITEMS, np.zeros(4), np.zeros((4, 4)), np.array([True, False, True, False]))
    assert "no item has points" in str(empty)
    assert [total.label for total in empty.totals] == ["0"]


def test_probabilities_are_those_of_the_lines():
    made = card()
    shares = [made.probability([total.low, total.high]).tolist() for total in made.totals]
    assert all(low == high for low, high in shares)
    assert (np.diff([low for low, _ in shares]) >= 0).all()
    raw = [(total.positives + 1) / (total.count + 2) for total in made.totals]
    assert shares[0][0] >= raw[0] - 1e-12
    assert made.probability([-99])[0] == made.probability([made.totals[0].low])[0]


def test_a_file_of_others_cannot_put_markup_into_the_page():
    content = card().to_dict()
    content["totals"][0]["count"] = "<script>"
    with pytest.raises(ValueError, match="invalid literal"):
        Card.from_dict(content)
    content = card().to_dict()
    content["classes"]["positive"] = "<script>"
    assert "<script>" not in as_html(Card.from_dict(content))


def test_the_unit_of_the_weights_does_not_matter():
    rng = np.random.default_rng(0)
    scores, positive, weight = rng.integers(0, 4, 50), rng.random(50) < 0.4, rng.random(50)
    weight[:5] = 0.0
    totals = meanings(scores, positive, (0, 3), weight)
    for unit in (1e-6, 1e6):
        assert all(
            (a.low, a.high, a.count, a.positives) == (b.low, b.high, b.count, b.positives)
            and a.share == pytest.approx(b.share)
            for a, b in zip(meanings(scores, positive, (0, 3), unit * weight), totals, strict=True)
        )
    assert sum(total.count for total in totals) == pytest.approx(45, abs=2)
    for total in totals:
        here = (scores >= total.low) & (scores <= total.high)
        assert total.share == pytest.approx(weight[here & positive].sum() / weight[here].sum())
    assert rising_shares(totals)[0] > 0.0
    twice = meanings(scores, positive, (0, 3), np.full(50, 2.0))  # repetitions
    assert [total.count for total in twice] == [2 * total.count for total in meanings(scores, positive, (0, 3))]
    equal = meanings(scores, positive, (0, 3), np.full(50, 1e-9))
    assert [total.count for total in equal] == [total.count for total in meanings(scores, positive, (0, 3))]


def test_totals_without_rows_are_joined_with_those_above():
    found = meanings(np.array([0, 2, 3]), np.array([False, True, True]), (-2, 4))
    assert [(each.low, each.high, each.positives, each.count) for each in found] == [
        (-2, 0, 0, 1), (1, 2, 1, 1), (3, 4, 1, 1),
    ]  # fmt: skip
