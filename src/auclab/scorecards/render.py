"""A card (`auclab.scorecards.card.Card`) as plain text, Markdown, LaTeX and HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from typing import Any

#: Characters of the longest bar of a share in text.
_BAR = 24
#: LaTeX's special characters, escaped.
_LATEX = {
    "\\": r"\textbackslash{}",
    **{each: f"\\{each}" for each in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "≥": r"$\geq$",
    "−": "$-$",
    "γ": r"$\gamma$",
}


def signed(points: int) -> str:
    """Points with their sign.

    Examples
    --------
    >>> signed(3), signed(-2)
    ('+3', '−2')
    """
    return f"+{points}" if points > 0 else str(points).replace("-", "−")


def certificate_line(card: Any) -> str:
    """One line on what is proved about the card; empty if nothing is."""
    if not math.isfinite(card.objective):
        return ""
    if card.status == "optimal":
        proved = "no card of these items has a larger one at its margins"
    elif math.isfinite(card.lower_bound):
        proved = f"no card of these items has more than {1 - card.lower_bound:.4f} at its margins"
    else:
        proved = "nothing is proved about other cards"
    return f"bAUC of the training part at least {1 - card.objective:.4f}; {proved} (γ = {card.margin})"


def as_text(card: Any) -> str:
    """The card for a terminal."""
    rows = [(name, each.item.answer, signed(each.points)) for name, each in _named(card)]
    widths = [max(map(len, column)) for column in zip(("feature", "is", "points"), *rows, strict=True)]
    heading = _row(("feature", "is", "points"), widths)
    lines = [heading, "-" * len(heading), *(_row(row, widths) for row in rows)]
    if not rows:
        lines = ["no item has points"]
    labels = [total.label for total in card.totals]
    width = max(len("total"), *map(len, labels))
    lines += [
        "",
        f"{'total':{width}}  {'rows':>5}  share of {card.positive}      {card.level:.0%}".replace("%", " %")
        + " interval",
    ]
    for total, label in zip(card.totals, labels, strict=True):
        mark = "  ← predicted from here on" if card.threshold is not None and total.low == card.threshold else ""
        interval = f"{total.lower:.0%}".rstrip("%") + f" to {total.upper:.0%}".replace("%", " %")
        bar = "█" * round(_BAR * total.share) if total.count else ""
        share = f"{total.share:.0%}".replace("%", " %") if total.count else "—"
        lines.append(f"{label:{width}}  {total.count:>5}  {share:>7}  {interval:>20}  {bar}{mark}".rstrip())
    return "\n".join([*lines, *(["", certificate_line(card)] if certificate_line(card) else [])])


def as_markdown(card: Any) -> str:
    """The card as two Markdown tables."""
    lines = ["| feature | is | points |", "|---|---|---:|"]
    lines += [f"| {_bars(name)} | {_bars(each.item.answer)} | {signed(each.points)} |" for name, each in _named(card)]
    lines += ["", f"| total | rows | share of {_bars(card.positive)} | {card.level:.0%} interval |".replace("%", " %")]
    lines += ["|---|---:|---:|---:|"]
    for total in card.totals:
        share = f"{total.share:.0%}".replace("%", " %") if total.count else "—"
        ends = f"{total.lower:.0%} to {total.upper:.0%}".replace("%", " %")
        lines.append(f"| {total.label} | {total.count} | {share} | {ends} |")
    return "\n".join([*lines, *(["", certificate_line(card)] if certificate_line(card) else [])]) + "\n"


def as_latex(card: Any) -> str:
    """The card as two LaTeX tables with booktabs' rules, to be put into a document."""
    lines = [r"% \usepackage{booktabs}", r"\begin{tabular}{llr}", r"\toprule", r"feature & is & points \\", r"\midrule"]
    for name, each in _named(card):
        lines.append(f"{_tex(name)} & {_tex(each.item.answer)} & {_tex(signed(each.points))} \\\\")
    lines += [r"\bottomrule", r"\end{tabular}", "", r"\medskip", "", r"\begin{tabular}{lrrr}", r"\toprule"]
    heading = f"total & rows & share of {_tex(card.positive)} & {card.level * 100:.0f}\\,\\% interval"
    lines += [heading + r" \\", r"\midrule"]
    for total in card.totals:
        share = f"{100 * total.share:.0f}\\,\\%" if total.count else "---"
        ends = f"{100 * total.lower:.0f} to {100 * total.upper:.0f}\\,\\%"
        lines.append(f"{_tex(total.label)} & {total.count} & {share} & {ends} \\\\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if certificate_line(card):
        lines += ["", r"\smallskip", "", _tex(certificate_line(card)) + "."]
    return "\n".join(lines) + "\n"


def as_html(card: Any) -> str:
    """The card as an HTML fragment: two tables with bars, inline styles and no script."""
    items = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(each.item.answer)}</td>"
        f'<td class="points {"up" if each.points > 0 else "down"}">{signed(each.points)}</td></tr>'
        for name, each in _named(card)
    )
    totals = "".join(
        f'<tr{_mark(card, total.low)}><td>{total.label.replace("-", "−")}</td><td class="count">{total.count}</td>'
        f'<td class="count">{f"{total.share:.0%}".replace("%", " %") if total.count else "—"}</td>'
        f"<td>{_bar(total.share, total.lower, total.upper)}</td></tr>"
        for total in card.totals
    )
    line = certificate_line(card)
    threshold = (
        f" From {str(card.threshold).replace('-', '−')} on, {html.escape(card.positive)} is predicted."
        if card.threshold is not None
        else ""
    )
    return (
        f'<div class="auclab-card"><style>{_STYLE}</style>'
        '<table><thead><tr><th>feature</th><th>is</th><th class="count">points</th></tr></thead>'
        f"<tbody>{items}</tbody></table>"
        '<table><thead><tr><th>total</th><th class="count">rows</th>'
        f'<th class="count">share of {html.escape(card.positive)}</th>'
        f"<th>with its {card.level * 100:.0f} % interval</th></tr></thead><tbody>{totals}</tbody></table>"
        f"<p>{html.escape(line)}{'.' if line else ''}{threshold}</p></div>"
    )


_STYLE = (
    ".auclab-card{font:14px/1.4 system-ui,sans-serif;max-width:44em}"
    ".auclab-card table{border-collapse:collapse;margin:.5em 0 1em;width:100%}"
    ".auclab-card th{text-align:left;border-bottom:2px solid #888;padding:.2em .6em;font-weight:600}"
    ".auclab-card td{border-bottom:1px solid #ddd;padding:.2em .6em}"
    ".auclab-card .points,.auclab-card .count{text-align:right;font-variant-numeric:tabular-nums}"
    ".auclab-card .points{font-weight:700}.auclab-card .up{color:#a23b1d}.auclab-card .down{color:#1d5fa2}"
    ".auclab-card tr.from td{border-top:2px solid #a23b1d}"
    ".auclab-card svg{display:block;width:100%;min-width:9em;height:1.1em}"
)


def _mark(card: Any, low: int) -> str:
    return ' class="from"' if card.threshold == low else ""


def _bar(share: float, lower: float, upper: float) -> str:
    """A bar of the share with its interval as a line, drawn in 100 units."""
    width = 0.0 if math.isnan(share) else 100 * share
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img">'
        '<rect width="100" height="10" fill="#eee"/>'
        f'<rect width="{width:.1f}" height="10" fill="#d99b83"/>'
        f'<rect x="{100 * lower:.1f}" y="4" width="{100 * (upper - lower):.1f}" height="2" fill="#333"/></svg>'
    )


def _named(card: Any) -> Iterator[tuple[str, Any]]:
    """Items with the name of their feature, which is written once per feature."""
    last = None
    for each in card.items:
        yield ("" if each.item.title == last else each.item.title), each
        last = each.item.title


def _row(cells: tuple[str, ...], widths: list[int]) -> str:
    return "  ".join([f"{cells[0]:{widths[0]}}", f"{cells[1]:{widths[1]}}", f"{cells[2]:>{widths[2]}}"])


def _bars(text: str) -> str:
    """Text in a cell of a Markdown table."""
    return text.replace("|", r"\|").replace("\n", " ")


def _tex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
