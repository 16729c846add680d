"""Every kind of scorer with every use: what works, what makes no difference, what is refused, and why.

`test_matrix` holds the program to this table, and docs/what_works_together.md is written from it by ``page``. What is
in neither `REFUSED` nor `NO_EFFECT` works.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scorer:
    """A row: the settings that choose it, and the package that it needs."""

    name: str
    words: tuple[str, ...]
    needs: str = ""


@dataclass(frozen=True)
class Use:
    """A column.

    Attributes
    ----------
    name : str
    how : str
        What is typed, for the page.
    words : tuple of str
        Settings beside those of the scorer, of a run; or the words of a command, in which ``RUN`` is the stored run,
        ``ROWS`` new rows, and ``OUT`` a file to write.
    needs : str
        A package.
    """

    name: str
    how: str
    words: tuple[str, ...]
    needs: str = ""


@dataclass(frozen=True)
class Refusal:
    """Cells that are refused.

    Attributes
    ----------
    scorers : tuple of str
    uses : tuple of str
    sentence : str
        What the refusal says, as a regular expression.
    why : str
        The reason, for the page.
    """

    scorers: tuple[str, ...]
    uses: tuple[str, ...]
    sentence: str
    why: str


#: Data of which only some pairs of rows are compared: the settings that say which.
_RANKED = {
    "groups": ("dataset.group=shop", "dataset.drop=[day,grade,days,died]"),
    "grades": (
        *("dataset.target=grade", "dataset.positive=null", "dataset.graded=true"),
        "dataset.drop=[shop,day,y,days,died]",
    ),
    "times": ("dataset.target=null", "dataset.time=days", "dataset.event=died", "dataset.drop=[shop,day,y,grade]"),
}
_CARD = ("formulation=scorecard", "preprocess=items", "formulation.max_items=3")
SCORERS = (
    Scorer("bauc", ("formulation=bauc",)),
    Scorer("generalized_bauc", ("formulation=generalized_bauc", "formulation.threshold=-0.1")),
    Scorer("ranksvm", ("formulation=ranksvm",)),
    Scorer("ranksvm, squared", ("formulation=ranksvm", "formulation.squared=true")),
    Scorer("ranksvm, l1", ("formulation=ranksvm", "formulation.norm=l1")),
    Scorer("ranksvm, linf", ("formulation=ranksvm", "formulation.norm=linf")),
    Scorer("csvm", ("formulation=csvm",)),
    Scorer("ecsvm", ("formulation=ecsvm", "formulation.threshold=-0.1")),
    Scorer("partial_auc", ("formulation=partial_auc", "formulation.penalty=0.01")),
    Scorer("elastic_net", ("formulation=elastic_net",)),
    Scorer("group_lasso", ("formulation=group_lasso",)),
    Scorer("group_lasso, named", ("formulation=group_lasso", "formulation.regulariser.groups=[[a,c]]")),
    Scorer("squared hinge", ("formulation=ranksvm", "formulation.loss=squared_hinge")),
    Scorer("exact_auc", ("formulation=exact_auc", "dataset.drop=[b,c,shop,day,grade,days,died]")),
    Scorer("scorecard", _CARD),
    Scorer("scorecard, dates", (*_CARD, "dataset.path=DATED", "preprocess.dates=[year,month,age]")),
    Scorer("kernel", ("formulation=ranksvm", "kernel=rbf")),
    Scorer("logistic", ("formulation=logistic",)),
    Scorer("lda", ("formulation=lda",)),
    Scorer("forest", ("formulation=forest", "formulation.estimator.n_estimators=10")),
    *(
        Scorer(f"{kind}{over}", ("formulation=ranksvm", *data, *kernel))
        for over, kernel in (("", ()), (", kernel", ("kernel=rbf",)))
        for kind, data in _RANKED.items()
    ),
)
#: Uses that are settings of a run.
SETTINGS = (
    Use("constraints", "constraints.nonnegative=[age]", ("constraints.nonnegative=[a]",)),
    Use("at most k columns", "constraints.max_features=2", ("constraints.max_features=1",)),
    Use("class weights", "class_weight=balanced", ("class_weight=balanced",)),
    Use("tuning", "tune=auto", ("tune=auto", "tune.folds=2")),
    Use("folds", "split=kfold", ("split=kfold", "split.n_folds=2")),
    Use("split by group", "split=grouped split.column=shop", ("split=grouped", "split.column=shop")),
    Use("split by time", "split=time split.column=day", ("split=time", "split.column=day")),
    Use("dates", "'preprocess.dates=[year]'", ("dataset.path=DATED", "preprocess.dates=[year]")),
    Use("blocks", "dataset=blocks", ("dataset=blocks", "dataset.path=BLOCKS")),
    Use("Dask", "dataset=blocks engine=dask", ("dataset=blocks", "dataset.path=BLOCKS", "engine=dask"), "distributed"),
    Use("bounds", "bounds=default", ("bounds=default",)),
    Use("decision", "'decision.threshold=[cost,1,5]'", ("decision.threshold=[cost,1,5]",)),
    Use("calibration", "decision.probability=sigmoid", ("decision.probability=sigmoid", "decision.folds=2")),
    Use("inner folds", "inner.folds=2", ("inner.folds=2",)),
)
_LAMBDA = "formulation.penalty=tag(log,interval(1e-3,1))"
#: An adaptive search, and what it searches where the scorer has no λ of this name.
SEARCH = Use("search", f"-m hydra/sweeper=optuna '{_LAMBDA}'", (_LAMBDA,), "optuna")
SEARCHED = {
    "bauc": "preprocess=standard,minmax",
    "generalized_bauc": "formulation.threshold=interval(-0.5,-0.1)",
    "ecsvm": "formulation.threshold=interval(-0.5,-0.1)",
    "elastic_net": "formulation.regulariser.l2=tag(log,interval(1e-3,1))",
    "group_lasso": "formulation.regulariser.weight=tag(log,interval(1e-3,1e-2))",
    "group_lasso, named": "formulation.regulariser.weight=tag(log,interval(1e-3,1e-2))",
    "exact_auc": "preprocess=standard,minmax",
    "scorecard": "formulation.max_items=2,3",
    "scorecard, dates": "formulation.max_items=2,3",
    "logistic": "formulation.C=tag(log,interval(1e-2,10))",
    "lda": "preprocess=standard,minmax",
    "forest": "formulation.estimator.min_samples_leaf=1,2",
}
#: Uses that are commands on a stored run.
COMMANDS = (
    Use("check", "auclab check last", ("check", "RUN")),
    Use("rerun", "auclab rerun last", ("rerun", "RUN")),
    Use("show", "auclab show last --bounds", ("show", "RUN", "--bounds")),
    Use("compare", "auclab compare", ("compare", "--where", "run_id=RUN")),
    Use("report", "auclab report", ("report", "--where", "run_id=RUN", "--out", "OUT.html")),
    Use("predict", "auclab predict last new.csv", ("predict", "RUN", "ROWS", "--out", "OUT.csv")),
    Use("evaluate", "auclab evaluate last new.csv", ("evaluate", "RUN", "ROWS")),
    Use("figures", "auclab show last --figures", ("show", "RUN", "--figures")),
    Use("pyfunc", "mlflow.pyfunc.load_model('runs:/ID/model')", ("pyfunc",)),
    Use("register", "auclab compare --register NAME", ("register",)),
    Use("export json", "auclab export last --to json", ("export", "RUN", "--to", "json", "--out", "OUT.json")),
    Use("export sql", "auclab export last --to sql", ("export", "RUN", "--to", "sql", "--out", "OUT.sql")),
    Use("export onnx", "auclab export last --to onnx", ("export", "RUN", "--to", "onnx", "--out", "OUT.onnx"), "onnx"),
)

#: Uses that are functions of a formulation in Python.
FUNCTIONS = (Use("feature path", "feature_path(formulation, X, y, counts)", ()),)

RANKED = tuple(_RANKED)
RANKED_KERNELS = tuple(f"{kind}, kernel" for kind in RANKED)
CARDS = ("scorecard", "scorecard, dates")
BASELINES = ("logistic", "lda", "forest")
OVER_PAIRS = (
    *("bauc", "generalized_bauc", "ranksvm", "ranksvm, squared", "ranksvm, l1", "ranksvm, linf", "partial_auc"),
    *("elastic_net", "group_lasso", "group_lasso, named", "squared hinge", "exact_auc", *CARDS, "kernel"),
)
#: Cells that work, and say that they make no difference: scorers, use, sentence, reason.
NO_EFFECT = (
    Refusal(
        OVER_PAIRS,
        ("class weights",),
        "class_weight makes no difference to a scorer over pairs",
        "every pair has one row of each class, so the weights cancel",
    ),
    Refusal(
        ("bauc", "exact_auc", *CARDS, "lda"),
        ("tuning",),
        "has no parameter that inner folds could choose",
        "there is no λ, z or other parameter to choose",
    ),
)
REFUSED = (
    Refusal(
        ("partial_auc", "squared hinge"),
        ("at most k columns",),
        "no solver takes .* with max_features: leave max_features out, or use bauc",
        "the branch and bound over columns supports only the hinge over all pairs or points, not other losses or the "
        "hardest negatives",
    ),
    Refusal(
        ("exact_auc",),
        ("constraints", "at most k columns"),
        "exact_auc takes no constraints on w: it counts pairs",
        "exact_auc counts pairs, and no bound over the constrained scorers is known",
    ),
    Refusal(
        CARDS,
        ("at most k columns",),
        "constraints.max_features is not for the items of a scorecard",
        "a scorecard has points for intervals and categories; use `formulation.max_features` to limit their columns",
    ),
    Refusal(
        ("kernel", *RANKED_KERNELS),
        ("constraints", "at most k columns"),
        "constraints are on the coefficients of columns, but a kernel has none",
        "constraints are on the coefficients of columns, and a kernel scorer has no such coefficients",
    ),
    Refusal(
        BASELINES,
        ("constraints", "at most k columns"),
        "constraints are not supported for baselines such as",
        "the libraries that fit the baselines do not support constraints on w",
    ),
    Refusal(
        ("exact_auc", "kernel", "groups, kernel"),
        ("blocks", "Dask"),
        "needs? all rows in memory|needs its rows in memory",
        "the rows must be in memory: these programs have a variable for every row or pair",
    ),
    Refusal(
        ("squared hinge",),
        ("blocks", "Dask"),
        "needs? all rows in memory",
        "rows in blocks are minimised from sums by bins of scores, and their bounds are those of the hinge",
    ),
    Refusal(
        (*CARDS, *BASELINES),
        ("blocks", "Dask"),
        "needs? all rows in memory",
        "the rows must be in memory: the search for points reads all of them thousands of times, and scikit-learn "
        "takes arrays",
    ),
    Refusal(
        ("exact_auc", *CARDS),
        ("check",),
        "not everything could be checked; nothing that was is wrong",
        "the objective is checked, and the points of a scorecard; the bound comes from a search tree and has no "
        "multipliers that prove it",
    ),
    Refusal(
        BASELINES,
        ("check",),
        "the run is a baseline, .* it has no certificate, so there is nothing to check",
        "baselines are fitted by other libraries and have no certificate",
    ),
    Refusal(
        CARDS,
        ("export onnx",),
        "bins of a scorecard, which the ONNX export does not support: export to json or sql",
        "the ONNX graph is a weighted sum of numbers and categories and has no intervals; json and sql have them",
    ),
    Refusal(
        ("kernel", "forest", *RANKED_KERNELS),
        ("export json", "export sql", "export onnx"),
        "is (no|not a) formula over the columns, so that it cannot be exported",
        "the scorer is not a weighted sum of the columns; `auclab predict MODEL ROWS` scores new rows",
    ),
    Refusal(
        RANKED,
        ("at most k columns",),
        "max_features is for two classes, and rows are compared within groups, by grades or by times",
        "the branch and bound over columns supports only pairs or points of two classes; `formulation.norm=l1` uses "
        "few columns",
    ),
    Refusal(
        (*RANKED, *RANKED_KERNELS),
        ("class weights",),
        "class_weight is for two classes, and rows are compared within groups, by grades or by times",
        "the pairs are those of one group, of two grades or of two times, and there are no two classes to weight",
    ),
    Refusal(
        (*RANKED, *RANKED_KERNELS),
        ("decision", "calibration"),
        "within groups, by grades or by times have no labels to predict; leave them out",
        "rows that are compared within groups, by grades or by times have scores, and no labels or probabilities",
    ),
    Refusal(
        ("grades", "times", "grades, kernel", "times, kernel"),
        ("blocks", "Dask"),
        r"^dataset\.(graded|time) compares all rows with each other, and rows in blocks are compared within groups",
        "a step of the solver needs the rows that are compared with each other in memory at once, and these are all "
        "rows; with `dataset.group` they are those of a group",
    ),
    Refusal(
        ("partial_auc", "squared hinge"),
        ("feature path",),
        "no solver takes .* with max_features: leave max_features out, or use bauc",
        "the branch and bound over columns supports only the hinge over all pairs or points",
    ),
    Refusal(
        ("exact_auc",),
        ("feature path",),
        "exact_auc takes no constraints on w: it counts pairs",
        "exact_auc counts pairs, and no bound over the constrained scorers is known",
    ),
    Refusal(
        ("kernel", *RANKED, *RANKED_KERNELS),
        ("feature path",),
        "got an unexpected keyword argument",
        "no such parameter: at most k columns needs coefficients of columns and pairs of two classes",
    ),
    Refusal(
        BASELINES,
        ("feature path",),
        "formulation must be a name .* or an object such as",
        "the libraries that fit the baselines do not support constraints on w",
    ),
)
#: One scorer of every kind that the code of commands tells apart.
KINDS = ("ranksvm, squared", "csvm", "scorecard", "kernel", "logistic", "times")


def refusal_of(scorer: str, use: str) -> Refusal | None:
    """Why a cell is refused; None where it is not."""
    return _entry(REFUSED, scorer, use)


def no_effect_of(scorer: str, use: str) -> Refusal | None:
    """Why a setting makes no difference to a scorer; None where it does."""
    return _entry(NO_EFFECT, scorer, use)


def _entry(table: Iterable[Refusal], scorer: str, use: str) -> Refusal | None:
    found = [each for each in table if scorer in each.scorers and use in each.uses]
    assert len(found) <= 1, f"{scorer} with {use} has several entries"
    return found[0] if found else None
