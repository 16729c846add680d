"""A fitted pipeline as the formula that `auclab.export.scorer` evaluates, and its coefficients by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from auclab._core.base import Array, AuclabError
from auclab._core.words import WEEKDAYS
from auclab.export.scorer import FORMAT, VERSION, Scorer

#: Row of the constant in ``coefficients.csv``.
INTERCEPT = "(intercept)"

Term = dict[str, Any]


def describe(
    pipeline: Any,
    *,
    coef: Any,
    intercept: float | None,
    columns: Sequence[str],
    threshold: Mapping[str, Any] | None,
    labels: tuple[str, str] | None,
    probability: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The contents of ``scorer.json``: a linear scorer after a preprocessing of `auclab.datasets.preprocess`.

    `pipeline`: the fitted preprocessing, without the scorer. `coef` (n_features,): weights of the prepared features;
    None for a scorer that is not linear in them, which has no formula. `columns`: names of the columns before
    preprocessing. `threshold`: ``rule``, ``value``, and what the rule was given; None of a scorer that ranks and has no
    labels. `labels`: of the negative and the positive class. `probability`: the calibration, see docs/models.md.
    `about`: where the scorer comes from.
    """
    names = [str(name) for name in columns]
    formula: dict[str, Any] = {"columns": [{"name": name, "kind": "any"} for name in names]}
    formula |= {"terms": None, "intercept": None, "ball": None}
    if coef is not None:
        kinds, terms, ball = _prepared(pipeline, names)
        weights = np.asarray(coef, dtype=float)
        if weights.shape != (len(terms),):
            raise AuclabError(f"the preprocessing has {len(terms)} features, and the scorer {weights.size} weights")
        weighted = [{**term, "weight": float(weight)} for term, weight in zip(terms, weights, strict=True)]
        formula["columns"] = [{"name": name, **kinds[name]} for name in names]
        formula |= {"terms": weighted, "intercept": float(intercept or 0.0), "ball": ball}
    return {
        "format": FORMAT,
        "version": VERSION,
        "about": dict(about or {}),
        **formula,
        "probability": None if probability is None else dict(probability),
        "threshold": None if threshold is None else dict(threshold),
        "labels": None if labels is None else list(labels),
    }


@dataclass(frozen=True)
class PreparedColumns:
    """Where the columns of a prepared table come from.

    `names`: of the prepared columns. `sources`: the column of the data of which each is made; a nominal one makes
    several. `scales` (n_features,): by what each was divided: behind `auclab.datasets.preprocess.unit_ball` that is
    what rows inside the ball were divided by.
    """

    names: tuple[str, ...]
    sources: tuple[str, ...]
    scales: Array


def prepared_columns(pipeline: Pipeline, columns: Sequence[str]) -> PreparedColumns:
    """The source and the scale of every prepared column.

    `pipeline`: a fitted preprocessing of `auclab.datasets.preprocess`. `columns`: names of the columns before
    preprocessing.
    """
    _, terms, ball = _prepared(pipeline, [str(name) for name in columns])
    names = tuple(map(str, pipeline.get_feature_names_out()))
    scales = np.array([term["scale"] for term in terms], dtype=float)
    size = ball["radius"] * ball["margin"] if ball else 1.0
    return PreparedColumns(names, tuple(str(term["column"]) for term in terms), scales * size)


def _prepared(
    pipeline: Pipeline, names: Sequence[str]
) -> tuple[dict[str, dict[str, Any]], list[Term], dict[str, float] | None]:
    """Kinds of the columns, a term per prepared feature, and the radius of the ball if there is one."""
    kinds: dict[str, dict[str, Any]] = {name: {"kind": "number", "fill": None} for name in names}
    terms: list[Term] = [{"column": name, "shift": 0.0, "scale": 1.0} for name in names]
    ball = None
    for _, step in pipeline.steps:
        what = type(step).__name__
        if what == "ColumnTransformer":
            terms = _encoded(step, names, kinds)
        elif what == "ItemEncoder":
            terms = _of_items(step, names, kinds)
        elif what in ("VaryingColumns", "VarianceThreshold"):
            terms = [term for term, varies in zip(terms, step.get_support(), strict=True) if varies]
        elif what == "UnitBall":
            ball = {"radius": float(step.radius_), "margin": 1.0 + (len(terms) + 4) * float(np.finfo(float).eps)}
        elif what != "FunctionTransformer" or step.func is not None:  # which hands sparse data on
            shift, scale = _scaling(step, len(terms))
            terms = [
                {**term, "shift": float(by), "scale": float(to)}
                for term, by, to in zip(terms, shift, scale, strict=True)
            ]
    return kinds, terms, ball


def _encoded(transformer: Any, names: Sequence[str], kinds: dict[str, dict[str, Any]]) -> list[Term]:
    """Terms of a fitted `ColumnTransformer`; the kinds of its columns are entered into `kinds`."""
    terms: list[Term] = []
    used: set[str] = set()
    for _, part, columns in transformer.transformers_:
        if isinstance(part, str):
            if part == "drop" or not len(columns):
                continue
            raise _unknown(transformer)
        columns = [name if isinstance(name, str) else names[name] for name in columns]
        used.update(columns)
        what = type(part).__name__
        if what == "MedianImputer":
            for name, fill in zip(columns, part.statistics_, strict=True):
                kinds[name] = {"kind": "number", "fill": float(fill)}
                terms.append({"column": name})
        elif what == "DateFeatures":
            terms += _of_dates(part, kinds)
        elif what == "MissingColumns":
            terms += [{"column": name, "missing": True} for name in part.with_gaps_]
        elif isinstance(part, Pipeline) and type(part[-1]).__name__ == "OneHotEncoder":
            terms += _of_categories(columns, part[-2], part[-1], kinds)
        else:
            raise _unknown(part)
    for name in set(names) - used:
        kinds[name] = {"kind": "unused"}
    return [{**term, "shift": 0.0, "scale": 1.0} for term in terms]


def _of_categories(columns: Sequence[str], imputer: Any, encoder: Any, kinds: dict[str, dict[str, Any]]) -> list[Term]:
    """A term for each category; of those that are pooled, one for all values that have none of their own."""
    terms: list[Term] = []
    pooled = getattr(encoder, "infrequent_categories_", [None] * len(columns))
    for name, fill, values, rare in zip(columns, imputer.statistics_, encoder.categories_, pooled, strict=True):
        kinds[name] = {"kind": "category", "fill": str(fill)}
        own = [str(value) for value in values if rare is None or value not in set(rare)]
        terms += [{"column": name, "value": value} for value in own]
        if rare is not None:
            if encoder.handle_unknown != "infrequent_if_exist":
                raise _unknown(encoder)
            terms.append({"column": name, "other_than": own})
    return terms


def _of_items(encoder: Any, names: Sequence[str], kinds: dict[str, dict[str, Any]]) -> list[Term]:
    """Terms of `auclab.scorecards.ItemEncoder`: bins, categories, gaps; a gap is in no bin and no category."""
    terms: list[Term] = []
    categories: dict[str, set[str]] = {}
    for name in names:
        dated = name in encoder.formats_
        kinds[name] = {"kind": "date", "fill": None, "format": encoder.formats_[name]} if dated else {"kind": "unused"}
    for item in encoder.items_:
        name = names[item.feature]
        of_part = {} if item.part is None else {"part": item.part}
        if item.latest is not None:
            of_part["latest"] = item.latest
        if item.part is not None and item.category is not None:
            number = int(item.category) if item.part == "month" else WEEKDAYS.index(item.category)
            terms.append({"column": name, **of_part, "value": number})
        elif item.category is not None:
            categories.setdefault(name, set()).add(item.category)
            terms.append({"column": name, "value": item.category})
        elif item.missing:
            terms.append({"column": name, "missing": True})
        else:
            if item.part is None:
                kinds[name] = {"kind": "bins", "fill": None}
            terms.append({"column": name, **of_part, "at_least": item.low, "below": item.high})
    for name, values in categories.items():
        # A text that is not a category stands for a gap.
        kinds[name] = {
            "kind": "category",
            "fill": next("?" * k for k in range(len(values) + 2) if "?" * k not in values),
        }
    for term in terms:  # of a column that has an item for its gaps alone
        if kinds[term["column"]]["kind"] == "unused":
            kinds[term["column"]] = {"kind": "category", "fill": ""}
    return [{**term, "shift": 0.0, "scale": 1.0} for term in terms]


def _of_dates(features: Any, kinds: dict[str, dict[str, Any]]) -> list[Term]:
    """Terms of `auclab.datasets.steps.DateFeatures`, column after column."""
    terms: list[Term] = []
    for name, latest, median in zip(features.feature_names_in_, features.latest_, features.median_, strict=True):
        name = str(name)
        kinds[name] = {"kind": "date", "fill": median, "format": (features.formats or {}).get(name)}
        for part in features.parts:
            if part == "age":
                terms.append({"column": name, "part": part, "latest": latest})
            elif part == "year":
                terms.append({"column": name, "part": part})
            else:
                numbers = range(1, 13) if part == "month" else range(7)
                terms += [{"column": name, "part": part, "value": number} for number in numbers]
    return terms


def _scaling(step: Any, count: int) -> tuple[Any, Any]:
    """``(x − shift)/scale`` of a fitted scaler."""
    what = type(step).__name__
    zeros, ones = np.zeros(count), np.ones(count)
    if what == "ColumnScaler":
        return step.shift_, step.scale_
    if what == "StandardScaler":
        return (step.mean_ if step.with_mean else zeros), (step.scale_ if step.with_std else ones)
    if what == "MaxAbsScaler":
        return zeros, step.scale_
    raise _unknown(step)


def _unknown(step: Any) -> AuclabError:
    return AuclabError(
        f"{type(step).__name__} has no formula over the columns of the data; those of preprocess=standard, minmax, "
        "unit_ball and none have"
    )


def scorer_of(
    model: Any,
    *,
    columns: Sequence[str] | None = None,
    labels: tuple[str, str] | None = None,
    about: Mapping[str, Any] | None = None,
) -> Scorer:
    """A fitted linear classifier with its preprocessing, as a formula over the original columns.

    The formula is text: `auclab.export.writers.export_scorer` writes it as JSON, SQL or ONNX, `Scorer.read` reads it
    without the classifier or scikit-learn, and `auclab.export.formula.effects` explains it.

    The score is ``Σ_k coef_k u_k`` without an intercept; the threshold is minus the intercept of the classifier, so
    that the labels are those of its `predict`. Probabilities are those of the `calibration` of an `AUCClassifier`.

    Parameters
    ----------
    model : estimator
        A fitted binary classifier with `coef_`, such as `auclab.estimators.AUCClassifier`, or a pipeline that ends in
        one, behind steps of `auclab.datasets.preprocess` or scalers of scikit-learn.
    columns : sequence of str, optional
        Names of the columns; by default those seen in `fit`, or x0, x1, …
    labels : (str, str), optional
        Labels of the negative and of the positive class; by default those seen in `fit`.
    about : mapping, optional
        Origin of the scorer, stored with it.

    Raises
    ------
    AuclabError
        A classifier without coefficients, such as a kernel classifier; a step without a formula; a wrong number of
        columns.

    See Also
    --------
    auclab.runs.load_scorer : The scorer of a recorded run.

    Examples
    --------
    >>> from auclab.estimators import AUCClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> X, y = [[0.0], [4.0], [6.0], [10.0]], ["no", "no", "yes", "yes"]
    >>> model = make_pipeline(MaxAbsScaler(), AUCClassifier("bauc", decision_threshold=2.5)).fit(X, y)
    >>> scorer = scorer_of(model)                         # the smallest margin is 1: w (6 − 4)/10
    >>> new = np.array([[4.0], [6.0]])
    >>> scorer.columns, scorer.threshold, scorer.score(new).round(9).tolist()
    (('x0',), 2.5, [2.0, 3.0])
    >>> scorer.predict(new)["label"].tolist(), model.predict(new).tolist()
    (['no', 'yes'], ['no', 'yes'])
    """
    steps = list(_steps(model))
    before, classifier = steps[:-1], steps[-1]
    check_is_fitted(classifier)
    coef: Any = getattr(classifier, "coef_", None)
    classes: Any = getattr(classifier, "classes_", ())
    if coef is None or np.shape(coef)[:-1] != (1,) or len(classes) != 2:
        raise AuclabError(
            f"{type(classifier).__name__} has no coefficients of a binary classifier, so that it is not a formula over "
            "the columns; keep the model itself, for instance with skops or joblib"
        )
    if columns is None:
        columns = getattr(model, "feature_names_in_", None)
        columns = [f"x{k}" for k in range(model.n_features_in_)] if columns is None else [str(name) for name in columns]
    elif len(columns) != model.n_features_in_:
        raise AuclabError(f"the model has {model.n_features_in_} columns, and {len(columns)} names were given")
    threshold = -float(np.ravel(classifier.intercept_)[0])
    calibration = getattr(classifier, "calibration_", None) if getattr(classifier, "calibration", None) else None
    description = describe(
        Pipeline([(str(k), step) for k, step in enumerate(before)] or [("as_given", FunctionTransformer())]),
        coef=coef[0],
        intercept=0.0,
        columns=columns,
        threshold={"rule": getattr(classifier, "decision_threshold", "intercept"), "value": threshold},
        labels=(str(classes[0]), str(classes[1])) if labels is None else labels,
        probability=None if calibration is None else calibration.in_units(1.0, threshold).as_dict(),
        about=about,
    )
    return Scorer(description)


def _steps(model: Any) -> Iterator[Any]:
    """The steps of a pipeline and of the pipelines in it."""
    if not isinstance(model, Pipeline):
        yield model
        return
    for _, step in model.steps:
        if step not in (None, "passthrough"):
            yield from _steps(step)


@dataclass(frozen=True)
class Effects:
    """A linear scorer in the units of the user's columns.

    The score of a row is `base`, plus the ``effect`` times the value for each number, plus the ``effect`` of the
    category, month or weekday that the row has, and of a value that is missing. Effects of categories, months and
    weekdays are measured from their mean over the training part, so that no category has to be one of reference; a
    category that has none adds minus that mean.

    `table`: a row per prepared feature, in their order: ``column``; ``value``, which category or part of a date (empty
    for a number); ``effect``; ``share`` of the column. `base`: the constant. `shares`: by column, ``σ_j / Σ σ`` with
    the standard deviation σ_j of what the column, all its features together, adds to the scores of the training part;
    the largest first. Of columns that cancel each other, both have a large share.
    """

    table: pd.DataFrame
    base: float
    shares: pd.Series


def effects(scorer: Scorer, X: Any) -> Effects:
    """Coefficients of a scorer in the units of the columns.

    Behind `auclab.datasets.preprocess.unit_ball` they are those of rows inside the ball, which are not projected.

    `X` (n_rows, n_columns): rows of the training part.
    """
    ball = scorer.description.get("ball")
    size = ball["radius"] * ball["margin"] if ball else 1.0
    terms = scorer.description["terms"]
    deviations, means = _of_sparse(scorer, X) if hasattr(X, "tocsr") else _of_table(scorer, X)
    slopes = np.array([term["weight"] / term["scale"] for term in terms]) / size
    shifts = np.array([term["shift"] for term in terms])
    groups = [_group(term) for term in terms]
    centres = {group: 0.0 for group in groups if group is not None}
    for group, slope, mean in zip(groups, slopes, means, strict=True):
        if group is not None:
            centres[group] += slope * mean
    table = pd.DataFrame(
        {
            "column": [str(term["column"]) for term in terms],
            "value": [_value(term) for term in terms],
            "effect": [
                slope - (0.0 if group is None else centres[group]) for group, slope in zip(groups, slopes, strict=True)
            ],
        }
    )
    base = scorer.intercept - float(slopes @ shifts) + sum(centres.values())
    total = deviations.sum()
    shares = (deviations / total if total > 0 else deviations).sort_values(ascending=False, kind="stable")
    return Effects(table.assign(share=table["column"].map(shares).to_numpy(dtype=float)), float(base), shares)


def _of_table(scorer: Scorer, X: Any) -> tuple[pd.Series, np.ndarray]:
    """Standard deviations of what the columns add, and the mean of every feature before scaling."""
    table = scorer.table(X)
    means: dict[int, float] = {}
    deviations = {}
    for column in scorer.parts:
        if not column.terms:
            continue
        added = np.zeros(len(table))
        for term, values, codes in column.features(table):
            feature = values[codes]
            means[id(term)] = float(np.mean(feature))
            added += term["weight"] / term["scale"] * (feature - term["shift"])
        deviations[column.name] = float(np.std(added))
    return pd.Series(deviations, dtype=float), np.array([means[id(term)] for term in scorer.description["terms"]])


def _of_sparse(scorer: Scorer, X: Any) -> tuple[pd.Series, np.ndarray]:
    """The same of a CSR matrix, which is not filled."""
    place = {name: at for at, name in enumerate(scorer.columns)}
    columns = np.array([place[str(term["column"])] for term in scorer.description["terms"]], dtype=int)
    slopes = np.array([term["weight"] / term["scale"] for term in scorer.description["terms"]])
    matrix = X.tocsr()
    mean = np.asarray(matrix.mean(axis=0)).ravel()[columns]
    square = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel()[columns]
    deviation = np.abs(slopes) * np.sqrt(np.maximum(square - mean**2, 0.0))
    return pd.Series(deviation, index=[scorer.columns[at] for at in columns], dtype=float), mean


def _group(term: Mapping[str, Any]) -> tuple[str, str] | None:
    """Features of which a row has one; None for numbers and for gaps."""
    if "value" in term or "other_than" in term or "at_least" in term:
        return str(term["column"]), str(term.get("part", ""))
    return None


def _value(term: Mapping[str, Any]) -> str:
    """What a feature stands for, in words; empty for the number of a column."""
    if "missing" in term:
        return "missing"
    if "other_than" in term:
        return "any other"
    if "at_least" in term:
        low, high = term["at_least"], term["below"]
        return f"< {high:.6g}" if low is None else f"≥ {low:.6g}" if high is None else f"{low:.6g} to < {high:.6g}"
    if "part" in term:
        number = term.get("value")
        if term["part"] == "weekday":
            return f"weekday {WEEKDAYS[int(str(number))]}"
        return str(term["part"]) + ("" if number is None else f" {number}")
    return str(term.get("value", ""))
