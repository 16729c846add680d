"""Records of a data set."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from auclab._core.base import AuclabError
from auclab.datasets.records import Dataset

Y = np.array([1, 0, 0])


def test_the_frame_is_the_columns():
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0]})
    assert Dataset("toy", X, Y).frame is X


def test_a_sparse_matrix_is_no_frame():
    with pytest.raises(AuclabError, match="'toy' is a csr_array, not a DataFrame"):
        _ = Dataset("toy", sp.csr_array(np.eye(3)), Y).frame
