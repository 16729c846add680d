"""Kernels by name, and from a name or an object to a kernel."""

from __future__ import annotations

from typing import Any

from auclab.kernels.kernel import Kernel
from auclab.kernels.laplacian import Laplacian
from auclab.kernels.polynomial import Polynomial
from auclab.kernels.precomputed import Precomputed
from auclab.kernels.rbf import RBF
from auclab.types import AuclabError
from auclab.validation import check_choice

#: Kernels by the name they have in the configuration, which is scikit-learn's.
KERNELS: dict[str, type[Kernel]] = {kernel.name: kernel for kernel in (RBF, Laplacian, Polynomial, Precomputed)}


def kernel_named(name: str, **parameters: Any) -> Kernel:
    """Return a kernel by its name in `KERNELS`; parameters that the kernel does not have are refused.

    Parameters
    ----------
    name : {"rbf", "laplacian", "polynomial", "precomputed"}
    **parameters
        `gamma`, `degree`, `coef0`.

    Raises
    ------
    AuclabError
        No such kernel, a parameter that it does not have, or a value outside its range.

    See Also
    --------
    as_kernel : Takes an object as well.

    Examples
    --------
    >>> kernel_named("rbf", gamma=0.5), kernel_named("polynomial", degree=2)
    (RBF(gamma=0.5), Polynomial(degree=2, gamma='scale', coef0=1.0))
    """
    check_choice("kernel", name, KERNELS)
    known = KERNELS[name]().get_params()
    if unknown := [key for key in parameters if key not in known]:
        has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
        raise AuclabError(f"kernel {name} has no {unknown[0]}; {has}")
    return KERNELS[name](**parameters)


def as_kernel(kernel: str | Kernel) -> Kernel:
    """Return a kernel, or make one from its name with default parameters.

    Raises
    ------
    AuclabError
        An unknown name, or neither a name nor a kernel.

    See Also
    --------
    kernel_named : With parameters.

    Examples
    --------
    >>> as_kernel("laplacian"), as_kernel(RBF(2.0))
    (Laplacian(gamma='scale'), RBF(gamma=2.0))
    """
    if isinstance(kernel, str):
        return kernel_named(kernel)
    if isinstance(kernel, Kernel):
        return kernel
    raise AuclabError(
        f"kernel must be a name ({', '.join(KERNELS)}) or an object such as RBF(gamma=0.5), got {type(kernel).__name__}"
    )
