"""Losses: the cost ℓ(a) of ``a = 1 − m − z‖w‖``, by which a margin m falls short of 1."""

from auclab.losses.loss import Hinge, Loss, Pieces
from auclab.losses.named import LOSSES, loss_named
from auclab.losses.squared_hinge import SquaredHinge

__all__ = ["LOSSES", "Hinge", "Loss", "Pieces", "SquaredHinge", "loss_named"]
