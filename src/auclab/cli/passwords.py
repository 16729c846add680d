"""Passwords in addresses of the command line: Hydra writes what was typed into several files of every output folder."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from auclab.files import replace_file
from auclab.tracking.address import HIDE_PASSWORDS, hide_password

#: Environment variables with an address that was typed with its password; the workers of a sweep inherit them.
VARIABLE = "AUCLAB_ADDRESS_"

_ADDRESS = re.compile(
    r"""(?P<key>[+]{0,2}[\w.@/]+) = (?P<quote>["']?) (?P<address>\w[\w+.-]*://\S+?) (?P=quote)""", re.VERBOSE
)


def without_passwords(words: Sequence[str]) -> list[str]:
    """Overrides with each address with a password replaced by an environment variable, which is set to it.

    Hydra stores overrides and settings as typed, and resolves such names only when the value is used.
    """
    if not any("://" in word for word in words):
        return list(words)
    found: dict[str, str] = {}

    def replaced(word: str) -> str:
        match = _ADDRESS.fullmatch(word)
        if match is None or hide_password(match["address"]) == match["address"] or _is_list(match):
            return word
        variable = found.setdefault(match["address"], f"{VARIABLE}{len(found) + 1}")
        os.environ[variable] = match["address"]
        return f"{match['key']}=${{oc.env:{variable}}}"

    return [replaced(word) for word in words]


def _is_list(match: re.Match[str]) -> bool:
    return not match["quote"] and "," in match["address"]


def hide_in_files(folders: Iterable[Path]) -> None:
    """Remove passwords that come from the user's own settings file from the yaml files that Hydra has written."""
    for folder in folders:
        for path in folder.glob("*.yaml"):
            text = path.read_text(encoding="utf-8")
            if (shown := hide_password(text)) != text:
                with replace_file(path) as draft:
                    draft.write_text(shown, encoding="utf-8")


def hide_in_log() -> None:
    """Remove passwords from all log messages from now on."""
    for handler in logging.getLogger().handlers:
        handler.addFilter(HIDE_PASSWORDS)  # once, however often it is added
