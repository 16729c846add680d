"""Metrics from summaries that merge: limits after one pass over blocks of scores."""

from auclab.metrics.summary.blocks import ScoreBlocks, score_blocks, scored_table
from auclab.metrics.summary.bounds import Interval, score_edges
from auclab.metrics.summary.score_summary import BufferedAUCBounds, ScoreSummary, summarise

__all__ = [
    "BufferedAUCBounds",
    "Interval",
    "ScoreBlocks",
    "ScoreSummary",
    "score_blocks",
    "score_edges",
    "scored_table",
    "summarise",
]
