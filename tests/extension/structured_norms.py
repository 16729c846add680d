"""Norms whose value depends on the signs of the entries: ``‖Fw‖₁`` (such as the fused lasso) and ``‖Lw‖₂``."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from auclab.regularisers import Epigraph, VectorNorm


class AnalysisL1(VectorNorm):
    """``‖Fw‖₁``, F of full column rank; ``‖g‖_* = min ‖u‖_∞`` over ``Fᵀu = g``, a linear program."""

    name, symbol = "analysis_l1", "‖Fw‖₁"

    def __init__(self, F):
        self.F = np.asarray(F, dtype=float)

    def __call__(self, w):
        return float(abs(self.F @ w).sum())

    def dual(self, g):
        rows, columns = self.F.shape
        scale = float(abs(g).max(initial=0.0))
        if scale == 0:
            return 0.0
        one = np.ones((rows, 1))
        limits = np.block([[np.eye(rows), -one], [-np.eye(rows), -one]])
        equal = np.c_[self.F.T, np.zeros(columns)]
        cost = np.r_[np.zeros(rows), 1.0]
        found = linprog(cost, A_ub=limits, b_ub=np.zeros(2 * rows), A_eq=equal, b_eq=g / scale, bounds=(None, None))
        # Moved onto the equations: an upper bound of the minimum, however inexact the program was solved.
        u = found.x[:-1] + self.F @ np.linalg.solve(self.F.T @ self.F, g / scale - self.F.T @ found.x[:-1])
        return scale * float(abs(u).max())

    def subgradient(self, w):
        return self.F.T @ np.sign(self.F @ w)

    def epigraph(self, unit):
        F = sp.csr_array(self.F * unit)
        identity = sp.eye_array(len(self.F))
        total = [None, [[-1.0]], np.ones((1, len(self.F)))]
        return Epigraph.polyhedral([F, None, -identity], [-F, None, -identity], total)

    def restricted(self, columns):
        return AnalysisL1(self.F[:, columns])


class FusedLasso(AnalysisL1):
    """``Σ abs(w_k) + c Σ abs(w_k − w_{k+1})``."""

    name, symbol = "fused_lasso", "‖w‖₁ + c‖Dw‖₁"

    def __init__(self, n_features, c):
        self.c = c
        super().__init__(np.vstack([np.eye(n_features), c * np.diff(np.eye(n_features), axis=0)]))


class Mahalanobis(VectorNorm):
    """``‖Lw‖₂``, L invertible; ``‖g‖_* = ‖L⁻ᵀg‖₂``."""

    name, symbol, is_polyhedral = "mahalanobis", "‖Lw‖₂", False

    def __init__(self, L):
        self.L = np.asarray(L, dtype=float)

    def __call__(self, w):
        return float(np.linalg.norm(self.L @ w))

    def dual(self, g):
        return float(np.linalg.norm(np.linalg.solve(self.L.T, g)))

    def subgradient(self, w):
        v = self.L @ w
        return self.L.T @ v / np.linalg.norm(v) if v.any() else np.zeros_like(w)

    def epigraph(self, unit):
        n = len(self.L)
        cone = sp.block_array([[None, [[1.0]]], [sp.csr_array(self.L * unit), None]], format="csr")
        return Epigraph(sp.csr_array((0, n + 1)), cone, [n + 1])

    def restricted(self, columns):
        return Mahalanobis(np.linalg.qr(self.L[:, columns])[1])
