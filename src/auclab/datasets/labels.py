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


def override(key: str, value: str | Sequence[str], *, most: int = 8) -> str:
    """A setting with its value, quoted for the shell and for Hydra where they would misread it.

    `value`: a sequence is written as a list; of more than `most` values the first ones, and ``…``.
    """
    if isinstance(value, str):
        text = _word(value)
    else:
        text = f"[{','.join([_word(each) for each in value[:most]] + ['…'] * (len(value) > most))}]"
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


#: Pairs of labels of which the second is positive by convention.
CONVENTIONAL = ({"0", "1"}, {"-1", "1"}, {"False", "True"})


def usual_positive(labels: Collection[str]) -> str | None:
    """The positive one of two labels by convention: 1, True, or yes in any case; None where there is no convention.

    Examples
    --------
    >>> usual_positive({"1", "-1"}), usual_positive({"No", "Yes"}), usual_positive({"good", "bad"})
    ('1', 'Yes', None)
    """
    if set(labels) in CONVENTIONAL:
        return "True" if "True" in labels else "1"
    by_lower = {label.lower(): label for label in labels}
    return by_lower["yes"] if len(labels) == 2 and set(by_lower) == {"no", "yes"} else None


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


def binarise(target: pd.Series, positive: Any = None, negative: Any = None, *, kind: Any = np.int64) -> BinaryTarget:
    """Assign labels to a positive and a negative class.

    `target` (n_rows,): labels of any kind; with a dtype of categories no vector of eight bytes a row is made of them.
    `positive`: may be left out where the labels are 0 and 1, −1 and 1, False and True, or no and yes. `negative`: the
    labels of the negative class; all others if left out. Rows with a label of neither class are not kept. `kind`: of
    `y`, integers.
    """
    column = target.name
    refuse_missing(target, "target column")
    # Each distinct label is converted once: there may be millions of rows.
    codes, values = _codes(target)
    texts = np.array([label_text(value) for value in values], dtype=object)
    counts: Counter[str] = Counter()
    for text, count in zip(texts, _occurrences(codes, texts.size), strict=True):
        if count:
            counts[text] += count
    if positive is None:
        positive = usual_positive(counts)
    positives, negatives = as_labels(positive), as_labels(negative)
    if not positives and len(counts) > LINES:
        raise AuclabError(
            f"{column!r} has {len(counts)} different values ({_census(counts)}), but a target has two classes: convert "
            "it to 0 and 1, or give dataset.positive a list of values; for grades add dataset.graded=true"
        )
    if not positives:
        several = "" if len(counts) < 3 else "; all others are negative unless dataset.negative names them"
        raise AuclabError(
            f"which label of {column!r} is positive? Give dataset.positive, such as "
            f"{override('dataset.positive', min(counts, key=lambda text: counts[text]))}; labels are "
            f"{_census(counts)}{several}"
        )
    if absent := [label for label in positives + negatives if label not in counts]:
        near = did_you_mean(absent[0], counts)
        raise AuclabError(f"label {absent[0]!r} does not occur in {column!r}{near}; labels are {_census(counts)}")
    if both := set(positives) & set(negatives):
        raise AuclabError(f"label {min(both)!r} is listed as positive and as negative; it can be in one class only")
    others = negatives or tuple(sorted(set(counts) - set(positives)))
    if not others:
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
