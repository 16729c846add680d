"""Programs as algebra: Pyomo, CVXPY, and the solvers' own forms."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auclab.models.algebra import build
    from auclab.models.algebraic_model import AlgebraicModel

__all__ = ["AlgebraicModel", "build"]

if not TYPE_CHECKING:  # the languages are imported on first use

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'auclab.models' has no attribute {name!r}")
        from auclab.models import algebra  # which has both

        return getattr(algebra, name)
