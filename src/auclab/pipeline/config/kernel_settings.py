"""The group ``kernel``: the kernel of a nonlinear scorer, and how its space is searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auclab.kernels import Kernel

#: The parameters of each kernel: γ, degree, c₀.
_OF_KERNELS = ("gamma", "degree", "coef0")


@dataclass(frozen=True)
class KernelConfig:
    """A kernel and how its space is searched; the parameters are those of `auclab.solvers.kernel.solve.solve_kernel`.

    `name`: ``none``, or a name of `auclab.kernels.KERNELS`. `gamma`: a number > 0, ``scale`` or ``auto``. `tolerance`:
    relative gap, > 0; used instead of the solver's, which is for linear scorers. `method`: ``landmarks``,
    ``nystroem`` or ``random``. `random_state`: of the random methods, ≥ 0.
    """

    name: str = "none"
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 1.0
    tolerance: float = 1e-3
    method: str = "landmarks"
    max_landmarks: int | None = None
    memory_gb: float = 2.0
    random_state: int = 0

    def kernel(self) -> Kernel:
        """The kernel, with the parameters that apply to it."""
        from auclab.kernels import as_kernel, kernel_named

        known = as_kernel(self.name).get_params()
        return kernel_named(self.name, **{key: getattr(self, key) for key in known})

    def taking(self, kernel: Kernel) -> KernelConfig:
        """These settings with the γ of the selected kernel."""
        gamma = kernel.get_params().get("gamma")
        return self if gamma is None else replace(self, gamma=gamma)

    @property
    def options(self) -> dict[str, Any]:
        """Further arguments of `auclab.solve` for kernels."""
        names = ("method", "max_landmarks", "memory_gb", "random_state")
        return {name: getattr(self, name) for name in names}


def resolve_kernel(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that apply to the kernel; empty without one.

    Examples
    --------
    >>> resolve_kernel({"name": "none", "gamma": "scale"})
    {}
    >>> resolve_kernel({"name": "rbf", "gamma": 0.5, "degree": 3, "coef0": 1.0, "method": "landmarks"})
    {'name': 'rbf', 'gamma': 0.5, 'method': 'landmarks'}
    """
    if str(given.get("name", "none")) == "none":
        return {}
    has = {"polynomial": _OF_KERNELS, "precomputed": ()}.get(str(given["name"]), ("gamma",))
    left_out = {*(key for key in _OF_KERNELS if key not in has)}
    if str(given.get("method", "landmarks")) == "landmarks":
        left_out.add("random_state")
    return {key: value for key, value in given.items() if key not in left_out}
