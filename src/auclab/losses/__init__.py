"""Losses: the cost ℓ(a) of ``a = 1 − m − z‖w‖``, by which a margin m falls short of 1."""

from auclab.losses.loss import LOSSES, Hinge, Loss, Pieces, SquaredHinge, loss_named

__all__ = ["LOSSES", "Hinge", "Loss", "Pieces", "SquaredHinge", "loss_named"]
