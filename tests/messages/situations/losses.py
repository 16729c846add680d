"""What the table of the losses may use: a loss made of any table of pieces, right or wrong."""

from dataclasses import dataclass

from auclab.losses.loss import Loss


@dataclass(frozen=True)
class Pieced(Loss):
    """Breakpoints, and the three coefficients of each piece."""

    breakpoints: tuple[float, ...]
    rows: tuple[tuple[float, float, float], ...]

    symbol = "ℓ({})"

    def pieces(self) -> tuple[tuple[float, ...], tuple[tuple[float, float, float], ...]]:
        """As they were given."""
        return self.breakpoints, self.rows
