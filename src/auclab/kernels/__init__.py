"""Kernel functions of reproducing-kernel spaces: the names and parameters of scikit-learn."""

from auclab.kernels.kernel import KERNELS, RBF, Kernel, Laplacian, Polynomial, Precomputed, as_kernel, kernel_named

__all__ = ["KERNELS", "RBF", "Kernel", "Laplacian", "Polynomial", "Precomputed", "as_kernel", "kernel_named"]
