"""Scorecards: items made from a table, and the card as text, Markdown, LaTeX, HTML and JSON."""

from auclab.scorecards.card import Card, CardItem, Total
from auclab.scorecards.items import ItemEncoder

__all__ = ["Card", "CardItem", "ItemEncoder", "Total"]
