"""Configurations of the jobs of a sweep: composed by Hydra once, then copied with the values of each job.

Hydra takes a tenth of a second to compose a job, as long as many solves, and composes each twice: once before the first
starts, to find mistakes, and once in the process that runs it. Most jobs of a sweep differ in values alone, such as
``split.seed``, which Hydra sets when the composed groups are merged. `SharedLoader` starts there.

A setting that some choices of a sweep have, such as ``formulation.norm``, holds for their jobs; the others are composed
without it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from typing import Any, Self

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import ConfigCompositionException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from auclab.pipeline.config.typed_words import refused_key

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
