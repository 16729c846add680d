"""Streams that are not UTF-8: messages use replacement characters, data are written unchanged or not at all.

A pipe or a file has the system's encoding, cp1252 on Windows and ASCII with ``LANG=C``, in which ``λ ≥ 0`` would end
the command with a `UnicodeEncodeError`. Only the standard library is imported: every command needs this.
"""

from __future__ import annotations

import codecs
import io
import sys
import unicodedata

from auclab.types import AuclabError

#: Name of the error handler of the screen's streams.
ERRORS = "auclab-ascii"
#: Replacements of single characters; others follow from their Unicode names and decompositions.
STAND_INS = (
    dict.fromkeys("−–—‐─━", "-") | dict.fromkeys("│┃", "|") | {"≤": "<=", "≥": ">="}
    | {"≠": "!=", "±": "+-", "→": "->", "←": "<-", "·": "-", "×": "x", "…": "...", "‖": "||", "√": "sqrt", "Σ": "sum"}
    | {"∞": "inf", "∈": "in", "λ": "lambda", "Λ": "Lambda", "█": "#", "✓": "ok", "ß": "ss", "’": "'"}
)  # fmt: skip


def ascii_form(text: str) -> str:
    """Text in ASCII: replaced symbols, names of Greek letters, letters without accents, ``?`` for the rest."""
    marks = [_mark(character) for character in text]
    return "".join(
        character if character.isascii() else mark * (mark != before) + _stand_in(character)
        for character, mark, before in zip(text, marks, ["", *marks], strict=False)
    )


def show_in_any_encoding() -> None:
    """Make standard output and error replace characters that they cannot encode.

    Called at the start of auclab's own processes; UTF-8 streams are unchanged.
    """
    codecs.register_error(ERRORS, _replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not _is_unicode(stream.encoding):
            stream.reconfigure(errors=ERRORS)


def write_data(text: str) -> None:
    """Write a table or a model to standard output with every character unchanged."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError as error:
        lacking = text[error.start]
        raise AuclabError(
            f"standard output is in {encoding}, which has no {lacking!a}; write to a file with --out or --save, or set "
            "PYTHONIOENCODING=utf-8"
        ) from None
    sys.stdout.write(text)


def _is_unicode(encoding: str) -> bool:
    return codecs.lookup(encoding).name.startswith("utf")


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return ascii_form(error.object[error.start : error.end]), error.end


def _mark(character: str) -> str:
    """ASCII prefix of a superscript or subscript."""
    return {"<super>": "^", "<sub>": "_"}.get(unicodedata.decomposition(character).partition(" ")[0], "")


def _stand_in(character: str) -> str:
    if character in STAND_INS:
        return STAND_INS[character]
    plain = unicodedata.normalize("NFKD", character).replace("−", "-").encode("ascii", "ignore").decode()
    if plain or unicodedata.combining(character):
        return plain
    name = unicodedata.name(character, "")
    if name.startswith("GREEK"):
        last = name.split()[-1].lower()
        return last.capitalize() if "CAPITAL" in name else last
    return "?"
