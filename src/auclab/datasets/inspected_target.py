"""Which column of a table has the labels, and which label is positive, if the user has not said it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auclab.datasets.labels import CONVENTIONAL, label_text
from auclab.sizes import LINES
from auclab.types import AuclabError
from auclab.wording import did_you_mean, few

if TYPE_CHECKING:
    import pandas as pd

#: Names of columns that usually have the labels.
_USUAL = frozenset(
    {
        *("target", "label", "labels", "class", "y", "outcome", "response", "event", "positive", "left", "churn"),
        *("churned", "default", "defaulted", "converted", "bought", "fraud", "is_fraud", "survived", "diagnosis"),
    }
)


@dataclass(frozen=True)
class Target:
    """The column with the labels.

    `named`: whether the positive label has to be given: those of 0/1, −1/1 and False/True are known. `counts`: rows of
    each label, the most frequent first. `why`: why this column and this label were chosen; empty where both were given.
    """

    name: str
    positive: str
    named: bool
    counts: dict[str, int]
    why: str = ""

    @property
    def census(self) -> str:
        """The labels with their rows, and the share of the positive one."""
        total = sum(self.counts.values())
        listed = few((f"{label} ({count:,})" for label, count in self.counts.items()), LINES)
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
    reasons = []
    if name is None:
        two_valued = [each for each in names if frame[each].nunique() == 2]
        if not two_valued:
            return None
        usual = [each for each in two_valued if each.lower() in _USUAL]
        name = (usual or two_valued)[-1]
        others = [each for each in two_valued if each != name]
        which = "has a usual name and two values" if usual else "has two values"
        reasons.append(f"{name} {which}" + (f", like {', '.join(others)}" if others and not usual else ""))
    counts: Counter[str] = Counter()
    for value, count in frame[name].value_counts().items():
        counts[label_text(value)] += int(count)
    if not counts:
        raise AuclabError(f"--target {name}: the column is empty; columns are {', '.join(names)}")
    conventional = set(counts) in CONVENTIONAL
    if positive is None:
        usual_label = (
            ("True" if "True" in counts else "1") if conventional else min(counts, key=lambda key: counts[key])
        )
        positive = usual_label
        reasons.append(f"{positive} is positive by convention" if conventional else f"{positive} is its rarest label")
    elif positive not in counts:
        near = did_you_mean(positive, counts)
        raise AuclabError(f"--positive {positive}: no such label in {name}{near}; labels are {', '.join(counts)}")
    ordered = dict(counts.most_common())
    usual_one = conventional and positive in ("1", "True")
    return Target(name, positive, not usual_one, ordered, "; ".join(reasons))
