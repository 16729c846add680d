"""The jobs of a sweep: composed once, copied with the values of each; all choices are checked before the first.

Hydra takes a tenth of a second to compose a job, as long as many solves, and composes each twice: once before the first
starts, to find mistakes, and once in the process that runs it. Most jobs of a sweep differ in values alone, such as
``split.seed``, which Hydra sets when the composed groups are merged. `SharedLoader` starts there.

A setting that some choices of a sweep have, such as ``formulation.norm``, holds for their jobs; the others are composed
without it.
"""

from __future__ import annotations

import os
import re
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import cache
from itertools import islice, product
from typing import Any, Self

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep, Override, OverrideType
from hydra.errors import ConfigCompositionException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from auclab._core.base import AuclabError
from auclab.runs.config.compose import Experiment, conf_folder
from auclab.runs.config.settings import linear_notes
from auclab.runs.config.typed_words import hydra_in_words, in_words, refused_key
from auclab.runs.tracking.address import SWEEP_VARIABLE

#: A plain ``key=value``: neither Hydra's own settings, nor a package, an addition or a deletion.
_PLAIN = re.compile(r"(?!hydra\.)[A-Za-z_][\w.]*=")
#: Composed configurations of the sweep that this process works on.
_composed: dict[tuple[str, ...], DictConfig] = {}


class SharedLoader(ConfigLoaderImpl):
    """Hydra's loader of configurations; composes the choices that jobs share once per process.

    `config_search_path`: where Hydra finds the files. `refused`: by setting, why a job was composed without it.
    """

    def __init__(self, config_search_path: ConfigSearchPath) -> None:
        super().__init__(config_search_path)
        self._sweep, self._groups = uuid.uuid4().hex, dict[str, bool]()
        self.refused: dict[str, ConfigCompositionException] = {}

    @classmethod
    def of_sweep(cls) -> Self:
        """The loader of the sweep that Hydra begins; it composes the jobs, whatever sweeper and launcher there are."""
        hydra = GlobalHydra.instance().hydra
        assert hydra is not None
        hydra.config_loader = loader = cls(hydra.config_loader.get_search_path())
        return loader

    def load_sweep_config(self, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        """The configuration of one job, equal to what Hydra composes."""
        values = [word for word in sweep_overrides if self._is_value(word, master_config.hydra)]
        shape = (self._sweep, *(_key(word) + "=" if word in values else word for word in sweep_overrides))
        if shape not in _composed:
            if any(key[0] != self._sweep for key in _composed):  # workers may be reused by another sweep
                _composed.clear()
            config = self._compose(master_config, sweep_overrides)
            _composed[shape] = deepcopy(config)
        else:
            config = deepcopy(_composed[shape])
            OmegaConf.copy_cache(from_config=master_config, to_config=config)  # the same ${now:…}
            has = set(map(_key, config.hydra.overrides.task))
            config.hydra.overrides.task = [word for word in sweep_overrides if _key(word) in has]
            try:
                for word in values:
                    if _key(word) in has:
                        OmegaConf.update(config, _key(word), _value(word), merge=True)
            except OmegaConfBaseException:  # Hydra reports the error
                return self._compose(master_config, sweep_overrides)
        job, task = config.hydra.job, [word for word in sweep_overrides if not word.startswith(("hydra.", "hydra/"))]
        # With the settings that were left out: each job has a name of its own.
        job.override_dirname = _folder_name(task, **job.config.override_dirname)
        return config

    def _compose(self, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        """Let Hydra compose a job, without the settings that its choices do not have."""
        try:
            return super().load_sweep_config(master_config, sweep_overrides)
        except ConfigCompositionException as error:
            kept = [word for word in sweep_overrides if _key(word) != refused_key(error)]
            if len(kept) == len(sweep_overrides):
                raise
            self.refused[refused_key(error)] = error
            return self._compose(master_config, kept)

    def _is_value(self, word: str, hydra: DictConfig) -> bool:
        """Whether an override sets a number, a string or a list, and neither chooses a group nor merges a mapping."""
        if not _PLAIN.match(word):
            return False
        key = _key(word)
        if key not in self._groups:
            own: Any = OmegaConf.to_container(hydra.overrides.hydra)  # hydra.searchpath may be among them
            self._groups[key] = bool(self.get_group_options(key, None, hydra.job.config_name, own))
        return not self._groups[key] and not isinstance(_value(word), dict)


def _key(word: str) -> str:
    return word.partition("=")[0]


@cache
def _value(word: str) -> Any:
    return OverridesParser.create().parse_overrides([word])[0].value()


def _folder_name(overrides: Sequence[str], *, kv_sep: str, item_sep: str, exclude_keys: Sequence[str]) -> str:
    """Hydra's name for a job.

    Examples
    --------
    >>> _folder_name(["split.seed=1", "formulation=bauc"], kv_sep="=", item_sep=",", exclude_keys=[])
    'formulation=bauc,split.seed=1'
    """
    kept = sorted(word for word in overrides if _key(word) not in exclude_keys)
    return item_sep.join(kept).replace("=", kv_sep)


SCORECARD = "formulation=scorecard"
#: Combinations of choices that are checked; each takes a tenth of a second.
_MOST = 50


def left_to_jobs(settings: Sequence[str]) -> list[str]:
    """The settings of a sweep; those of a group with several choices are made sweeps over one value.

    Hydra lays other settings on the default choice first, which may not have them.

    Examples
    --------
    >>> left_to_jobs(["formulation=ranksvm,csvm", "formulation.norm=l1", "solver.tolerance=1e-8"])
    ['formulation=ranksvm,csvm', 'formulation.norm=choice(l1)', 'solver.tolerance=1e-8']
    """
    overrides = parsed(settings)
    groups = {each.key_or_group for each in overrides if each.is_sweep_override()}
    if any(each.key_or_group == "experiment" for each in overrides):  # it makes choices of its own
        groups |= {each.key_or_group.partition(".")[0] for each in overrides} - {"hydra", "tracking"}

    def is_of_jobs(override: Override) -> bool:
        group, dot, _ = override.key_or_group.partition(".")
        changes = override.type is OverrideType.CHANGE and not override.is_sweep_override()
        return bool(dot) and group in groups and changes

    return [
        f"{each.key_or_group}=choice({word.partition('=')[2]})" if is_of_jobs(each) else word
        for word, each in zip(settings, overrides, strict=True)
    ]


def check_choices(config: DictConfig, grid: Sequence[str], sweep: str, loader: SharedLoader) -> list[str]:
    """Refuse a sweep with a choice that does not have the tuned parameter, or of which every combination is refused.

    So is a sweep whose scorecards all are, and one of which no job can use the table, where that is the user's own and
    all jobs have the same.

    `config`: the composed configuration of the sweep. `grid`: its overrides as typed. `sweep`: its id. `loader`:
    composes its jobs. Returns: what the choices make of settings: the jobs that are computed without one of them, a
    norm that was not chosen, and the formulations for which the weights of the classes make no difference.
    """
    from auclab.estimators.checked import CANCELS, cancels
    from auclab.runs.config.checks import check_file, check_settings, check_tuning, unread_notes
    from auclab.runs.config.compose import built

    refused: dict[str, str] = {}  # by choice, why its first job is
    accepted, able, unweighted, notes = None, set[str](), list[str](), list[str]()
    lacking = defaultdict[str, list[str]](list)  # choices without a setting
    weighted = any(word.startswith("class_weight=") and word != "class_weight=null" for word in grid)
    jobs = combinations(grid)
    checked = list(islice(jobs, _MOST))
    for words, chosen in checked:
        with hydra_in_words(words):
            job = loader.load_sweep_config(config, words)
        own, choices = job.hydra, dict(job.hydra.runtime.choices)
        with open_dict(job):
            del job["hydra"]
        experiment, of = Experiment(job, choices), f"{' '.join(chosen)}: " if chosen else ""
        for key in set(map(_key, words)) & loader.refused.keys() - set(map(_key, own.overrides.task)):
            lacking[key].append(f"{(group := key.partition('.')[0])}={choices.get(group)}")
        notes += [*linear_notes(job, own), *unread_notes(job)]
        try:
            check_tuning(experiment)
        except AuclabError as error:
            raise AuclabError(f"{of}{error}") from error
        try:
            check_settings(experiment)
            accepted = accepted or experiment
            able.update(chosen)
            name = str(choices["formulation"])
            if weighted and name not in unweighted and cancels(built(experiment, "formulation")):
                unweighted.append(name)
        except AuclabError as error:  # the other jobs may be run
            for choice in chosen or [""]:
                refused.setdefault(choice, f"{of}{error}")
    is_whole = next(jobs, None) is None  # every combination was checked
    for key, without in lacking.items() if is_whole else ():
        if len(without) == len(checked):  # no choice has it
            raise AuclabError(in_words(loader.refused[key], words))
    if accepted is None:
        raise AuclabError(next(iter(refused.values())))
    if is_whole and SCORECARD in refused.keys() - able:  # minutes of other jobs would come first
        raise AuclabError(refused[SCORECARD])
    swept = {each.key_or_group.partition(".")[0] for each in parsed(grid) if each.is_sweep_override()}
    if swept.isdisjoint(("dataset", "preprocess")):  # all jobs have the same table
        os.environ[SWEEP_VARIABLE] = sweep  # those that run in this process find it read
        try:
            check_file(accepted)
        finally:
            del os.environ[SWEEP_VARIABLE]
    for key, without in lacking.items():
        notes.append(f"{key} is not a setting of {', '.join(dict.fromkeys(without))}, and is left out there")
    notes += [f"{', '.join(unweighted)}: {CANCELS}"] if unweighted else []
    return list(dict.fromkeys(notes))


def combinations(grid: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """The overrides of one job for each combination of choices, and those choices; other settings have one value.

    Examples
    --------
    >>> grid = ["formulation=bauc,ranksvm", "formulation.norm=l1,l2", "tune=auto"]
    >>> for words, chosen in combinations(grid):
    ...     print(words, chosen)
    ['formulation=bauc', 'formulation.norm=l1', 'tune=auto'] ['formulation=bauc']
    ['formulation=ranksvm', 'formulation.norm=l1', 'tune=auto'] ['formulation=ranksvm']
    """
    overrides = parsed(grid)
    swept = [
        override.is_sweep_override() and (conf_folder() / override.key_or_group).is_dir() for override in overrides
    ]
    values = [
        _values(override) if of_group else _values(override)[:1]
        for override, of_group in zip(overrides, swept, strict=True)
    ]
    for words in product(*values):
        yield list(words), [word for word, of_group in zip(words, swept, strict=True) if of_group]


def parsed(grid: Sequence[str]) -> list[Override]:
    """Hydra's reading of overrides as typed."""
    found: list[Override] = OverridesParser.create().parse_overrides(list(grid))
    return found


def _values(override: Override) -> list[str]:
    """An override for each of its values; of an interval for its lower end."""
    if not override.is_sweep_override():
        return [str(override.input_line)]
    key = override.get_key_element()
    found = override.value()
    if isinstance(found, IntervalSweep):
        return [f"{key}={found.start}"]
    return [f"{key}={value}" for value in override.sweep_string_iterator()]
