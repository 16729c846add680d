"""Losses by name."""

from __future__ import annotations

from auclab.losses.loss import Hinge, Loss
from auclab.losses.squared_hinge import SquaredHinge
from auclab.validation import check_choice

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
