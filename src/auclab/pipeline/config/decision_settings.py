"""The settings ``decision``, checked before heavy imports."""

from __future__ import annotations

import math
from typing import Any

from auclab.pipeline.config.limits import check_values
from auclab.pipeline.config.settings import DecisionConfig
from auclab.types import AuclabError
from auclab.wording import did_you_mean

#: The rules of `decision.threshold` that are a word, and the limits on the numbers of the others.
WORDS, NUMBERS = ("prior", "youden"), {"prior": 1, "cost": 2, "fpr": 1}
_RULES = "prior, youden, [prior, SHARE], [cost, FALSE_POSITIVE, FALSE_NEGATIVE], [fpr, MAX_FPR], or a score such as 0"


def check_decision(config: DecisionConfig) -> None:
    """Refuse settings that no data could satisfy."""
    _check_rule(plain_rule(config.threshold))
    check_values(config, "decision")


def plain_rule(rule: Any) -> Any:
    """A rule as Python values, as `auclab.estimators.decision_threshold` takes it."""
    return rule if isinstance(rule, str | int | float) or rule is None else list(rule)


def rule_in_words(rule: Any) -> str:
    """A rule of `plain_rule` in words.

    Examples
    --------
    >>> rule_in_words("prior"), rule_in_words(["fpr", 0.05])
    ('the share of predicted positives is that of the training part', 'the largest TPR with an FPR of at most 0.05')
    """
    name, *given = rule if isinstance(rule, list | tuple) else (rule,)
    if name == "prior":
        share = f"{given[0]:g}" if given else "that of the training part"
        return f"the share of predicted positives is {share}"
    if name == "youden":
        return "the largest TPR − FPR"
    if name == "cost":
        return f"the least cost, {given[0]:g} for a false positive and {given[1]:g} for a false negative"
    if name == "fpr":
        return f"the largest TPR with an FPR of at most {given[0]:g}"
    return "as given"


def _check_rule(rule: Any) -> None:
    if isinstance(rule, int | float) and not isinstance(rule, bool) and math.isfinite(rule):
        return
    if isinstance(rule, str) and rule in WORDS:
        return
    if isinstance(rule, str):
        near = did_you_mean(rule, [*WORDS, *NUMBERS])
        raise AuclabError(f"decision.threshold is {rule!r}{near}; it is {_RULES}")
    name, given = (rule[0], rule[1:]) if isinstance(rule, list) and rule else (None, [])
    numbers = [value for value in given if isinstance(value, int | float) and math.isfinite(value)]
    if name not in NUMBERS or len(numbers) != len(given) or len(given) != NUMBERS[name]:
        raise AuclabError(f"decision.threshold is {rule!r}; it is {_RULES}")
    if name == "cost" and (min(numbers) < 0 or max(numbers) == 0):
        raise AuclabError(f"decision.threshold is {rule!r}; costs are numbers ≥ 0, and not both 0")
    if name != "cost" and not 0 <= numbers[0] <= 1:
        raise AuclabError(f"decision.threshold is {rule!r}; the number is a share between 0 and 1")
