"""Arguments that Hydra refuses: a one-line message with a suggestion, or quotes where these suffice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from auclab.pipeline.config.compose import conf_folder, known_keys, plain_yaml
from auclab.pipeline.config.file_words import is_file, type_for_file
from auclab.wording import did_you_mean, few

#: Lines of Hydra's messages that do not describe the mistake.
_NOISE = re.compile(r"^(See https|To append|Config search path|\s*provider=|\s*full_key|\s*object_type|Set the env)")
#: OmegaConf's names of the types of settings.
_KINDS = {"Float": "a number", "Integer": "a whole number", "Boolean": "true or false", "bool": "true or false"}
_OTHER_TYPE = re.compile(
    r"Value '(?P<value>.*?)' (of type '.*?' )?(could not be converted to|is not a valid) (?P<kind>\w+)"
)


def quoted_where_needed(arguments: Sequence[str]) -> list[str]:
    """The arguments, with values that Hydra's grammar cannot parse in quotes: umlauts, brackets, blanks."""
    return [_quoted(word) if _is_override(word) and not _parses(word) else word for word in arguments]


def in_words(error: BaseException, arguments: Sequence[str]) -> str:
    """Hydra's error as one line.

    `arguments`: the words of the command.
    """
    words = [word for word in arguments if _is_override(word)]
    for line in unknown_choices(words):
        return line
    for word in words:
        if not _parses(word):
            return _unreadable(word)
    for line in _unknown_keys(words):
        return line
    cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
    text = f"{error}\n{cause}"
    if "Could not load 'hydra/launcher/submitit_slurm'" in text:
        return "hydra/launcher=slurm needs submitit; install it with pip install 'auclab[slurm]'"
    if (other := _OTHER_TYPE.search(text)) is not None:
        at = re.search(r"full_key: (\S+)", text)
        kind = _KINDS.get(other["kind"], other["kind"])
        return f"{at[1] if at else 'a setting'} is {other['value']!r}; it is {kind}"
    if (several := re.search(r"Ambiguous value for argument '(.*?)'\n", text)) is not None:
        key = several[1].partition("=")[0]
        return f"{several[1]} has several values: add -m to run each of them, or write a list, {key}=[…]"
    if (again := re.search(r"Multiple values for (\S+?)\.", text)) is not None:
        return f"{again[1]} takes one choice, but several were given: write {again[1]}=CHOICE, without the +"
    if (lost := re.search(r"Interpolation key '(.*?)' not found", text)) is not None:
        return f"${{{lost[1]}}} does not refer to a setting; give the value itself"
    lines = [line.strip() for line in dict.fromkeys(text.splitlines())]
    return " ".join(line for line in lines if line and not _NOISE.match(line))


def unknown_choices(words: Sequence[str]) -> Iterator[str]:
    """A line for every choice of a group without a yaml file, also in a sweep."""
    for word in words:
        key, _, value = word.lstrip("+").partition("=")
        folder = conf_folder() / key
        if "=" not in word or word.startswith("~") or "." in key or "@" in key or not folder.is_dir():
            continue
        choices = _choices(folder)
        if set(value) & set("(${'\""):  # a function of Hydra's grammar, such as choice(a,b)
            continue
        for choice in filter(None, (part.strip() for part in value.strip("[]").split(","))):
            if choice in (*choices, "null"):
                continue
            if key == "dataset" and is_file(choice):
                yield f"dataset={choice} is a file, and data sets are named: {type_for_file(choice)}"
            else:
                yield f"{key}={choice} does not exist{_near(choice, choices)}; choices are {', '.join(choices)}"
        if value == "":
            yield f"{key}= has no value; choices are {', '.join(choices)}"


def added_keys(words: Sequence[str]) -> Iterator[str]:
    """A line for every key that a plus would add to the top of the configuration, where it has no effect."""
    for word in words:
        key = re.split(r"[.=@/]", word.lstrip("+"))[0]
        if word.startswith("+") and key not in (known := known_keys()) and not (conf_folder() / key).exists():
            listed = ", ".join(sorted(known - {"hydra"}))
            yield f"there is no setting {key!r}{_near(key, known)}; settings are {listed}"


def lost_intervals(words: Sequence[str], *, is_sweep: bool) -> Iterator[str]:
    """A line for a search that is not a sweep, and for an interval outside a search.

    Examples
    --------
    >>> print(*lost_intervals(["formulation.penalty=interval(0.1,1)"], is_sweep=True))
    formulation.penalty=interval(0.1,1): numbers of an interval are proposed by a search: add -m hydra/sweeper=optuna
    >>> print(*lost_intervals(["hydra/sweeper=optuna"], is_sweep=False))
    hydra/sweeper=optuna makes many runs: add -m
    """
    sweepers = [word for word in words if word.startswith("hydra/sweeper=")]
    if sweepers and not is_sweep:
        yield f"{sweepers[-1]} makes many runs: add -m"
    if sweepers:
        return
    for word in words:
        read = OverridesParser.create().parse_overrides([word]) if _is_override(word) and _parses(word) else []
        if read and read[0].is_interval_sweep():
            yield f"{word}: numbers of an interval are proposed by a search: add -m hydra/sweeper=optuna"


def keys_of_no_job(words: Sequence[str]) -> Iterator[str]:
    """A line for every setting of a group, chosen in a sweep, that one of its choices does not have.

    Examples
    --------
    >>> print(*keys_of_no_job(["formulation=ranksvm,bauc", "formulation.penalty=0.1,1"]))  # doctest: +ELLIPSIS
    formulation.penalty is not a setting of formulation=bauc; it has none; formulation = csvm, ... have it
    """
    if any(word.lstrip("+").startswith("experiment=") for word in words):  # which makes choices of its own
        return
    groups = [word.partition("=")[0] for word in words if "," in word]
    swept = [group for group in groups if group != "metrics" and (conf_folder() / group).is_dir()]
    yield from _unknown_keys([word for word in words if re.split(r"[.=]", word)[0] in swept])


def _unknown_keys(words: Sequence[str]) -> Iterator[str]:
    """A line for every key that the chosen yaml files do not have."""
    for word in words:
        path = word.lstrip("+~").partition("=")[0]
        key, *rest = path.split(".")
        if word.startswith("+") or "@" in path or "/" in path or key == "hydra":
            continue
        if key not in known_keys():
            known = sorted(known_keys() - {"hydra"})
            yield f"there is no setting {key!r}{_near(key, known)}; settings are {', '.join(known)}"
            continue
        for choice in _choice(key, words).split(",") if rest and key != "metrics" else [_choice(key, words)]:
            where = f"{key}={choice}" if (conf_folder() / key).is_dir() and key != "metrics" else key
            keys: Mapping[str, Mapping[str, None] | None] | None = _keys_of(key, choice)
            for name in rest:
                if not keys or name not in keys:
                    known = [each for each in _settable(keys or {}) if not each.rpartition(".")[2].startswith("_")]
                    has = f"it has {', '.join(known)}" if known else "it has none"
                    own = len(rest) == 1 and name in known_keys()  # such as class_weight
                    near = f" (did you mean {name!r}, without {key}?)" if own else _near(name, known)
                    yield f"{path} is not a setting of {where}{near}; {has}{_elsewhere(key, rest, words)}"
                    break
                where, keys = f"{where}.{name}", keys[name]


def _settable(keys: Mapping[str, Mapping[str, None] | None]) -> Iterator[str]:
    """Keys, and in place of that of an object those of its parameters: ``regulariser.weight``."""
    for key, below in keys.items():
        yield from [f"{key}.{each}" for each in below] if below and "_target_" in below else [key]


def _elsewhere(group: str, rest: Sequence[str], words: Sequence[str]) -> str:
    """The choices of a group that have a setting, and other groups whose current choice has it."""
    folder = conf_folder() / group
    if len(rest) > 1 or not folder.is_dir() or group == "metrics":
        return ""
    others = [each for each in ("dataset", "split", "preprocess", "formulation", "solver", "tune") if each != group]
    typed = [f"{each}.{rest[0]}" for each in others if rest[0] in _keys_of(each, _choice(each, words))]
    return "".join(f"; there is {each}" for each in typed) or _choices_with(folder, rest)


def _choices_with(folder: Path, rest: Sequence[str]) -> str:
    group = folder.name
    having = [name for name in _choices(folder) if rest[0] in plain_yaml(folder / f"{name}.yaml")]
    having.sort(key="file".__ne__)  # the user's own file first
    if not having:
        return ""
    return f"; {group} = {few(having)} {'have' if len(having) > 1 else 'has'} it"


def _keys_of(group: str, choice: str) -> Mapping[str, Mapping[str, None] | None]:
    """The keys below a group of the configuration, as the yaml files of a choice have them, and those below each."""
    folder = conf_folder() / group
    files = [folder / f"{choice}.yaml"]
    if group == "metrics":
        files = [folder / f"{name}.yaml" for name in re.findall(r"\w+", choice)]
    trees = [plain_yaml(path) for path in files if path.is_file()]
    if not folder.is_dir():
        below = plain_yaml(conf_folder() / "config.yaml").get(group)
        trees = [below] if isinstance(below, dict) else []
    found: dict[str, Mapping[str, None] | None] = {}
    for tree in trees:
        for key, below in tree.items():
            if key != "defaults":
                found[str(key)] = dict.fromkeys(map(str, below)) if isinstance(below, dict) else None
    return found


def _choice(group: str, words: Sequence[str]) -> str:
    """The command's choice for a group, else that of conf/config.yaml."""
    for word in reversed(words):
        key, _, value = word.lstrip("+").partition("=")
        if key == group:
            return value
    for entry in plain_yaml(conf_folder() / "config.yaml")["defaults"]:
        if isinstance(entry, dict) and group in entry:
            return str(entry[group])
    return ""


def _near(word: str, choices: Iterable[str]) -> str:
    choices = list(choices)
    shorter = [choice for choice in choices if len(choice) > 2 and word.startswith(choice)]  # separator: sep
    return did_you_mean(word, choices) or (f" (did you mean {max(shorter, key=len)!r}?)" if shorter else "")


def _choices(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.yaml"))


def _is_override(word: str) -> bool:
    return not word.startswith("-")


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
    from auclab.datasets.overrides import override

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
