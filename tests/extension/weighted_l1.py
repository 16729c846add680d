"""A weighted l1 norm, ``Σ c_k abs(w_k)``: a regulariser that is not in the package."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from auclab.regularisers import Epigraph, VectorNorm


@dataclass(frozen=True)
class WeightedL1(VectorNorm):
    """``Σ c_k abs(w_k)``, c a weight for each column, positive."""

    weights: tuple[float, ...]

    name, symbol, is_absolute = "weighted_l1", "‖c∘w‖₁", True

    @property
    def c(self):
        return np.asarray(self.weights, dtype=float)

    def __call__(self, w):
        return float(self.c @ abs(w))

    def dual(self, g):
        return float((abs(g) / self.c).max(initial=0.0))

    def subgradient(self, w):
        return self.c * np.sign(w)

    def epigraph(self, unit):
        identity = sp.eye_array(unit.size)
        total = [None, [[-1.0]], sp.csr_array((self.c * unit)[None, :])]  # Σ c_k unit_k u_k ≤ t
        return Epigraph.polyhedral([identity, None, -identity], [-identity, None, -identity], total)

    def dual_box(self, n_features):
        return self.c

    def restricted(self, columns):
        return WeightedL1(tuple(self.c[columns]))
