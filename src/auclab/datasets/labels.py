"""From the labels of a file to 0 and 1, compared as text; what messages tell the reader to add to the command."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import AuclabError
from auclab._core.words import LINES, counted, did_you_mean, few

if TYPE_CHECKING:
    import pandas as pd

#: Words that Hydra reads as text without quotes.
_PLAIN = re.compile(r"(/|(\.{1,2}/)+)?[A-Za-z_][A-Za-z0-9_.\-]*(/[A-Za-z_][A-Za-z0-9_.\-]*)*")
#: Words that Hydra reads as something else than text.
_TAKEN = ("null", "true", "false", "nan", "inf")


def override(key: str, value: str | Sequence[str] | bool) -> str:
    """A setting with its value, quoted for the shell and for Hydra where they would misread it.

    A sequence is written as a list, whole however long it is, so that the setting can be pasted.
    """
    if isinstance(value, bool):
        return f"{key}={str(value).lower()}"
    text = _word(value) if isinstance(value, str) else f"[{','.join(map(_word, value))}]"
    whole = f"{key}={text}"
    # A list in quotes too: zsh takes brackets for a pattern of file names.
    return whole if re.fullmatch(r"[\w.,=\-/]*", whole, flags=re.ASCII) else shlex.quote(whole)


def _word(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _TAKEN:
        return text
    # Hydra takes backslashes as they are, except in front of a quote; OmegaConf reads ${…} unless a backslash is there.
    escaped = re.sub(r"(\\*)\$\{", r"\1\1\\${", text)
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', escaped)
    last = escaped[len(escaped.rstrip("\\")) :]
    return f'"{escaped}{last}"'


#: Pairs of labels of which the second is positive by convention; words in any case.
_CONVENTIONS = (("0", "1"), ("-1", "1"), ("false", "true"), ("no", "yes"))
#: What an event is called; the other label means that a row is censored.
_EVENTS = re.compile(r"dead|died|death|deceased|event", re.IGNORECASE)


def usual_positive(labels: Collection[str]) -> str | None:
    """The positive one of two labels by convention: 1, or true or yes in any case; None where there is no convention.

    Examples
    --------
    >>> usual_positive({"1", "-1"}), usual_positive({"No", "Yes"}), usual_positive({"good", "bad"})
    ('1', 'Yes', None)
    """
    words = {label.lower(): label for label in labels}
    pair = next((pair for pair in _CONVENTIONS if set(pair) == set(words)), None)
    return words[pair[1]] if pair is not None and len(labels) == 2 else None


def event_label(labels: Collection[str]) -> str | None:
    """The label of an event; the other one, or none, means that a row is censored. None where neither is usual.

    Of 1 and 2 it is 2, as in the tables of R.

    Examples
    --------
    >>> event_label({"1", "2"}), event_label({"alive", "Dead"}), event_label({"0"}), event_label({"a", "b"})
    ('2', 'Dead', '1', None)
    """
    named = [label for label in labels if _EVENTS.fullmatch(label)]
    if set(labels) == {"1", "2"} or len(named) == 1:
        return named[0] if named else "2"
    if len(labels) != 1:
        return usual_positive(labels)
    (only,) = labels
    pair = next((pair for pair in _CONVENTIONS if only.lower() in pair), None)
    return None if pair is None else only if only.lower() == pair[1] else pair[1]


@dataclass(frozen=True)
class BinaryTarget:
    """A binary target.

    `y`: 1 (positive) or 0 for the rows that are kept. `kept` (n_rows,): which rows belong to either class. `positive`,
    `negative`: the labels of either class in the file.
    """

    y: NDArray[np.int64]
    kept: NDArray[np.bool_]
    positive: str
    negative: str


def label_text(value: Any) -> str:
    """A label as text; whole numbers have no decimal point, so that 1 and 1.0 are one label.

    Examples
    --------
    >>> [label_text(value) for value in (1, 1.0, -1.0, 0.5, True, "b")]
    ['1', '1', '-1', '0.5', 'True', 'b']
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def same_label(value: Any) -> str:
    """A label as text, whether it was read as a number or as text.

    Examples
    --------
    >>> [same_label(value) for value in ("1.0", 1.0, "1", "1.5", "b.0")]
    ['1', '1', '1', '1.5', 'b.0']
    """
    text = label_text(value)
    return text.partition(".")[0] if re.fullmatch(r"-?\d+\.0+", text) else text


def as_labels(value: Any) -> tuple[str, ...]:
    """One label or several, as a tuple of texts.

    Examples
    --------
    >>> as_labels(4), as_labels(["2", 3]), as_labels(None)
    (('4',), ('2', '3'), ())
    """
    if value is None:
        return ()
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    return tuple(label_text(item) for item in (value if several else (value,)))


def binarise(
    target: pd.Series, positive: Any = None, negative: Any = None, *, kind: Any = np.int64, of_events: bool = False
) -> BinaryTarget:
    """Assign labels to a positive and a negative class.

    `target` (n_rows,): labels of any kind; with a dtype of categories no vector of eight bytes a row is made of them.
    `positive`: may be left out where the labels are 0 and 1, −1 and 1, False and True, or no and yes. `negative`: the
    labels of the negative class; all others if left out. Rows with a label of neither class are not kept. `kind`: of
    `y`, integers. `of_events`: positives have had an event and the others are censored, of which there need be none.
    """
    column = target.name
    refuse_missing(target, "target column")
    # Each distinct label is converted once: there may be millions of rows.
    codes, values = _codes(target)
    texts = np.array([same_label(value) for value in values], dtype=object)
    counts: Counter[str] = Counter()
    for text, count in zip(texts, _occurrences(codes, texts.size), strict=True):
        if count:
            counts[text] += count
    usual = event_label(counts) if of_events else usual_positive(counts)
    if positive is None and (usual_positive(counts) or (of_events and len(counts) == 1)):
        positive = usual
    positives, negatives = (tuple(map(same_label, as_labels(each))) for each in (positive, negative))
    if of_events and usual not in counts and positives == (usual,):
        raise AuclabError(
            f"all censored: {column!r} is {next(iter(counts))} in every row, so that no time is that of an event and "
            "no pair can be compared; rows with an event are needed"
        )
    if not positives and len(counts) > LINES:
        raise AuclabError(
            f"{column!r} has {len(counts)} different values ({_census(counts)}), but a target has two classes: convert "
            "it to 0 and 1, or give dataset.positive a list of values; for grades add dataset.graded=true"
        )
    if not positives:
        proposed = override("dataset.positive", usual or min(counts, key=lambda text: counts[text]))
        several = "" if len(counts) < 3 else "; all others are negative unless dataset.negative names them"
        which = "means an event, and not censoring" if of_events else "is positive"
        raise AuclabError(
            f"which label of {column!r} {which}? Give dataset.positive, such as {proposed}; labels are "
            f"{_census(counts)}{several}"
        )
    named = positives if of_events else positives + negatives
    if absent := [label for label in named if label not in counts]:
        near = did_you_mean(absent[0], counts)
        raise AuclabError(f"label {absent[0]!r} does not occur in {column!r}{near}; labels are {_census(counts)}")
    if both := set(positives) & set(negatives):
        raise AuclabError(f"label {min(both)!r} is listed as positive and as negative; it can be in one class only")
    others = negatives or tuple(sorted(set(counts) - set(positives)))
    if not others and not of_events:
        raise AuclabError(
            f"two classes are needed, but every row is positive; labels of {column!r} are {_census(counts)}"
        )
    kept, is_positive = (_among(codes, np.isin(texts, names)) for names in (positives + others, positives))
    y = (is_positive if kept.all() else is_positive[kept]).astype(kind)
    return BinaryTarget(y, kept, ", ".join(positives), ", ".join(others) if len(others) <= LINES else "all others")


def refuse_missing(column: pd.Series, role: str, advice: str = "drop those rows") -> None:
    """Refuse a column with missing values; the message calls it by its role, and says what to do."""
    if missing := int(column.isna().sum()):
        first = int(np.flatnonzero(column.isna())[0])
        raise AuclabError(
            f"{role} {column.name!r} has {counted(missing, 'missing value')} (first in row {first + 1}); {advice}"
        )


def _codes(target: pd.Series) -> tuple[NDArray[Any], Any]:
    """The distinct labels, and the place of each row's among them."""
    import pandas as pd

    if isinstance(target.dtype, pd.CategoricalDtype):
        return target.cat.codes.to_numpy(), target.cat.categories
    return target.factorize()


def _occurrences(codes: NDArray[Any], size: int) -> list[int]:
    """How often each code occurs; no vector of eight bytes a row is made of codes of one byte."""
    if codes.itemsize > 1:
        return [int(count) for count in np.bincount(codes, minlength=size)]
    return [int(np.count_nonzero(codes == k)) for k in range(size)]


def _among(codes: NDArray[Any], chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which codes are among the chosen ones."""
    if codes.itemsize > 1:
        return np.asarray(chosen[codes])
    rows = np.zeros(codes.size, dtype=bool)
    for k in np.flatnonzero(chosen).tolist():
        rows |= codes == k
    return rows


def _census(counts: Counter[str]) -> str:
    return few((f"{label} ({counted(count, 'row')})" for label, count in counts.most_common()), LINES)
