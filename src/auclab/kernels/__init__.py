"""Kernel functions of reproducing-kernel spaces: the names and parameters of scikit-learn."""

from auclab.kernels.kernel import Kernel
from auclab.kernels.laplacian import Laplacian
from auclab.kernels.named import KERNELS, as_kernel, kernel_named
from auclab.kernels.polynomial import Polynomial
from auclab.kernels.precomputed import Precomputed
from auclab.kernels.rbf import RBF

__all__ = ["KERNELS", "RBF", "Kernel", "Laplacian", "Polynomial", "Precomputed", "as_kernel", "kernel_named"]
