"""Several reasons to refuse a table or settings, in one message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from auclab.types import AuclabError


class Refusals:
    """Collects the errors of several checks and raises them as one, so that a table is repaired once.

    Examples
    --------
    >>> refusals = Refusals()
    >>> for word in ("first", "second"):
    ...     with refusals.collected():
    ...         raise AuclabError(f"the {word} reason")
    >>> refusals.raise_all()
    Traceback (most recent call last):
        ...
    auclab.datasets.refusals.SeveralError: 2 problems: (1) the first reason (2) the second reason
    """

    def __init__(self) -> None:
        self.reasons: list[str] = []

    @contextmanager
    def collected(self, names: set[str] | None = None, name: str = "") -> Iterator[None]:
        """Keep an `AuclabError` of the body, or the several ones that it stands for; `name` is added to `names`."""
        try:
            yield
        except AuclabError as error:
            self.reasons += [reason for reason in reasons_of(error) if reason not in self.reasons]
            if names is not None:
                names.add(name)

    def raise_all(self) -> None:
        """Raise what was collected, if anything was."""
        if len(self.reasons) == 1:
            raise AuclabError(self.reasons[0])
        if self.reasons:
            raise SeveralError(self.reasons)


class SeveralError(AuclabError):
    """Two reasons or more, in the order in which they were found."""

    def __init__(self, reasons: list[str]) -> None:
        self.reasons = tuple(reasons)
        numbered = " ".join(f"({k}) {reason}" for k, reason in enumerate(reasons, start=1))
        super().__init__(f"{len(reasons)} problems: {numbered}")


def reasons_of(error: AuclabError) -> tuple[str, ...]:
    """The reasons that an error stands for."""
    return getattr(error, "reasons", (str(error),))
