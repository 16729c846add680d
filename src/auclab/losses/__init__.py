"""How an error is charged: losses ℓ(a) of ``a = 1 − m − z‖w‖``, what a margin m lacks of 1."""

from auclab.losses.loss import Hinge, Loss, Pieces

__all__ = ["Hinge", "Loss", "Pieces"]
