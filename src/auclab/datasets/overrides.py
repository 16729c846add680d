"""Settings as they are typed in a shell: what messages tell the reader to add to the command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

#: Words that Hydra reads as text without quotes.
_PLAIN = re.compile(r"(/|(\.{1,2}/)+)?[A-Za-z_][A-Za-z0-9_.\-]*(/[A-Za-z_][A-Za-z0-9_.\-]*)*")
#: Words that Hydra reads as something else than text.
_TAKEN = ("null", "true", "false", "nan", "inf")


def override(key: str, value: str | Sequence[str], *, most: int = 8) -> str:
    """A setting with its value, quoted for the shell and for Hydra where they would misread it.

    `value`: a sequence is written as a list; of more than `most` values the first ones, and ``…``.
    """
    if isinstance(value, str):
        text = _word(value)
    else:
        text = f"[{','.join([_word(each) for each in value[:most]] + ['…'] * (len(value) > most))}]"
    whole = f"{key}={text}"
    # A list in quotes too: zsh takes brackets for a pattern of file names.
    return whole if re.fullmatch(r"[\w.,=\-/]*", whole, flags=re.ASCII) else shlex.quote(whole)


def _word(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _TAKEN:
        return text
    # Hydra takes backslashes as they are, except in front of a quote; OmegaConf reads ${…} unless a backslash is there.
    escaped = re.sub(r"(\\*)\$\{", r"\1\1\\${", text)
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', escaped)
    last = escaped[len(escaped.rstrip("\\")) :]
    return f'"{escaped}{last}"'
