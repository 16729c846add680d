"""Records of a data set."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from auclab._core.base import AuclabError
from auclab.datasets.records import Dataset, table_sha256
from auclab.datasets.target import Target

Y = np.array([1, 0, 0])


def test_the_frame_is_the_columns():
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0]})
    assert Dataset("toy", X, Y).frame is X


def test_a_sparse_matrix_is_no_frame():
    with pytest.raises(AuclabError, match="'toy' is a csr_array, not a DataFrame"):
        _ = Dataset("toy", sp.csr_array(np.eye(3)), Y).frame


@pytest.mark.parametrize("y", [[1, 0, 0], Y == 1, np.array([1, -1, -1]), pd.Series([1, 0, 0], index=[2, 0, 1])])
def test_labels_are_taken_in_the_order_of_the_rows(y):
    data = Dataset("toy", np.eye(3), y)
    assert data.y.tolist() == [1, 0, 0]
    assert list(data.X.columns) == ["x0", "x1", "x2"]


def test_numbers_as_names_of_columns_become_text():
    assert list(Dataset("toy", pd.DataFrame(np.eye(3)), Y).X.columns) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (np.eye(4), Y, "X has 4 rows, but there are 3 labels"),
        (np.eye(3), [[1], [0], [0]], "X has 3 rows, but there are 3 × 1 labels"),
        (np.eye(3), ["p", "n", "n"], "labels of a Dataset are 1 and 0, got 'n', 'p'; give y == 'p', say"),
        (np.eye(3), [0, 1, 2], "are 1 and 0, got 0, 1, 2"),
        ([[1.0]] * 3, Y, "X is a list; give a DataFrame, a CSR matrix, or an array with two axes"),
        (np.ones(3), Y, "X is a ndarray; give"),
        (pd.DataFrame(np.eye(3), columns=["a", "1", 1]), Y, "X has two columns named '1'; rename one"),
    ],
)
def test_what_is_no_table_with_a_label_a_row_is_refused(X, y, said):
    with pytest.raises(AuclabError, match=re.escape(f"data set toy: {said}") if said[0] == "X" else re.escape(said)):
        Dataset("toy", X, y)


def test_every_cell_name_and_label_counts_in_the_checksum():
    X = pd.DataFrame({"size": [1.0, np.nan, 3.0], "colour": ["red", None, "blue"]})
    same, others = X.copy(), [X.rename(columns={"size": "width"}), X.fillna({"size": 2.0}), X.assign(colour="red")]
    sums = [table_sha256(each, Target(Y)) for each in (X, same, *others)]
    sums += [table_sha256(X, Target(1 - Y)), table_sha256(sp.csr_array(np.eye(3)), Target(Y))]
    assert sums[0] == sums[1]
    assert len(set(sums)) == 6
