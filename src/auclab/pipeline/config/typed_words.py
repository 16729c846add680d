"""Settings that Hydra refuses: its error as one line with a suggestion, or quotes where these suffice."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from auclab.pipeline.config.compose import conf_folder, plain_yaml
from auclab.types import AuclabError
from auclab.wording import did_you_mean, few

_ENDINGS = re.compile(r"\.(csv|tsv|parquet|pq|svm|svmlight|libsvm)(\.gz|\.bz2)?$")


def is_file(word: str) -> bool:
    """Whether an argument names a file: by its suffix, or because the file exists.

    Examples
    --------
    >>> is_file("customers.csv"), is_file("my/rows.parquet"), is_file("ionosphere")
    (True, True, False)
    """
    name = word.strip("'\"")
    return bool(_ENDINGS.search(name.lower())) or (bool({"/", "."} & set(name)) and Path(name).expanduser().is_file())


def type_for_file(path: str) -> str:
    """The command that runs on a file, if it can be inspected; else the beginning of that command."""
    name = path.strip("'\"")
    if Path(name).expanduser().is_file():
        from auclab.datasets.inspection import inspect_file  # pandas

        try:
            found = inspect_file(name)
        except AuclabError:
            found = None
        if found is not None and found.command and not found.problems:
            return f"type {found.command}; auclab inspect {shlex.quote(name)} shows the table"
    from auclab.datasets.labels import override  # imports NumPy through its package

    begin = f"dataset=file {override('dataset.path', name)} dataset.target=COLUMN"
    return f"type {begin}; auclab inspect {shlex.quote(name)} proposes the whole command"


#: Lines of Hydra's messages that do not describe the mistake.
_NOISE = re.compile(
    r"^(See https|To append|(Config )?[Ss]earch path|\s*provider=|\s*full_key|\s*object_type|Set the env)"
)
#: OmegaConf's names of the types of settings.
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
        return _unknown_choice(missing[1], missing[2], error.options)
    if key := refused_key(error):
        return _unknown_key(key, error.__cause__, settings)
    cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
    text = f"{error}\n{cause}"
    if "INTERVAL_SWEEP" in text:
        return "numbers of an interval are proposed by a search: add hydra/sweeper=optuna"
    if text.startswith("Config group override must be"):
        for word in filter(_chooses_no_name, settings):
            return _unknown_choice(*word.split("="))
    if (other := _OTHER_TYPE.search(text)) is not None:
        at = re.search(r"full_key: (\S+)", text)
        kind = _KINDS.get(other["kind"], other["kind"])
        return f"{at[1] if at else 'a setting'} is {other['value']!r}; it is {kind}"
    if (several := re.search(r"Ambiguous value for argument '(.*?)'\n", text)) is not None:
        return _several_values(several[1])
    if (again := re.search(r"Multiple values for (\S+?)\.", text)) is not None:
        return f"{again[1]} takes one choice, but several were given: write {again[1]}=CHOICE, without the +"
    if (lost := re.search(r"Interpolation key '(.*?)' not found", text)) is not None:
        return f"${{{lost[1]}}} does not refer to a setting; give the value itself"
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


def _unknown_choice(group: str, choice: str, options: Sequence[str] | None = None) -> str:
    """The choices of a group: `options`, which include those of the user's own folders, if Hydra names them."""
    choices = options or sorted(path.stem for path in (conf_folder() / group).glob("*.yaml"))
    if group == "dataset" and is_file(choice):
        return f"dataset={choice} is a file, and data sets are named: {type_for_file(choice)}"
    return f"{group}={choice} does not exist{_near(choice, choices)}; choices are {', '.join(choices)}"


def _chooses_no_name(word: str) -> bool:
    """Whether a choice is a number or a truth value: ``dataset=3``."""
    group = word.partition("=")[0]
    value = OverridesParser.create().parse_override(word).value()
    return (conf_folder() / group).is_dir() and not isinstance(value, str | list | dict)


def _unknown_key(key: str, cause: Any, settings: Sequence[str]) -> str:
    """The settings that are there, from the configuration in which Hydra looked, and choices that have the key."""
    group, _, name = str(cause.full_key).rpartition(".")
    place = cause.parent_node
    known = [str(each) for each in place if not str(each).startswith("_")] if OmegaConf.is_dict(place) else []
    if not group:
        known = sorted({*known} - {"hydra"})
        return f"there is no setting {key!r}{_near(key, known)}; settings are {', '.join(known)}"
    files = sorted((conf_folder() / group).glob("*.yaml"))
    default = f"the default {group}" if files else group
    choice = next((word for word in reversed(settings) if word.startswith(f"{group}=")), default)
    has = f"it has {', '.join(known)}" if known else "it has none"
    root = [] if place is None else list(place._get_root())
    near = f" (did you mean {name!r}, without {group}?)" if name in root else _near(name, known)
    others = [path.stem for path in files if name in plain_yaml(path)]
    others.sort(key="file".__ne__)  # the user's own file first
    elsewhere = f"; {group} = {few(others)} {'have' if len(others) > 1 else 'has'} it" if others else ""
    return f"{key} is not a setting of {choice}{near}; {has}{elsewhere}"


def _several_values(word: str) -> str:
    """What a comma may mean."""
    from auclab.datasets.labels import override

    key, _, value = word.partition("=")
    return (
        f"{word} has several values: add -m to run each of them; a list is written as {key}=[{value}], and a text with "
        f"a comma as {override(key, value)}"
    )


def _near(word: str, choices: Iterable[str]) -> str:
    choices = list(choices)
    shorter = [choice for choice in choices if len(choice) > 2 and word.startswith(choice)]  # separator: sep
    return did_you_mean(word, choices) or (f" (did you mean {max(shorter, key=len)!r}?)" if shorter else "")


def _parses(word: str) -> bool:
    try:
        OverridesParser.create().parse_override(word)
    except HydraException:
        return False
    return True


def _quoted(word: str) -> str:
    """The argument with its value in quotes, if that makes it valid."""
    key, equals, value = word.partition("=")
    parts = _parts(value)
    is_list = parts is not None
    texts = [value] if parts is None else parts
    unclear = any(
        not text or set(text) & set("'\"{}$\\") or text.startswith("[") or ("," in text and "[" in text)
        for text in texts
    )
    if not equals or unclear:
        return word
    inner = ",".join(f'"{text}"' for text in texts)
    better = f"{key}=[{inner}]" if is_list else f"{key}={inner}"
    return better if _parses(better) else word


def _parts(value: str) -> list[str] | None:
    """The items of a list without their quotes; None if it is not a list.

    Examples
    --------
    >>> _parts("[width [cm], 'a, b',c]"), _parts("width [cm]")
    (['width [cm]', 'a, b', 'c'], None)
    """
    if not (value.startswith("[") and value.endswith("]")):
        return None
    parts, depth, quote = [""], 0, ""
    for sign in value[1:-1]:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"" and not parts[-1].strip():
            quote = sign
        depth += 0 if quote else (sign in "[({") - (sign in "])}")
        if sign == "," and depth <= 0 and not quote:
            parts.append("")
        else:
            parts[-1] += sign
    texts = [part.strip() for part in parts]
    return list(map(_without_quotes, texts))


def _without_quotes(text: str) -> str:
    """A text without its quotes, one of which may be missing."""
    for sign in "'\"":
        if len(text) > 1 and text[0] == text[-1] == sign:
            return text[1:-1]
        if text.count(sign) == 1 and sign in (text[0], text[-1]):
            return text.strip(sign)
    return text


def _unreadable(word: str) -> str:
    from auclab.datasets.labels import override

    key, equals, value = word.partition("=")
    if not equals and is_file(word):
        return f"{word!r} is a file, not a setting: {type_for_file(word)}"
    if not equals:
        return f"{word!r} is not a setting; write KEY=VALUE, such as split.seed=1, or GROUP=CHOICE"
    if value.count("[") != value.count("]") or value.count("{") != value.count("}"):
        return f"{word!r} cannot be read: a bracket is not closed; a list is written as {key}=[a,b]"
    parts = _parts(value)
    each = "the value" if parts is None else "each value of the list" if len(parts) > 1 else "the value in the list"
    better = override(key, _without_quotes(value) if parts is None else parts)
    return f"{word!r} cannot be read; put {each} in quotes: {better}"
