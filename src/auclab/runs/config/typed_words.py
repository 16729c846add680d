"""Settings that Hydra refuses: its error as one line with a suggestion, or quotes where these suffice."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from auclab._core.base import AuclabError
from auclab._core.words import did_you_mean, few
from auclab.runs.config.compose import conf_folder, plain_yaml
from auclab.runs.config.settings import WORDS

_TABLE = re.compile(r"\.(csv|tsv|parquet|pq|svm|svmlight|libsvm)(\.gz|\.bz2)?$")
#: Lines of Hydra's messages that do not describe the mistake.
_NOISE = re.compile(
    r"^(See https|To append|(Config )?[Ss]earch path|\s*provider=|\s*full_key|\s*object_type|Set the env)"
)
#: OmegaConf's names of the types of settings that have no words of their own.
_KINDS = {"Float": "a number", "Integer": "a whole number", "Boolean": "true or false", "bool": "true or false"}
_OTHER_TYPE = re.compile(
    r"Value '(?P<value>.*?)' (of type '.*?' )?(could not be converted to|is not a valid) (?P<kind>\w+)"
)
#: Environment variable that makes Hydra raise errors instead of printing them.
TRACES = "HYDRA_FULL_ERROR"
#: A choice without a file, as Hydra names it.
_MISSING = re.compile(r"(hydra/\w+|[^/]*)/(.*)")
_NO_SETTING = re.compile(r"Could not override '(?P<key>[^'@]+)'\.\n")
#: What another package provides, by Hydra's words where it does not find it.
_LACKING = {
    "/submitit_slurm'": "hydra/launcher=slurm needs submitit; install it with pip install 'auclab[slurm]'",
    "'experiments.": "studies are in the repository and are not part of the installed package; clone it and type "
    "python run.py -m experiment=<paper>_<study>",
}


def quoted_where_needed(settings: Sequence[str]) -> list[str]:
    """The settings, with values that Hydra's grammar cannot parse in quotes: umlauts, brackets, blanks."""
    return [word if _parses(word) else _quoted(word) for word in settings]


def refused_key(error: BaseException) -> str:
    """The setting that Hydra did not find in the configuration; empty if the error is another one."""
    found = _NO_SETTING.match(str(error))
    return found["key"] if found and isinstance(error.__cause__, OmegaConfBaseException) else ""


def in_words(error: BaseException, settings: Sequence[str]) -> str:
    """Hydra's error as one line.

    `settings`: as typed.
    """
    if isinstance(error, OverrideParseException):
        return _unreadable(error.override)
    for named, lacking in _LACKING.items():
        if named in str(error):
            return lacking
    if isinstance(error, MissingConfigException) and (missing := _MISSING.fullmatch(str(error.missing_cfg_file))):
        return _unknown_choice(missing[1], missing[2], error.options or ())
    if key := refused_key(error):
        return _unknown_key(key, error.__cause__, settings)
    cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
    text = f"{error}\n{cause}"
    if "INTERVAL_SWEEP" in text:
        return "numbers of an interval are proposed by a search: add hydra/sweeper=optuna"
    if text.startswith("Config group override must be"):  # a number, true or false
        for group, choice in (word.split("=", 1) for word in settings if re.fullmatch(r"\w+=[\w.]+", word)):
            if (conf_folder() / group).is_dir() and not (conf_folder() / group / f"{choice}.yaml").is_file():
                return _unknown_choice(group, choice)
    if (other := _OTHER_TYPE.search(text)) is not None:
        key = found[1] if (found := re.search(r"full_key: (\S+)", text)) else "a setting"
        return f"{key} is {other['value']!r}; it is {WORDS.get(key) or _KINDS.get(other['kind'], other['kind'])}"
    if (several := re.search(r"Ambiguous value for argument '(.*?)'\n", text)) is not None:
        return _several_values(several[1])
    lines = [line.strip() for line in dict.fromkeys(text.splitlines())]
    said = " ".join(line for line in lines if line and not _NOISE.match(line))
    return said or f"Hydra refuses the command, and says no more than {type(error).__name__}; {TRACES}=1 shows where"


@contextmanager
def hydra_in_words(settings: Sequence[str]) -> Iterator[None]:
    """Raise an error of Hydra as `AuclabError`, in one line; `settings`: as typed."""
    try:
        yield
    except HydraException as error:
        raise AuclabError(in_words(error, settings)) from error


def _unknown_choice(group: str, choice: str, choices: Sequence[str] = ()) -> str:
    """`choices`: those of the group, with those of the user's own folders, where Hydra names them."""
    choices = choices or sorted(path.stem for path in (conf_folder() / group).glob("*.yaml"))
    if group == "dataset" and is_table(choice):
        return f"dataset={choice} is a file, and data sets are named: {_type_for_table(choice)}"
    return f"{group}={choice} does not exist{did_you_mean(choice, choices)}; choices are {', '.join(choices)}"


def _unknown_key(key: str, cause: Any, settings: Sequence[str]) -> str:
    """The settings that are there, from the configuration in which Hydra looked, and choices that have the key."""
    group, _, name = str(cause.full_key).rpartition(".")
    place = cause.parent_node
    known = [str(each) for each in place if not str(each).startswith("_")] if OmegaConf.is_dict(place) else []
    if not group:
        known = sorted({*known} - {"hydra"})
        return f"there is no setting {key!r}{did_you_mean(key, known)}; settings are {', '.join(known)}"
    files = sorted((conf_folder() / group).glob("*.yaml"))
    default = f"the default {group}" if files else group
    choice = next((word for word in reversed(settings) if word.startswith(f"{group}=")), default)
    near = did_you_mean(name, known)
    if place is not None and name in place._get_root():
        near = f" (did you mean {name!r}, without {group}?)"
    others = [path.stem for path in files if name in plain_yaml(path)]
    others.sort(key="file".__ne__)  # the user's own file first
    elsewhere = f"; {group} = {few(others)} {'have' if len(others) > 1 else 'has'} it" if others else ""
    return f"{key} is not a setting of {choice}{near}; it has {', '.join(known) or 'none'}{elsewhere}"


def is_table(word: str) -> bool:
    """Whether an argument names a file: by its suffix, or because the file exists.

    Examples
    --------
    >>> is_table("customers.csv"), is_table("my/rows.parquet"), is_table("ionosphere")
    (True, True, False)
    """
    return bool(_TABLE.search(word.lower())) or (bool({"/", "."} & set(word)) and Path(word).expanduser().is_file())


def _type_for_table(path: str) -> str:
    """The beginning of the command that runs on a file."""
    from auclab.datasets.labels import override  # imports NumPy through its package

    begin = f"auclab run dataset=file {override('dataset.path', path)} dataset.target=COLUMN"
    return f"type {begin}; auclab inspect {shlex.quote(path)} proposes the whole command"


def _several_values(word: str) -> str:
    """What a comma may mean."""
    from auclab.datasets.labels import override

    key, _, value = word.partition("=")
    return (
        f"{word} has several values: add -m to run each of them; a list is written as {key}=[{value}], and a text with "
        f"a comma as {override(key, value)}"
    )


def _parses(word: str) -> bool:
    try:
        OverridesParser.create().parse_override(word)
    except HydraException:
        return False
    return True


def _texts(value: str) -> str | list[str]:
    """A text, or the texts of a list, as typed."""
    is_list = value.startswith("[") and value.endswith("]")
    return [text.strip() for text in value[1:-1].split(",")] if is_list else value


def _quoted(word: str) -> str:
    """The setting with its texts in quotes, if that makes it valid; one with quotes or a list in a list stays."""
    key, equals, value = word.partition("=")
    texts = _texts(value)
    every = [texts] if isinstance(texts, str) else texts
    if not equals or set(value) & set("'\"{}$\\") or not all(every) or any(text.startswith("[") for text in every):
        return word
    inner = ",".join(f'"{text}"' for text in every)
    better = f"{key}={inner}" if isinstance(texts, str) else f"{key}=[{inner}]"
    return better if _parses(better) else word


def _unreadable(word: str) -> str:
    from auclab.datasets.labels import override

    key, equals, value = word.partition("=")
    if not equals and is_table(word):
        return f"{word!r} is a file, not a setting: {_type_for_table(word)}"
    if not equals:
        return f"{word!r} is not a setting; write KEY=VALUE, such as split.seed=1, or GROUP=CHOICE"
    if value.count("[") != value.count("]") or value.count("{") != value.count("}"):
        return f"{word!r} cannot be read: a bracket is not closed; a list is written as {key}=[a,b]"
    return f"{word!r} cannot be read; put its texts in quotes: {override(key, _texts(value))}"
