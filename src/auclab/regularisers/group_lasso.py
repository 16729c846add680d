"""The group lasso, ``R(w) = λ Σ_G √abs(G) ‖w_G‖₂``, and its norm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.tolerances import TOLERANCE
from auclab.regularisers.norms import Epigraph, VectorNorm
from auclab.regularisers.regulariser import Norm, Regulariser, check_weight


@dataclass(frozen=True)
class GroupLasso(Regulariser):
    """``R(w) = λ Σ_G √abs(G) ‖w_G‖₂``: the columns of a group are selected together.

    Its scale, the λ of paths and tuning (`penalty`), is `weight`. ``w = 0`` is optimal over pairs with the hinge for
    ``λ ≥ max_G ‖Δ_G‖₂/√abs(G)``, Δ the difference of the class means. With one column in every group it is ``Norm("l1",
    λ)``, with one group ``Norm("l2", λ√n)``.

    Parameters
    ----------
    groups : sequence of shape (n_features,), mapping, sequence of lists or None
        A label, a word or a number, for the group of each column. On the command line also names of columns of the
        data, ``{label: [name, …], …}`` or ``[[name, …], …]``: the columns encoded from them form a group, and those
        encoded from any other column another one. None: those of each column form a group.
    weight : float
        λ, 0 or in [1e-150, 1e150].

    Raises
    ------
    AuclabError
        A weight outside its range; a name in two groups; in a solve, a number of labels that differs from the number
        of columns.

    See Also
    --------
    auclab.regularisers.ElasticNet : Columns that are alike, where the groups are not known.

    References
    ----------
    Yuan & Lin (2006), "Model selection and estimation in regression with grouped variables".

    Examples
    --------
    >>> regulariser = GroupLasso(("a", "a", "b"), 0.5)
    >>> round(regulariser.value(np.array([3.0, 4.0, -2.0])), 6), regulariser.equation()        # ½(√2·5 + 2)
    (4.535534, ' + 0.5 Σ_G √|G| ‖w_G‖₂')
    >>> round(regulariser.norm.dual(np.array([3.0, 4.0, -2.0])), 6)                             # 5/√2
    3.535534
    """

    groups: Sequence[str | int] | Sequence[Sequence[str]] | Mapping[str, Sequence[str]] | None
    weight: float

    def __post_init__(self) -> None:
        check_weight("penalty λ", self.weight)
        if self.groups is None:
            return
        if (named := _named(self.groups)) is not None:
            object.__setattr__(self, "groups", named)
            return
        labels = tuple(label.item() if isinstance(label, np.generic) else label for label in self.groups)
        if isinstance(self.groups, str) or not labels or not all(isinstance(label, str | int) for label in labels):
            raise AuclabError(f"groups are a label, a word or an integer, for each column, got {self.groups!r}")
        object.__setattr__(self, "groups", labels)

    @property
    def norm(self) -> VectorNorm:
        """``Σ_G √abs(G) ‖w_G‖₂``."""
        return _norm_of(None if self.groups is None or self.names else tuple(cast("Sequence[str | int]", self.groups)))

    @property
    def names(self) -> dict[str, str]:
        """The label of the group of each column that is named; empty where `groups` are labels, or None."""
        named = _named(self.groups or ())
        return {name: ", ".join(names) for names in named or () for name in names}

    def with_norm(self, norm: VectorNorm) -> Norm:
        """λ times the norm of a part of the columns."""
        return Norm(norm, self.weight)

    def on_columns(self, sources: Callable[[], Sequence[str]]) -> GroupLasso:
        """With the group of each source, unless there is a label for each column.

        Examples
        --------
        >>> GroupLasso([["age", "debt"]], 0.5).on_columns(lambda: ["age", "debt", "city", "city"]).groups
        ('age, debt', 'age, debt', 'city', 'city')
        """
        names = self.names
        if self.groups is not None and not names:
            return self
        return replace(self, groups=tuple(names.get(str(source), str(source)) for source in sources()))


@dataclass(frozen=True)
class GroupNorm(VectorNorm):
    """``Σ_G c_G ‖w_G‖₂``; its dual is the largest ``‖g_G‖₂/c_G``.

    `groups`: the number of the group of each column. `factors`: c of every group.
    """

    groups: tuple[int, ...]
    factors: tuple[float, ...]

    name, symbol, dual_name = "groups", "Σ_G √|G| ‖w_G‖₂", "in the largest group"
    is_polyhedral, is_absolute = False, True

    @cached_property
    def _of(self) -> NDArray[np.intp]:
        """The number of the group of every column."""
        return np.array(self.groups, dtype=np.intp)

    @cached_property
    def _c(self) -> Array:
        """The factor of every group."""
        return np.array(self.factors)

    def check(self, n_features: int) -> None:
        """Raise `AuclabError` unless there is a label for every column."""
        if not self.groups:
            raise AuclabError(
                f"the group lasso has no labels of groups and X has {n_features} columns; give a label for each"
            )
        if n_features != len(self.groups):
            raise AuclabError(
                f"the group lasso has {len(self.groups)} labels of groups and X has {n_features} columns; give one for "
                "each column"
            )

    def __call__(self, w: Array) -> float:
        """``Σ_G c_G ‖w_G‖₂``."""
        return float(self._c @ self._lengths(w))

    def dual(self, g: Array) -> float:
        """The largest ``‖g_G‖₂/c_G``."""
        return float((self._lengths(g) / self._c).max(initial=0.0))

    def dual_rows(self, X: Array) -> Array:
        """‖x_i‖_* of every row."""
        indicator = sp.csr_array((np.ones(self._of.size), (np.arange(self._of.size), self._of)))
        return np.asarray((np.sqrt(np.square(X) @ indicator) / self._c).max(axis=1, initial=0.0))

    def subgradient(self, w: Array) -> Array:
        """``c_G w_G/‖w_G‖₂``; 0 in a group of zeros."""
        lengths = self._lengths(w)
        return np.asarray(w * (self._c / np.where(lengths > 0, lengths, np.inf))[self._of])

    def epigraph(self, unit: Array) -> Epigraph:
        """A cone ``(u_G, (unit·x)_G)`` for each group, and ``Σ c_G u_G ≤ t``; the groups in order of their numbers."""
        n, m = unit.size, self._c.size
        order = np.argsort(self._of, kind="stable")
        sizes = np.bincount(self._of, minlength=m) + 1
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        ranks = np.arange(n) - (starts - np.arange(m))[self._of[order]]  # places of columns within their groups
        rows = np.r_[starts, starts[self._of[order]] + 1 + ranks]
        columns, entries = np.r_[n + 1 + np.arange(m), order], np.r_[np.ones(m), unit[order]]
        conic = sp.csr_array((entries, (rows, columns)), shape=(int(sizes.sum()), n + 1 + m))
        total = sp.csr_array(np.r_[np.zeros(n), -1.0, self._c][None, :])
        return Epigraph(total, conic, tuple(sizes.tolist()))

    def smooth_at(self, w: Array) -> tuple[NDArray[np.bool_], Array, Array]:
        """On the groups that are not nearly 0, ``c (I − u uᵀ)/‖w_G‖₂`` with ``u = w_G/‖w_G‖₂``."""
        lengths = self._lengths(w)
        used = lengths > TOLERANCE * lengths.max(initial=0.0)
        per_length = np.where(used, self._c / np.where(used, lengths, 1.0), 0.0)
        unit = w / np.where(used, lengths, 1.0)[self._of]
        same = self._of[:, None] == self._of[None, :]
        curvature = per_length[self._of][:, None] * (np.eye(w.size) - np.where(same, np.outer(unit, unit), 0.0))
        return used[self._of], w * per_length[self._of], np.where(same, curvature, 0.0)

    def dual_box(self, n_features: int) -> Array | None:
        """C where every group has one column."""
        return self._c[self._of] if (np.bincount(self._of) <= 1).all() else None

    def length_groups(self, n_features: int) -> tuple[NDArray[np.intp], Array]:
        """The number of the group of every column, and c."""
        return self._of, self._c

    def restricted(self, columns: NDArray[np.integer]) -> GroupNorm:
        """The norm of some columns: groups keep their c."""
        kept, numbers = np.unique(self._of[columns], return_inverse=True)
        return GroupNorm(tuple(numbers.tolist()), tuple(self._c[kept].tolist()))

    def shortened(self, g: Array, length: float, weight: Array) -> Array:
        """Every group that is longer than ``length·c_G`` at that length."""
        lengths = self._lengths(g)
        factor = np.minimum(1.0, length * self._c / np.where(lengths > 0, lengths, np.inf))
        return np.asarray(g * np.where(lengths > 0, factor, 1.0)[self._of])

    def dual_tangents(self, g: Array) -> tuple[Array, NDArray[np.bool_]]:
        """The component along each group that is nearly the largest."""
        sizes = self._lengths(g) / self._c
        largest = np.flatnonzero(sizes >= (1.0 - TOLERANCE) * sizes.max())
        rows = np.where(self._of[None, :] == largest[:, None], g, 0.0)
        return rows / np.maximum(self._c * self._lengths(g), 1e-300)[largest, None], np.zeros(g.size, dtype=bool)

    def _lengths(self, w: Array) -> Array:
        """``‖w_G‖₂`` of every group."""
        return np.asarray(np.sqrt(np.bincount(self._of, weights=np.square(w), minlength=self._c.size)))


def _named(groups: Any) -> tuple[tuple[str, ...], ...] | None:
    """Groups as names of columns; None where they are labels."""
    given = list(groups.values()) if isinstance(groups, Mapping) else groups
    if isinstance(given, str) or not any(isinstance(names, list | tuple) for names in given):
        return None
    if not all(isinstance(names, list | tuple) and names for names in given):
        raise AuclabError(f"groups of columns are lists of names, such as [[age,debt],[city]], got {groups!r}")
    named = tuple(tuple(map(str, names)) for names in given)
    every = [name for names in named for name in names]
    if twice := [name for name in every if every.count(name) > 1]:
        raise AuclabError(f"column {twice[0]!r} is in two groups; it can be in one of them")
    return named


@lru_cache(maxsize=16)
def _norm_of(groups: tuple[str | int, ...] | None) -> GroupNorm:
    if groups is None:
        return GroupNorm((), ())  # which `check` refuses
    numbers = {label: number for number, label in enumerate(dict.fromkeys(groups))}
    of = tuple(numbers[label] for label in groups)
    return GroupNorm(of, tuple(np.sqrt(np.bincount(np.array(of, dtype=np.intp))).tolist()))
