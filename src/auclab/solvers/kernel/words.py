"""Equations and statements about coefficients w as ones about functions h of a kernel's space."""

from __future__ import annotations

#: Phrases about coefficients w, and the same for functions h.
_IN_SPACE = (
    ("− w·(x_i⁺ − x_j⁻)", "− h(x_i⁺) + h(x_j⁻)"),
    ("− w·(x_i − x_j)", "− h(x_i) + h(x_j)"),
    ("w·x_k", "h(x_k)"),
    ("w/‖w‖", "h/‖h‖"),
    ("‖w‖₂", "‖h‖"),
    ("‖w‖", "‖h‖"),
    ("w = 0", "h = 0"),
)


def in_space(words: str) -> str:
    """An equation or a statement about coefficients w as one about functions h.

    Examples
    --------
    >>> in_space("min  mean_ij [1 − w·(x_i⁺ − x_j⁻)]₊ + 0.01 ‖w‖₂²")
    'min  mean_ij [1 − h(x_i⁺) + h(x_j⁻)]₊ + 0.01 ‖h‖²'
    >>> in_space("mean over y_i > y_j of [1 − w·(x_i − x_j)]₊")
    'mean over y_i > y_j of [1 − h(x_i) + h(x_j)]₊'
    >>> in_space("mean_k [1 − y_k (w·x_k + b) + 0.1 ‖w‖₂]₊")
    'mean_k [1 − y_k (h(x_k) + b) + 0.1 ‖h‖]₊'
    """
    for of_coefficients, of_function in _IN_SPACE:
        words = words.replace(of_coefficients, of_function)
    return words
