"""A mistake in a command, with words that the answer has to contain, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """The words of a command, a regular expression that the answer matches, and what mends it.

    `fix`: words of the answer that take the place of settings of the same names. `without`: words to leave out.
    """

    words: tuple[str, ...]
    answer: str
    fix: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def typed(self) -> str:
        return " ".join(self.words)

    @property
    def mended(self) -> list[str]:
        """The words with the fix; none if the answer proposes nothing that can be typed as it is."""
        if not (self.fix or self.without):
            return []
        keys = {word.partition("=")[0] for word in self.fix}
        kept = [word for word in self.words if word.partition("=")[0] not in keys and word not in self.without]
        return [*kept, *self.fix]


def mistake(words: str, answer: str, *, fix: str = "", without: str = "") -> Mistake:
    """`fix`: words with ``|`` between them."""
    return Mistake(tuple(words.split()), answer, tuple(fix.split("|")) if fix else (), tuple(without.split()))


def file_mistake(
    name: str, more: str, answer: str, *, target: str = "dataset.target=y", fix: str = "", without: str = ""
) -> Mistake:
    """A mistake with a table of one's own."""
    return mistake(f"dataset=file dataset.path={name} {target} {more}", answer, fix=fix, without=without)
