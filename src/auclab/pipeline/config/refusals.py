"""What cannot be combined with a baseline, a scorecard or a kernel, in one table."""

from __future__ import annotations

from auclab.types import AuclabError

_OF_BASELINES = "not supported for baselines such as {}, which other libraries fit; leave"
#: For each kind of fit, what it does not support and why; {} is replaced by the name of the formulation.
REFUSED = {
    "baseline": {
        "constraints": f"constraints are {_OF_BASELINES} them out",
        "kernel": f"a kernel is {_OF_BASELINES} it out",
        "tune.tolerance": f"tune.tolerance is {_OF_BASELINES} it out",
        "ranked": "formulation={} is fitted by another library, which compares all rows of two classes; formulation="
        "bauc and ranksvm compare rows within groups, by grades and by times",
        "blocks": "formulation={} is fitted by another library, which needs all rows in memory; dataset=blocks works "
        "with logistic, lda, ranksvm, bauc, csvm and the other convex means of hinges",
    },
    "integer": {
        "kernel": "a kernel is for bauc, ranksvm, csvm and the like, and not for {}",
        "ranked": "formulation={} compares all rows of two classes; formulation=bauc and ranksvm compare rows within "
        "groups, by grades and by times",
        "blocks": "formulation={} needs all rows in memory; use dataset=file and fewer rows",
    },
    "ranked": {
        "class_weight": "class_weight is for two classes, and rows are compared within groups, by grades or by times; "
        "leave it out",
        "max_features": "constraints.max_features is for two classes, and rows are compared within groups, by grades "
        "or by times; leave it out, or use formulation.norm=l1, which uses few columns",
        "decision": "decision.threshold and decision.probability are for two classes, and rows that are compared "
        "within groups, by grades or by times have no labels to predict; leave them out",
        "tuned_kernel": "tune=kernel and a tuned kernel=precomputed are for two classes, and rows are compared within "
        "groups, by grades or by times; set kernel.gamma and tune=penalty, or leave tune out",
    },
    "kernel": {
        "constraints": "constraints are on the coefficients of columns, but a kernel has none; leave one out",
        "blocks": "a kernel needs its rows in memory, and X is in blocks; use fewer rows, or no kernel",
    },
}


def refuse(kind: str, name: str, **given: bool) -> None:
    """Raise `AuclabError` for the first option in use that this kind of fit does not support.

    `kind`: a key of `REFUSED`; other kinds support everything. `name`: of the formulation. `**given`: whether each
    entry of the table is used.

    Examples
    --------
    >>> refuse("integer", "scorecard", class_weight=True)
    >>> refuse("integer", "scorecard", kernel=True)
    Traceback (most recent call last):
        ...
    auclab.types.AuclabError: a kernel is for bauc, ranksvm, csvm and the like, and not for scorecard
    """
    for what, reason in REFUSED.get(kind, {}).items():
        if given.get(what.replace(".", "_")):
            raise AuclabError(reason.format(name))
