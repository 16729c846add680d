"""The object that a group of settings names."""

from __future__ import annotations

from typing import Any


def build(config: Any) -> Any:
    """Make the object a configuration names; what it says against its arguments is passed on as it is.

    Parameters
    ----------
    config : DictConfig
        With ``_target_`` and arguments; without, what it holds is made.

    Raises
    ------
    AuclabError
        It cannot be made.
    OSError
        A file is missing or cannot be read.
    """
    import hydra

    from auclab.types import AuclabError

    try:
        return hydra.utils.instantiate(config)
    except hydra.errors.InstantiationException as error:
        if isinstance(error.__cause__, AuclabError | OSError):
            raise error.__cause__ from None
        raise AuclabError(" ".join(str(error).split())) from error
