"""Public names that go in a later version: they work until then, and warn (docs/versions.md).

The warning is a `FutureWarning`, which Python shows to everyone; a `DeprecationWarning` of a library is hidden.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from packaging.version import Version

from auclab.types import AuclabError

T = TypeVar("T", bound=Callable[..., Any])


def deprecated(*, since: str, removed_in: str, instead: str) -> Callable[[T], T]:
    """Mark a function or a class as one that goes: a call warns and works as before.

    Parameters
    ----------
    since : str
        The version that warns first, such as ``"0.4"``.
    removed_in : str
        The version that lacks the name, after `since`.
    instead : str
        What to write in its place.

    Raises
    ------
    ValueError
        `removed_in` is not after `since`.

    See Also
    --------
    renamed_parameters : Parameters with a new name.

    Examples
    --------
    >>> @deprecated(since="0.4", removed_in="0.6", instead="new_score")
    ... def old_score(y):
    ...     return sum(y)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     old_score([1, 2])
    3
    >>> print(caught[0].message)
    old_score is deprecated since auclab 0.4 and will be removed in 0.6; use new_score
    """
    note = _note(since, removed_in)

    def mark(item: T) -> T:
        text = f"{item.__name__} {note}; use {instead}"
        if inspect.isclass(item):
            first: Any = item.__init__

            @functools.wraps(first)
            def begin(self: Any, *args: Any, **options: Any) -> None:
                warnings.warn(text, FutureWarning, stacklevel=2)
                first(self, *args, **options)

            item.__init__ = begin  # type: ignore[method-assign]
            return item

        @functools.wraps(item)
        def call(*args: Any, **options: Any) -> Any:
            warnings.warn(text, FutureWarning, stacklevel=2)
            return item(*args, **options)

        return call  # type: ignore[return-value]

    return mark


def renamed_parameters(*, since: str, removed_in: str, **new: str) -> Callable[[T], T]:
    """Let a function take parameters under their old names too, with a warning.

    Parameters
    ----------
    since, removed_in : str
        As of `deprecated`.
    **new : str
        The new name for each old one.

    Examples
    --------
    >>> @renamed_parameters(since="0.4", removed_in="0.6", lam="penalty")
    ... def norm(w, *, penalty=1.0):
    ...     return penalty * abs(w)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     norm(-3.0, lam=2.0)
    6.0
    >>> print(caught[0].message)
    lam of norm is deprecated since auclab 0.4 and will be removed in 0.6; use penalty
    """
    note = _note(since, removed_in)

    def mark(item: T) -> T:
        @functools.wraps(item)
        def call(*args: Any, **options: Any) -> Any:
            for old in new.keys() & options.keys():
                if new[old] in options:
                    raise AuclabError(
                        f"{item.__name__} got {old} and {new[old]}, which are one parameter; give {new[old]}"
                    )
                warnings.warn(f"{old} of {item.__name__} {note}; use {new[old]}", FutureWarning, stacklevel=2)
                options[new[old]] = options.pop(old)
            return item(*args, **options)

        return call  # type: ignore[return-value]

    return mark


def _note(since: str, removed_in: str) -> str:
    if Version(removed_in) <= Version(since):
        raise ValueError(f"removed_in is {removed_in}, which must be later than since, {since}")
    return f"is deprecated since auclab {since} and will be removed in {removed_in}"


def warn_changed_default(text: str, *, since: str, removed_in: str) -> None:
    """Say that a default has changed, until the version that no longer says so.

    Parameters
    ----------
    text : str
        What it is, what it was, and how to keep that.
    since : str
        The version that changed it.
    removed_in : str
        The version that lacks the warning, after `since`.

    See Also
    --------
    deprecated : A name that goes.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_changed_default("n is 2; it was 1, which n=1 keeps", since="0.3", removed_in="0.5")
    >>> print(caught[0].message)
    n is 2; it was 1, which n=1 keeps (changed in auclab 0.3; this warning will be removed in 0.5)
    """
    note = f"(changed in auclab {since}; this warning will be removed in {removed_in})"
    warnings.warn(f"{text} {note}", FutureWarning, stacklevel=3)
