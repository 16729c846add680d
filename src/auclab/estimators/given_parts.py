"""Formulation, kernel and constraints of an estimator, each given by name or as an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Self

from sklearn.base import BaseEstimator

from auclab.formulations import FORMULATIONS, Program, RankSVM, as_formulation, formulation_named
from auclab.formulations.base import parameter_names
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.constraints import Constraints
from auclab.kernels import Kernel, Polynomial, as_kernel, kernel_named
from auclab.types import AuclabError
from auclab.wording import did_you_mean

#: Parameters of kernels given by name, and their defaults.
_DEFAULTS = Polynomial().get_params()
#: Prefix of parameters of the formulation in a search.
_NESTED = "formulation__"


class TakesFormulation(BaseEstimator):
    """Base class of estimators that take a formulation by name, with parameters of its own, or as an object."""

    #: None for the default of an estimator that has one.
    formulation: str | Program | None
    #: Parameters that belong to a formulation given by name.
    _of_formulations: tuple[str, ...]

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``formulation__penalty=0.1`` puts a formulation with that penalty in place of the one here.

        Formulations do not change, so that no other estimator that holds the same one is affected.

        Raises
        ------
        AuclabError
            A parameter that the formulation does not have.
        ValueError
            A parameter that the estimator does not have.
        """
        nested = {name.removeprefix(_NESTED): params.pop(name) for name in list(params) if name.startswith(_NESTED)}
        super().set_params(**params)
        if nested:
            program = default_program() if self.formulation is None else as_formulation(self.formulation)
            self.formulation = program.with_params(**nested)
        return self

    def _given_program(self) -> tuple[Program, tuple[str, ...]]:
        """The program, and the parameters that were given and that it does not have."""
        given = self._given_parameters()
        if self.formulation is None:
            return default_program(**given), tuple(set(given) - set(parameter_names(RankSVM)))
        return as_given_program(self.formulation, given)

    def _given_parameters(self) -> dict[str, Any]:
        """The parameters of the formulation that are not left out."""
        return {name: value for name in self._of_formulations if (value := getattr(self, name)) is not None}


def default_program(**given: Any) -> RankSVM:
    """The formulation of `auclab run` where none is named, with those of `given` that it has.

    Examples
    --------
    >>> default_program(penalty=0.1, max_fpr=0.3)
    RankSVM(penalty=0.1, norm='l2', squared=True, loss=Hinge())
    """
    known = {name: value for name, value in given.items() if name in parameter_names(RankSVM)}
    return RankSVM(**({"squared": True} | known))


def as_given_program(formulation: str | Program, given: Mapping[str, Any]) -> tuple[Program, tuple[str, ...]]:
    """The program, and the parameters among `given` that it does not have.

    Examples
    --------
    >>> as_given_program("bauc", {"penalty": 0.1})
    (BufferedAUC(), ('penalty',))
    """
    if not isinstance(formulation, str):
        if given:
            raise AuclabError(f"{', '.join(given)}: only for a formulation given by name; set it on {formulation}")
        return as_formulation(formulation), ()
    known = parameter_names(FORMULATIONS[formulation]) if formulation in FORMULATIONS else ()
    ignored = tuple(name for name in given if name not in known)
    return formulation_named(formulation, **{name: given[name] for name in given if name in known}), ignored


def as_given_kernel(kernel: str | Kernel | None, **given: Any) -> Kernel | None:
    """The kernel, by name with those of γ, degree and c₀ that it has.

    Examples
    --------
    >>> as_given_kernel("polynomial", gamma=1.0, degree=2, coef0=0.0)
    Polynomial(degree=2, gamma=1.0, coef0=0.0)
    >>> as_given_kernel(None, gamma=1.0)
    """
    if kernel is None:
        return None
    if isinstance(kernel, str):
        known = as_kernel(kernel).get_params()
        return kernel_named(kernel, **{name: given[name] for name in known})
    found = as_kernel(kernel)
    if beside := [f"{name}={value!r}" for name, value in given.items() if value != _DEFAULTS[name]]:
        raise AuclabError(
            f"{', '.join(beside)}: only for a kernel given by name; set it on {found}, or give kernel={found.name!r}"
        )
    return found


def as_given_constraints(given: Any, columns: Sequence[str]) -> ColumnConstraints | None:
    """Constraints on columns of these names, from an object or from its parameters by name."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        known = [item.name for item in fields(Constraints)]
        if unknown := [name for name in given if name not in known]:
            meant = did_you_mean(str(unknown[0]), known)
            raise AuclabError(f"constraints have no setting {unknown[0]!r}{meant}; settings are {', '.join(known)}")
        given = Constraints(**given)
    if not hasattr(given, "on_columns"):
        raise AuclabError(f"constraints must be auclab.Constraints, a mapping or None, got {type(given).__name__}")
    found: ColumnConstraints = given.on_columns(columns)
    return found
