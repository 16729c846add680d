"""Losses of a margin: the hinge, its square, and those of a user; by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.validation import check_choice


@dataclass(frozen=True)
class Pieces:
    """A function that is 0 up to its first breakpoint and quadratic between neighbouring breakpoints.

    Attributes
    ----------
    breakpoints : array of shape (n_pieces,)
        Ascending; piece s is from ``breakpoints[s]`` to the next, the last without end.
    coefficients : array of shape (n_pieces, 3)
        ``c₀ + c₁ a + c₂ a²`` on each piece.
    gap : array of shape (n_pieces, 3)
        The same for the error of smoothing: ``ℓ_h(a) + ℓ*(ℓ_h'(a)) − a ℓ_h'(a)``, 0 where nothing was smoothed.

    See Also
    --------
    auclab.losses.Loss.smoothed : Creates them.

    Examples
    --------
    >>> pieces = Pieces(np.array([0.0]), np.array([[0.0, 1.0, 0.0]]), np.zeros((1, 3)))  # the hinge
    >>> pieces.breakpoints.tolist(), pieces.coefficients.tolist()
    ([0.0], [[0.0, 1.0, 0.0]])
    """

    breakpoints: Array
    coefficients: Array
    gap: Array

    @cached_property
    def curvatures(self) -> Array:
        """The second derivative on each piece."""
        return 2.0 * self.coefficients[:, 2]

    @cached_property
    def slopes(self) -> Array:
        """The derivative ``c₁ + 2 c₂ a`` on each piece, shape (n_pieces, 2)."""
        return np.ascontiguousarray(self.coefficients[:, 1:] * [1.0, 2.0])

    @cached_property
    def conjugates(self) -> Array:
        """``ℓ*(ℓ'(a)) = a ℓ'(a) − ℓ(a)``, plus the error of smoothing, on each piece; shape (n_pieces, 3)."""
        return self.coefficients * [-1.0, 0.0, 1.0] + self.gap

    def at(self, a: Array, polynomials: Array) -> Array:
        """The values at a of a table of polynomials, one for each piece."""
        piece = np.searchsorted(self.breakpoints, a, side="left") - 1
        chosen = polynomials[np.maximum(piece, 0)]
        powers = np.stack([np.ones_like(a), a, a * a][: polynomials.shape[1]], axis=-1)
        return np.where(piece >= 0, (chosen * powers).sum(axis=-1), 0.0)


class Loss(ABC):
    """Base class of losses: convex, non-decreasing, piecewise quadratic ℓ with ``ℓ(a) = 0`` for small a.

    ``a = 1 − m − z‖w‖`` is the shortfall of a margin m. A subclass states the table `pieces`; value, slope, conjugate,
    smoothing and the rows in models follow from it.

    See Also
    --------
    auclab.losses.Hinge : ``max(0, a)``.
    auclab.formulations.Composed : A program with any loss.

    Examples
    --------
    >>> from auclab.losses import Hinge
    >>> isinstance(Hinge(), Loss), Hinge().value([0.5]).tolist()
    (True, [0.5])
    """

    #: As in the configuration.
    name: str = ""
    #: Whether this is ``max(0, a)``, whose multipliers are certified by their marginals alone.
    is_hinge: bool = False

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("table", "is_smooth")}

    @abstractmethod
    def pieces(self) -> tuple[ArrayLike, ArrayLike]:
        """The breakpoints, ascending, and ``(c₀, c₁, c₂)`` of ``c₀ + c₁ a + c₂ a²`` from each of them on."""

    @property
    @abstractmethod
    def symbol(self) -> str:
        """ℓ in an equation, with ``{}`` in place of its argument: ``"[{}]₊"``."""

    @cached_property
    def table(self) -> Pieces:
        """The checked pieces.

        Raises
        ------
        AuclabError
            The pieces are not those of a continuous, convex, non-decreasing function that begins at 0.
        """
        try:
            breakpoints, coefficients = (np.atleast_1d(np.asarray(part, dtype=float)) for part in self.pieces())
            coefficients = coefficients.reshape(-1, 3)
            fit = (
                breakpoints.size > 0 and breakpoints.shape == (len(coefficients),) and (np.diff(breakpoints) > 0).all()
            )
        except (ArithmeticError, TypeError, ValueError) as error:
            raise AuclabError(f"pieces() of {self!r} cannot be read: {error}") from error
        if not fit:
            raise AuclabError(f"{self!r} needs ascending breakpoints and three coefficients for each of them")
        finite = np.isfinite(breakpoints) & np.isfinite(coefficients).all(axis=1)
        if not finite.all():
            raise AuclabError(f"pieces() of {self!r} has a number that is not finite in row {int(finite.argmin())}")
        pieces = Pieces(breakpoints, coefficients, np.zeros_like(coefficients))
        before = np.vstack([np.zeros(3), coefficients[:-1]])
        powers = np.stack([np.ones_like(breakpoints), breakpoints, breakpoints**2], axis=-1)
        jump = ((coefficients - before) * powers).sum(axis=1)
        if abs(jump).max() > 1e-9 * (1.0 + abs(coefficients).max()):
            raise AuclabError(f"{self!r} is not continuous: it jumps by {abs(jump).max():.3g} at a breakpoint")
        falls = (self._kinks(pieces) < -1e-9) | (coefficients[:, 2] < 0)
        if falls.any():
            at = breakpoints[falls.argmax()]
            raise AuclabError(f"{self!r} is not convex and non-decreasing: its slope falls at or after {at:g}")
        return pieces

    def _kinks(self, pieces: Pieces) -> Array:
        """The jump of the slope at every breakpoint."""
        slopes = np.vstack([np.zeros(2), pieces.slopes])
        return np.asarray(
            (np.diff(slopes, axis=0) * np.c_[np.ones(pieces.breakpoints.size), pieces.breakpoints]).sum(1)
        )

    @cached_property
    def is_smooth(self) -> bool:
        """Whether the slope has no jumps."""
        return bool((abs(self._kinks(self.table)) <= 1e-12).all())

    def value(self, a: ArrayLike) -> Array:
        """``ℓ(a)``, entry by entry."""
        return self.table.at(np.asarray(a, dtype=float), self.table.coefficients)

    def slope(self, a: ArrayLike) -> Array:
        """``ℓ'(a)``; the left derivative at a kink."""
        return self.table.at(np.asarray(a, dtype=float), self.table.slopes)

    def conjugate(self, alpha: ArrayLike) -> Array:
        """``ℓ*(α) = max over a of αa − ℓ(a)``, entry by entry, for α ≥ 0; infinite beyond the largest slope.

        Examples
        --------
        >>> Hinge().conjugate([0.0, 0.5, 1.0, 1.5]).tolist()
        [0.0, 0.0, 0.0, inf]
        """
        given = np.asarray(alpha, dtype=float)
        starts = self.table.breakpoints
        ends, found = np.r_[starts[1:], np.inf], np.full(given.shape, -np.inf)
        for start, end, (_, slope, half) in zip(starts, ends, self.table.coefficients, strict=True):
            at = (
                np.where(given > slope, end, start)
                if half == 0.0
                else np.clip((given - slope) / (2 * half), start, end)
            )
            finite = np.where(np.isfinite(at), at, start)
            found = np.maximum(found, np.where(np.isfinite(at), given * finite - self.value(finite), np.inf))
        return np.maximum(found, given * starts[0])

    def smoothed(self, half_width: float) -> Pieces:
        """ℓ with every jump of the slope at b spread over ``[b − h, b + h]``; ℓ itself if it has none, or for h = 0.

        ``J [a − b]₊`` becomes ``J (a − b + h)²/(4h)`` there: larger by at most ``J h/4``.
        """
        pieces = self.table
        if self.is_smooth or half_width == 0:
            return pieces
        kinks = self._kinks(pieces)
        where, jumps, h = pieces.breakpoints[kinks > 0], kinks[kinks > 0], half_width
        bends = np.diff(pieces.curvatures, prepend=0.0) != 0.0  # jumps of the curvature, which remain
        ends = np.unique(np.concatenate((pieces.breakpoints[bends], where - h, where + h)))
        middle = np.append(0.5 * (ends[:-1] + ends[1:]), ends[-1] + 1.0)
        coefficients = pieces.coefficients[np.maximum(np.searchsorted(pieces.breakpoints, middle) - 1, 0)]
        coefficients = np.where((middle > pieces.breakpoints[0])[:, None], coefficients, 0.0)
        gap = np.zeros_like(coefficients)
        for b, jump in zip(where, jumps, strict=True):
            inside = (abs(middle - b) < h)[:, None]
            ramp = np.array([(h - b) ** 2, 2.0 * (h - b), 1.0]) / (4.0 * h)
            line = np.where((middle > b)[:, None], [-b, 1.0, 0.0], 0.0)  # the part of [a − b]₊ that is replaced
            coefficients = coefficients + np.where(inside, jump * (ramp - line), 0.0)
            gap = gap + np.where(inside, jump * np.array([h * h - b * b, 2.0 * b, -1.0]) / (4.0 * h), 0.0)
        return Pieces(ends, coefficients, gap)

    def filled(self) -> tuple[Array, Array, Array]:
        """ℓ as a minimum: ``min Σ_s slope_s u_s + ½ curvature_s u_s²`` over ``Σ u_s ≥ a − b₀``, ``0 ≤ u_s ≤ width_s``.

        Returns
        -------
        widths, slopes, curvatures : arrays of shape (n_pieces,)
            The last width is infinite.
        """
        pieces = self.table
        starts = pieces.breakpoints
        slopes = pieces.slopes[:, 0] + pieces.slopes[:, 1] * starts
        return np.r_[np.diff(starts), np.inf], slopes, pieces.curvatures


@dataclass(frozen=True)
class Hinge(Loss):
    """``ℓ(a) = max(0, a)``.

    See Also
    --------
    auclab.losses.SquaredHinge : Its square.
    auclab.losses.Loss : The base class of losses.

    Examples
    --------
    >>> Hinge().value([-1.0, 2.0]).tolist(), Hinge().slope([-1.0, 2.0]).tolist()
    ([0.0, 2.0], [0.0, 1.0])
    """

    name, is_hinge = "hinge", True
    symbol = "[{}]₊"

    def pieces(self) -> tuple[ArrayLike, ArrayLike]:
        """``a`` from 0 on."""
        return [0.0], [[0.0, 1.0, 0.0]]

    def value(self, a: ArrayLike) -> Array:
        """``max(0, a)``."""
        return np.maximum(np.asarray(a, dtype=float), 0.0)


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """``ℓ(a) = max(0, a)²``, with ``ℓ*(α) = α²/4`` for α ≥ 0.

    Its slope is continuous, so Newton's method reaches the exact minimum. Large errors count more than with the hinge,
    and its mean is not a buffered probability.

    See Also
    --------
    auclab.losses.Hinge : ``max(0, a)``.
    auclab.RankSVM : Takes it as ``loss="squared_hinge"``.

    References
    ----------
    Chapelle & Keerthi (2010), "Efficient algorithms for ranking with SVMs"; Lee & Lin (2014), "Large-scale linear
    RankSVM".

    Examples
    --------
    >>> SquaredHinge().value([-1.0, 2.0]).tolist(), SquaredHinge().slope([-1.0, 2.0]).tolist()
    ([0.0, 4.0], [0.0, 4.0])
    >>> SquaredHinge().conjugate([0.0, 1.0, 4.0]).tolist()
    [0.0, 0.25, 4.0]
    """

    name = "squared_hinge"
    symbol = "[{}]₊²"

    def pieces(self) -> tuple[ArrayLike, ArrayLike]:
        """``a²`` from 0 on."""
        return [0.0], [[0.0, 0.0, 1.0]]


#: The losses by their names in the configuration.
LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge())}


def loss_named(name: str | Loss) -> Loss:
    """Return the loss with this name, or the object itself.

    Parameters
    ----------
    name : str or Loss
        A name of `LOSSES`, such as ``"hinge"``.

    Raises
    ------
    AuclabError
        No such loss; the choices are listed.

    See Also
    --------
    auclab.losses.Loss : How to define a loss.

    Examples
    --------
    >>> loss_named("hinge")
    Hinge()
    """
    if isinstance(name, Loss):  # a user-defined object is returned as it is
        return name
    check_choice("loss", name, LOSSES)
    return LOSSES[name]
