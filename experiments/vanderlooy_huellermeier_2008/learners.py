"""The three learners of Sect. 4 as near to Weka's as scikit-learn and SciPy come; README.md names what differs.

All of them give a probability of the positive class, because sAUC, softAUC and probAUC depend on the scale.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from auclab.datasets import load

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: Least probability of a value, so that one value cannot decide alone.
_FLOOR = 1e-75
#: Weka's ridge on the squared weights of standardised columns is 1e-8; scikit-learn divides by twice of it.
_INVERSE_PENALTY = 1 / 2e-8


@dataclass(frozen=True)
class Table:
    """A data set in the forms that the learners read.

    `codes`, shape (rows, features), counts the distinct values of a feature upwards, −1 where it is missing; `values`
    has them for numeric features, empty for nominal ones. `columns`, shape (rows, columns), has nominal features as
    indicators (one for two values) and NaN where missing; `owner` is the feature of a column.
    """

    labels: Mask
    codes: Integers
    values: tuple[Floats, ...]
    columns: Floats
    owner: Integers

    @property
    def n_features(self) -> int:
        """Features before any is removed."""
        return self.codes.shape[1]


def read_table(name: str) -> Table:
    """A data set of `auclab.datasets` by its name."""
    data = load(name)
    codes, values, blocks = [], [], []
    for column in data.frame.columns:
        series = data.frame[column]
        own, distinct = series.factorize(sort=True)
        nominal = column in data.nominal
        if nominal:
            indicators = np.eye(len(distinct))[:, int(len(distinct) == 2) :]
            block = np.where((own >= 0)[:, None], indicators[own], np.nan)
        else:
            block = series.to_numpy(float)[:, None]
        codes.append(own)
        values.append(np.empty(0) if nominal else np.asarray(distinct, dtype=float))
        blocks.append(block)
    owner = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
    return Table(np.asarray(data.y) > 0, np.column_stack(codes), tuple(values), np.hstack(blocks), owner)


def fill(table: Table, train: Integers) -> Floats:
    """Columns with what is missing set to the mean of a numeric feature, the mode of a nominal one, in `train`."""
    columns = table.columns
    lacking = np.flatnonzero(np.isnan(columns).any(axis=0))
    if not lacking.size:
        return columns
    columns = columns.copy()
    for feature in np.unique(table.owner[lacking]):
        own = np.flatnonzero(table.owner == feature)
        observed = train[table.codes[train, feature] >= 0]
        if table.values[feature].size:
            typical = columns[np.ix_(observed, own)].mean(axis=0) if observed.size else np.zeros(1)
        else:
            mode = np.bincount(table.codes[observed, feature], minlength=1).argmax()
            typical = columns[np.argmax(table.codes[:, feature] == mode), own]
        columns[np.ix_(table.codes[:, feature] < 0, own)] = typical
    return columns


class NaiveBayes:
    """Naive Bayes with a Gaussian kernel at every value of a numeric feature, Laplace's counts for nominal ones.

    `evidence`, shape (rows, features), is log P(value | positive) − log P(value | negative): a classifier without
    some of the features is a sum without some of the columns. A missing value is no evidence.
    """

    def __init__(self, table: Table, train: Integers, rows: Integers) -> None:
        labels = table.labels[train]
        self.prior = float(np.log((labels.sum() + 1) / ((~labels).sum() + 1)))
        self.evidence = np.zeros((len(rows), table.n_features))
        for feature, values in enumerate(table.values):
            codes = table.codes[:, feature]
            requested, where = np.unique(codes[rows], return_inverse=True)
            observed = requested >= 0
            tallies = np.zeros((2, int(codes.max()) + 1))
            for tally, members in zip(tallies, (train[labels], train[~labels]), strict=True):
                np.add.at(tally, codes[members][codes[members] >= 0], 1)
            probabilities = kernel_masses(values, tallies, requested[observed]) if values.size else frequencies(tallies)
            found = probabilities if values.size else probabilities[:, requested[observed]]
            logs = np.log(np.maximum(found, _FLOOR))
            by_value = np.zeros(len(requested))
            by_value[observed] = logs[0] - logs[1]
            self.evidence[:, feature] = by_value[where]

    def scores(self, kept: Mask) -> Floats:
        """Probability of the positive class by the features that are `kept`."""
        return expit(self.prior + self.evidence @ kept)


def frequencies(tallies: Floats) -> Floats:
    """Shares of the values, a row per class, each counted once more than it occurs.

    Examples
    --------
    >>> frequencies(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])).round(2).tolist()
    [[0.33, 0.17, 0.5], [0.33, 0.33, 0.33]]
    """
    return (tallies + 1) / (tallies.sum(axis=1, keepdims=True) + tallies.shape[1])


def kernel_masses(values: Floats, tallies: Floats, requested: Integers) -> Floats:
    """Mass that the kernels of a class put on the interval of a value, shape (classes, requested).

    The interval is as long as the mean gap p between distinct training values, of both classes; a kernel's standard
    deviation is the range of its class over √n of its class, at least p/6: the choices of Weka's naive Bayes.
    """
    seen = values[tallies.sum(axis=0) > 0]
    gap = (seen[-1] - seen[0]) / (len(seen) - 1) if len(seen) > 1 else 0.01
    masses = np.empty((len(tallies), len(requested)))
    for mass, tally in zip(masses, tallies, strict=True):
        own = values[tally > 0]
        if not own.size:  # a class without a value: Weka keeps one kernel at 0
            mass[:] = np.diff(ndtr((values[requested, None] + [-gap / 2, gap / 2]) / (gap / 6)))[:, 0]
            continue
        width = max((own[-1] - own[0]) / np.sqrt(tally.sum()), gap / 6)
        distance = np.abs(np.subtract.outer(values[requested], own))  # in the tail both terms are small, none near 1
        each = ndtr((gap / 2 - distance) / width) - ndtr((-gap / 2 - distance) / width)
        mass[:] = each @ tally[tally > 0] / tally.sum()
    return masses


@dataclass(frozen=True)
class Leaves:
    """Counts of both classes in the leaf of every row: an unpruned tree, with or without Laplace's correction."""

    positive: Floats
    total: Floats

    @classmethod
    def of(cls, table: Table, columns: Floats, train: Integers, rows: Integers, kept: Mask) -> Leaves:
        """Grow a tree by entropy on binary splits, at least two rows a leaf (J48's own minimum)."""
        part = columns[:, kept[table.owner]].astype(np.float32)
        tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
        tree.fit(part[train], table.labels[train])
        leaf = tree.apply(part)
        total = np.bincount(leaf[train], minlength=tree.tree_.node_count)
        positive = np.bincount(leaf[train], table.labels[train], minlength=tree.tree_.node_count)
        return cls(positive[leaf[rows]], total[leaf[rows]].astype(float))

    def scores(self, laplace: bool = True) -> Floats:
        """Share of the positives in the leaf, with one more of either class if corrected.

        Examples
        --------
        >>> leaves = Leaves(np.array([2.0, 0.0]), np.array([2.0, 6.0]))
        >>> leaves.scores().tolist(), leaves.scores(laplace=False).tolist()
        ([0.75, 0.125], [1.0, 0.0])
        """
        return (self.positive + laplace) / (self.total + 2 * laplace)


def logistic_scores(table: Table, columns: Floats, train: Integers, rows: Integers, kept: Mask) -> Floats:
    """Probabilities of logistic regression with Weka's ridge on standardised columns, constant ones left out."""
    part = columns[:, kept[table.owner]]
    centre, spread = part[train].mean(axis=0), part[train].std(axis=0)
    useful = spread > 1e-12 * (1 + np.abs(centre))
    part = (part[:, useful] - centre[useful]) / spread[useful]
    model = LogisticRegression(C=_INVERSE_PENALTY, solver="newton-cholesky", max_iter=200)
    with warnings.catch_warnings():  # separable classes: it warns and goes on with L-BFGS
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(part[train], table.labels[train])
    return expit(part[rows] @ model.coef_[0] + model.intercept_[0])
