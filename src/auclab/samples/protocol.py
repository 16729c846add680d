"""The operations on labelled rows that programs, solvers and proofs use, for dense, CSR and blockwise rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from numpy.typing import NDArray

from auclab._core.base import Array

#: A sum as ``high + low``, and a bound of its error.
Sums = tuple[Array, Array, Array]


class Rows(Protocol):
    """Rows x_i⁺ with weights u_i, and x_j⁻ with weights v_j; in memory or not, dense or not.

    `auclab.samples.memory.Sample` (arrays, CSR matrices, the columns of a kernel's span) and
    `auclab.samples.blocks.block_sample.BlockSample` implement it. What it returns is in memory; a method costs a pass
    over the rows. Methods that need the rows themselves take ``X_pos`` and ``X_neg`` of a `Sample`, or `take` some.
    """

    @property
    def n_pos(self) -> int:
        """Number of positives."""

    @property
    def n_neg(self) -> int:
        """Number of negatives."""

    @property
    def n_pairs(self) -> int:
        """Number of pairs that are compared."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def n_entries(self) -> int:
        """Number of entries that a pass reads."""

    @property
    def in_blocks(self) -> bool:
        """Whether every pass reads the rows again, so that methods with few passes are preferred."""

    @property
    def is_sparse(self) -> bool:
        """Whether most entries are 0 and not stored, so that methods that keep them 0 are preferred."""

    @property
    def drawn(self) -> Rows | None:
        """Rows in memory, drawn from a very large sample for the start of a solve; None otherwise."""

    @property
    def weights(self) -> tuple[Array | None, Array | None]:
        """Arrays u and v, either with sum 1; None where all weights are equal."""

    @property
    def point_weights(self) -> tuple[Array, Array]:
        """Weights of the rows as points of one sample; together they sum to 1."""

    @property
    def offset(self) -> Array | None:
        """The row subtracted from every row, without rounding; None for zeros."""

    @property
    def mean_difference(self) -> Array:
        """``Σ u_i x_i⁺ − Σ v_j x_j⁻``."""

    @property
    def spread(self) -> Array:
        """A positive scale for every column, about its standard deviation within the classes."""

    @property
    def peaks(self) -> Array:
        """The largest modulus in every column."""

    def scores(self, coef: Array) -> tuple[Array, Array]:
        """``w·x`` of the positives and of the negatives."""

    def combine(self, multipliers_pos: Array, multipliers_neg: Array) -> Array:
        """``Σ_i α_i x_i⁺ − Σ_j β_j x_j⁻``."""

    def accurate_sums(self, pos: Array, neg: Array) -> tuple[Sums, Sums]:
        """``Σ_i α_i x_i⁺`` and ``Σ_j β_j x_j⁻``, in twice the working precision."""

    def gram(self, weight_pos: Array, weight_neg: Array) -> Array:
        """``Σ_i a_i x_i⁺x_i⁺ᵀ + Σ_j b_j x_j⁻x_j⁻ᵀ`` for weights ≥ 0."""

    def radii(self, lengths: Callable[[Array], Array]) -> tuple[float, float]:
        """The largest distance of a positive, and of a negative, from the mean of all rows, in a norm of rows."""

    def take(self, rows_pos: NDArray[Any], rows_neg: NDArray[Any]) -> tuple[Any, Any]:
        """The rows of either class with these numbers, in memory and in their order; numbers may repeat."""

    def join(self, values_pos: Array, values_neg: Array) -> Array:
        """Values of either class in the order of the data; without a pass."""
