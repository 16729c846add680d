"""Formulations by name, and from a name or an object to a formulation."""

from __future__ import annotations

from typing import Any

from auclab.formulations.base import Program
from auclab.formulations.programs import (
    CSVM,
    ECSVM,
    BufferedAUC,
    Composed,
    ExactAUC,
    GeneralizedBufferedAUC,
    PartialAUC,
    RankSVM,
)
from auclab.formulations.scorecard import Scorecard
from auclab.types import AuclabError
from auclab.validation import check_choice

#: Programs by the name they have in the configuration. Their defaults are those of ``conf/formulation``.
FORMULATIONS: dict[str, type[Program]] = {
    program.name: program
    for program in (
        BufferedAUC,
        GeneralizedBufferedAUC,
        RankSVM,
        CSVM,
        ECSVM,
        PartialAUC,
        ExactAUC,
        Scorecard,
        Composed,
    )
}


def formulation_named(name: str, **parameters: Any) -> Program:
    """Return a formulation by its name in `FORMULATIONS`; other parameters have the defaults of the command line.

    Parameters
    ----------
    name : str
        Such as ``"bauc"`` or ``"ranksvm"``.
    **parameters
        Parameters of the formulation, such as `penalty`.

    Returns
    -------
    Program

    Raises
    ------
    AuclabError
        No such formulation, a parameter that it does not have, or a value outside its range.

    See Also
    --------
    as_formulation : Takes an object as well.

    Examples
    --------
    >>> formulation_named("ranksvm", penalty=0.1)
    RankSVM(penalty=0.1, norm='l2', squared=False, loss=Hinge())
    """
    check_choice("formulation", name, sorted(FORMULATIONS))
    return FORMULATIONS[name]().with_params(**parameters)


def as_formulation(formulation: str | Program) -> Program:
    """Return a formulation, or make one from its name with default parameters.

    Raises
    ------
    AuclabError
        An unknown name, or neither a name nor a formulation.

    See Also
    --------
    formulation_named : With parameters.

    Examples
    --------
    >>> as_formulation("csvm"), as_formulation(BufferedAUC())
    (CSVM(penalty=0.01, norm='l2', squared=False, loss=Hinge()), BufferedAUC())
    """
    if isinstance(formulation, str):
        return formulation_named(formulation)
    if isinstance(formulation, Program):
        return formulation
    if isinstance(formulation, type) and issubclass(formulation, Program):
        raise AuclabError(f"{formulation.__name__} is a class; pass an object of it, {formulation.__name__}()")
    raise AuclabError(
        f"formulation must be a name ({', '.join(FORMULATIONS)}) or an object such as RankSVM(0.01), got "
        f"{type(formulation).__name__}"
    )
