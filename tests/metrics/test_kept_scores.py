"""Scores in a temporary file: the summaries of the blocks they come from."""

import numpy as np
import pytest

from auclab.metrics import summarise
from auclab.metrics.summary import blocks as kept_scores
from auclab.metrics.summary.blocks import KeptScores, score_blocks, scored_block
from auclab.metrics.summary.bounds import RowSample
from auclab.metrics.summary.score_summary import sampled_edges


@pytest.fixture(scope="module")
def blocks():
    rng = np.random.default_rng(0)
    sizes = (400, 1, 700, 30)
    labels = [np.r_[np.arange(size) % 3 == 0] for size in sizes]
    labels[1][:] = False
    return labels, [np.round(rng.normal(size=size), 2) for size in sizes]


def test_a_file_is_the_blocks(blocks, monkeypatch):
    labels, scores = blocks
    kept = KeptScores(iter(scores), labels)
    by_hand = score_blocks([(y.astype(int), s) for y, s in zip(labels, scores, strict=True)])
    np.testing.assert_array_equal(np.concatenate(list(kept.by_block())), np.concatenate(scores))
    edges = sampled_edges(kept, 16)
    np.testing.assert_array_equal(edges, sampled_edges(by_hand, 16))
    monkeypatch.setattr(kept_scores, "GROUP_ROWS", 401)
    joined = kept.joined()
    assert [part.size for part in joined.by_block()] == [401, 700, 30]
    summary = summarise(joined, edges=edges)
    assert summary.to_bytes() == summarise(by_hand, edges=edges).to_bytes()
    del kept  # the file stays open for the others
    np.testing.assert_array_equal(np.concatenate(list(joined.by_block())), np.concatenate(scores))


def test_few_rows_and_enough_space_are_needed(monkeypatch):
    assert KeptScores.fits(1000)
    assert not KeptScores.fits(kept_scores.MOST_KEPT + 1)
    monkeypatch.setattr(kept_scores, "_SHARE_OF_DISK", 0.0)
    assert not KeptScores.fits(1)


def test_a_sample_does_not_depend_on_the_order_of_its_blocks(blocks):
    labels, scores = blocks
    parts = [RowSample.of(scored_block(y, s), 60) for y, s in zip(labels, scores, strict=True)]
    one, other = parts[0] + parts[1] + (parts[2] + parts[3]), parts[3] + parts[1] + (parts[0] + parts[2])
    assert one.neg.size == 60
    np.testing.assert_array_equal(np.sort(one.neg), np.sort(other.neg))
    np.testing.assert_array_equal(np.sort(one.pos), np.sort(other.pos))
