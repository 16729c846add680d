"""A Huber hinge, quadratic up to δ and linear from there on: a loss that is not in the package."""

from dataclasses import dataclass

from auclab.losses import Loss


@dataclass(frozen=True)
class HuberHinge(Loss):
    """``a²/(2δ)`` for 0 < a < δ, ``a − δ/2`` from δ on, 0 below 0."""

    delta: float = 0.5

    symbol = "huber({})"

    def pieces(self):
        return [0.0, self.delta], [[0.0, 0.0, 0.5 / self.delta], [-0.5 * self.delta, 1.0, 0.0]]
