"""What the columns of a table are likely to be: identifiers, groups of rows, and the labels, with the positive one.

For identifiers and groups the content of a column decides; where it leaves that open, its name does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import AuclabError
from auclab._core.words import LINES, did_you_mean, few
from auclab.datasets.labels import event_label, same_label, usual_positive

if TYPE_CHECKING:
    import pandas as pd


#: Values that a column of groups has at least.
_LEAST_VALUES = 10
#: Rows that tell most columns that repeat their values.
_FIRST_ROWS = 1_000
#: Rows from which a column that differs in nearly all of them is an identifier, and the share of those values.
_LEAST_ROWS, _NEARLY_ALL = 25, 0.98
#: Share of the values of an identifier that have as many digits as most.
_ONE_LENGTH = 0.85
#: Mean number of rows of each value of a column of groups, at least and at most, and the largest share of one of them.
_LEAST_REPEATS, _MOST_REPEATS, _LARGEST_GROUP = 1.2, 50, 0.1
#: Standard errors by which the rows of one group are more alike than neighbours by chance.
_ALIKE = 4.0
#: Share of pairs by which they are, at least.
_EXCESS = 0.1
#: What those are called whose rows a column of groups keeps together.
_OWNERS = frozenset(
    {
        *("account", "client", "company", "customer", "driver", "family", "hospital", "household", "member", "patient"),
        *("person", "school", "session", "subject", "user", "visitor"),
    }
)


def words_of(name: str) -> list[str]:
    """The words of a column's name.

    Examples
    --------
    >>> words_of("FraudFound_P"), words_of("is_canceled"), words_of("CLIENT ID"), words_of("ph.ecog")
    (['fraud', 'found', 'p'], ['is', 'canceled'], ['client', 'id'], ['ph', 'ecog'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+", name)]


def _called_identifier(name: str) -> bool:
    """Whether a name says so: where the content of a column leaves it open, this decides."""
    words = words_of(name)
    return bool(words) and (words[-1] in ("id", "ids", "key", "uuid") or (len(words) == 1 and words[0] in _OWNERS))


def why_identifier(name: str, column: pd.Series) -> str:
    """Why whole numbers identify rows; empty if they do not.

    They differ in nearly every row, and are either as close together as numbers of rows, or far apart and of one
    length, as amounts and counts are not; where that is open, the name decides.

    Examples
    --------
    >>> import pandas as pd
    >>> why_identifier("row", pd.Series(range(1, 61))), why_identifier("age", pd.Series([20, 30, 40] * 20))
    ('different in every row, like an identifier', '')
    """
    n_rows, first = len(column), column.iloc[:_FIRST_ROWS]
    if n_rows < _LEAST_ROWS or column.dtype.kind not in "iuf" or first.nunique() * _LEAST_REPEATS < len(first):
        return ""
    values = int(column.nunique())
    if values * _LEAST_REPEATS < n_rows or column.isna().any() or (column % 1 != 0).any():
        return ""
    low, high = float(column.min()), float(column.max())
    every = "different in every row" if values == n_rows else "different in nearly every row"
    if values == n_rows and high - low < 2 * n_rows:
        return f"{every}, like an identifier"
    digits = np.floor(np.log10(np.maximum(np.abs(column.to_numpy(dtype=float)), 1.0)))
    is_long = low > 0 and np.median(digits) >= 5 and high - low > 100 * values
    is_long &= values >= _NEARLY_ALL * n_rows
    if is_long and np.mean(digits == np.median(digits)) >= _ONE_LENGTH and (column % 10).nunique() > 5:
        return f"{every} and far apart, like an identifier"
    return f"{every}, and its name says so" if _called_identifier(name) else ""


def why_group(name: str, column: pd.Series, y: NDArray[Any] | None = None) -> str:
    """Why a column has groups of rows, such as the visits of one patient; empty if it has none.

    It has several rows of many values and few of each, and rows of one value are alike in the target: more so than rows
    next to each other in the order of the column, as a measurement makes these alike too. Where that is open, its name
    decides. `y` (n_rows,): labels.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> k = np.arange(120)
    >>> visits = pd.Series(7001 + k % 30)
    >>> why_group("v", visits, k % 3), why_group("patient_id", visits), why_group("inpatients", visits)
    ('rows of one value are alike', 'several rows of each, and its name says so', '')
    """
    values = column.value_counts()
    repeats = len(column) / max(1, len(values))
    if len(values) < _LEAST_VALUES or column.isna().any() or not _LEAST_REPEATS <= repeats <= _MOST_REPEATS:
        return ""
    if values.iloc[0] > max(_LEAST_VALUES, _LARGEST_GROUP * len(column)) or (
        column.dtype.kind == "f" and (column % 1 != 0).any()
    ):
        return ""
    if y is not None and _is_alike(column.factorize(sort=column.dtype.kind in "iuf")[0], y):
        return "rows of one value are alike"
    return "several rows of each, and its name says so" if _called_identifier(name) else ""


def _is_alike(codes: NDArray[Any], y: NDArray[Any]) -> bool:
    """Whether pairs of rows of one code agree more often in `y` than pairs with rows of the codes next to theirs."""
    every = np.bincount(codes).astype(float)
    positive = np.bincount(codes, y, every.size)
    negative = every - positive
    inside = (positive * (positive - 1) + negative * (negative - 1)) / np.maximum(every * (every - 1), 1)
    next_one = (positive[1:] * positive[:-1] + negative[1:] * negative[:-1]) / (every[1:] * every[:-1])
    both_sides = (np.r_[next_one[:1], next_one] + np.r_[next_one, next_one[-1:]]) / 2
    more = (inside - both_sides)[every > 1]
    return bool(more.size >= _LEAST_VALUES and more.mean() > max(_EXCESS, _ALIKE * more.std() / np.sqrt(more.size)))


#: Words in the names of columns that usually have the labels.
_USUAL = frozenset(
    {
        *("target", "label", "labels", "class", "y", "outcome", "response", "event", "positive", "left", "churn"),
        *("churned", "default", "defaulted", "converted", "bought", "fraud", "survived", "diagnosis", "attrition"),
        *("canceled", "cancelled", "readmitted", "exited", "subscribed", "purchased", "approved", "died", "dead"),
    }
)
#: In the names of columns with events, and with their times, some of which are censored.
_EVENT_WORDS = frozenset({"status", "event", "dead", "died", "death", "fustat", "relapse", "recurrence", "failed"})
_TIME_WORDS = frozenset({"time", "times", "days", "months", "years", "futime", "survival", "duration", "tte"})
#: In those of queries, whose rows are compared with each other, and of the grades of these rows.
_QUERY_WORDS = frozenset({"qid", "query", "queries", "srch"})
_GRADE_WORDS = frozenset({"grade", "grades", "relevance", "rel", "rating", "label", "target", "y"})
_GRADES = 11
#: Values that times have at least.
_LEAST_TIMES = 10
#: Values of a column with a usual name, up to which one is positive and the others are negative.
_FEW_CLASSES = 5


@dataclass(frozen=True)
class Target:
    """The column with the labels.

    `named`: whether the positive label has to be given: those of 0/1, −1/1 and False/True are known. `counts`: rows of
    each label, the most frequent first. `why`: why this column and this label were chosen; empty where both were given.
    `time`: times of which this is the event. `query`: rows of one value of it are compared. `graded`: whether labels
    are grades.
    """

    name: str
    positive: str
    named: bool
    counts: dict[str, int]
    why: str = ""
    time: str | None = None
    query: str | None = None
    graded: bool = False

    @property
    def role(self) -> str:
        """The setting that names the column."""
        return "target" if self.time is None else "event"

    @property
    def census(self) -> str:
        """The labels with their rows, and the share of the positive one."""
        total = sum(self.counts.values())
        listed = few((f"{label} ({count:,})" for label, count in self.counts.items()), LINES)
        if self.graded or self.positive not in self.counts:
            return listed
        share = self.counts[self.positive] / total
        return f"{listed}; share of {self.positive} {f'{share:.3g}'.removeprefix('0')}" if total else ""


def choose_target(frame: pd.DataFrame, name: str | None = None, positive: str | None = None) -> Target | None:
    """The column with the labels, and the positive label.

    `name`, `positive`: as `auclab.datasets.inspection.inspect_file` takes them. Returns: None if no column was named
    and none has two values.

    Examples
    --------
    >>> import pandas as pd
    >>> found = choose_target(pd.DataFrame({"plan": ["a", "b", "a"], "churn": ["no", "no", "yes"], "age": [1, 2, 3]}))
    >>> found.name, found.positive, found.named
    ('churn', 'yes', True)
    """
    names = [str(label) for label in frame]
    if name is not None and name not in names:
        raise AuclabError(f"--target {name}: no such column{did_you_mean(name, names)}; columns are {', '.join(names)}")
    reasons: list[str] = []
    time = query = None
    if name is None:
        query = next((each for each in names if _is_query(each, frame[each])), None)
        if query is not None and (grades := [each for each in names if _is_graded(each, frame[each])]):
            why = f"{grades[-1]} has grades, and {query} says which rows are compared"
            return Target(grades[-1], "", False, _label_counts(frame[grades[-1]]), why, query=query, graded=True)
        name, time, why = _guessed(frame, names)
        if name is None:
            return None
        reasons.append(why)
    counts = _label_counts(frame[name])
    if not counts:
        raise AuclabError(f"--target {name}: the column is empty; columns are {', '.join(names)}")
    usual_label = usual_positive(counts) if time is None else event_label(counts)
    if positive is None:
        positive = usual_label or min(counts, key=lambda key: counts[key])
        means = "is positive" if time is None else "means an event"
        reasons.append(f"{positive} {means} by convention" if usual_label else f"{positive} is its rarest label")
    elif positive not in counts:
        near = did_you_mean(positive, counts)
        raise AuclabError(f"--positive {positive}: no such label in {name}{near}; labels are {', '.join(counts)}")
    is_known = positive == usual_label and positive in ("1", "True")
    return Target(name, positive, not is_known, counts, "; ".join(reasons), time, query)


def _label_counts(column: pd.Series) -> dict[str, int]:
    """Rows of each label, the most frequent first."""
    counts: Counter[str] = Counter()
    for value, count in column.value_counts().items():
        counts[same_label(value)] += int(count)
    return dict(counts.most_common())


def _guessed(frame: pd.DataFrame, names: Sequence[str]) -> tuple[str | None, str | None, str]:
    """The column with the labels, that of censored times if there is one, and why; the first is None if there is none.

    Of the columns with two values those with a usual name come first, then the last column, the first one, the last of
    two values.
    """
    two_valued = [each for each in names if frame[each].nunique() == 2]
    times = [each for each in names if _TIME_WORDS & set(words_of(each)) and _is_time(frame[each])]
    events = [each for each in names if _EVENT_WORDS & set(words_of(each)) and frame[each].nunique() <= 2]
    known = [each for each in events if event_label(_label_counts(frame[each])) is not None]
    if times and known:
        return known[-1], times[0], f"{times[0]} and {known[-1]} look like times of an event or of censoring"
    usual = [each for each in two_valued if _USUAL & set(words_of(each))]
    few = [each for each in names if _USUAL & set(words_of(each)) and 2 < frame[each].nunique() <= _FEW_CLASSES]
    if usual:
        return usual[-1], None, f"{usual[-1]} has a usual name and two values"
    if few:
        return few[-1], None, f"{few[-1]} has a usual name and {frame[few[-1]].nunique()} values"
    if not two_valued:
        return None, None, ""
    name = next((each for each in (names[-1], names[0]) if each in two_valued), two_valued[-1])
    others = [each for each in two_valued if each != name]
    return name, None, f"{name} has two values" + (f", like {', '.join(others)}" if others else "")


def _is_time(column: pd.Series) -> bool:
    """Whether these are numbers that are not negative, with many values."""
    return (
        column.dtype.kind in "iuf"
        and bool(column.min() >= 0)
        and column.nunique() >= min(_LEAST_TIMES, len(column) // 2)
    )


def _is_query(name: str, column: pd.Series) -> bool:
    """Whether a column is called a query, and has several rows of several values."""
    values = column.nunique()
    return bool(_QUERY_WORDS & set(words_of(name))) and 2 <= values <= len(column) / 2 and not column.isna().any()


def _is_graded(name: str, column: pd.Series) -> bool:
    """Whether a column is called a grade, and has a few whole numbers from 0 on."""
    if not _GRADE_WORDS & set(words_of(name)) or column.dtype.kind not in "iuf" or column.isna().any():
        return False
    return 2 < column.nunique() <= _GRADES and bool((column % 1 == 0).all() and 0 <= column.min() <= column.max() <= 10)
