"""Configurations of the jobs of a sweep: composed by Hydra once, then copied with the values of each job.

Hydra takes a tenth of a second to compose a job, as long as many solves, and composes each twice: once before the first
starts, to find mistakes, and once in the process that runs it. Most jobs of a sweep differ in values alone, such as
``split.seed``, which Hydra sets when the composed groups are merged. `SharedLoader` starts there.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

#: A plain ``key=value``: neither Hydra's own settings, nor a package, an addition or a deletion.
_PLAIN = re.compile(r"(?!hydra\.)[A-Za-z_][\w.]*=")
#: Composed configurations of the sweep that this process works on.
_composed: dict[tuple[str, ...], DictConfig] = {}


class SharedLoader(ConfigLoader):
    """Hydra's loader of configurations; composes the choices that jobs share once per process.

    `loader`: composes.
    """

    def __init__(self, loader: ConfigLoader) -> None:
        self._loader, self._sweep = loader, uuid.uuid4().hex
        self._groups: dict[str, bool] = {}

    def load_sweep_config(self, master_config: DictConfig, sweep_overrides: list[str]) -> DictConfig:
        """The configuration of one job, equal to what Hydra composes."""
        values = [word for word in sweep_overrides if self._is_value(word)]
        shape = (self._sweep, *(word.partition("=")[0] + "=" if word in values else word for word in sweep_overrides))
        if shape not in _composed:
            if any(key[0] != self._sweep for key in _composed):  # workers may be reused by another sweep
                _composed.clear()
            composed = self._loader.load_sweep_config(master_config, sweep_overrides)
            _composed[shape] = deepcopy(composed)
            return composed
        config = deepcopy(_composed[shape])
        try:
            for word in values:
                OmegaConf.update(config, word.partition("=")[0], _value(word), merge=True)
        except OmegaConfBaseException:  # Hydra reports the error
            return self._loader.load_sweep_config(master_config, sweep_overrides)
        job, task = config.hydra.job, [word for word in sweep_overrides if not word.startswith(("hydra.", "hydra/"))]
        config.hydra.overrides.task = task
        job.override_dirname = _folder_name(task, **job.config.override_dirname)
        return config

    def _is_value(self, word: str) -> bool:
        """Whether an override sets a number, a string or a list, and neither chooses a group nor merges a mapping."""
        if not _PLAIN.match(word):
            return False
        key = word.partition("=")[0]
        if key not in self._groups:
            self._groups[key] = bool(self._loader.get_group_options(key, results_filter=None))
        return not self._groups[key] and not isinstance(_value(word), dict)

    def load_configuration(self, *arguments: Any, **named: Any) -> DictConfig:
        """As Hydra's."""
        return self._loader.load_configuration(*arguments, **named)

    def get_search_path(self) -> Any:
        """As Hydra's."""
        return self._loader.get_search_path()

    def get_sources(self) -> Any:
        """As Hydra's."""
        return self._loader.get_sources()

    def list_groups(self, *arguments: Any, **named: Any) -> Any:
        """As Hydra's."""
        return self._loader.list_groups(*arguments, **named)

    def get_group_options(self, *arguments: Any, **named: Any) -> Any:
        """As Hydra's."""
        return self._loader.get_group_options(*arguments, **named)

    def compute_defaults_list(self, *arguments: Any, **named: Any) -> Any:
        """As Hydra's."""
        return self._loader.compute_defaults_list(*arguments, **named)


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
    kept = sorted(word for word in overrides if word.partition("=")[0] not in exclude_keys)
    return item_sep.join(kept).replace("=", kv_sep)
