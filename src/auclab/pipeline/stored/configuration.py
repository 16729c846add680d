"""A stored configuration as an experiment that can be run again, read as untrusted input.

`stored_experiment` is the only way from a stored ``config.yaml`` to objects: its result has been checked, so
`auclab.pipeline.config.build` may instantiate its groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from auclab.pipeline.config.compose import OBJECTS, Experiment
from auclab.pipeline.stored.allowed import check_configuration
from auclab.pipeline.stored.stored_files import damaged, stored_file
from auclab.sizes import MOST_ENTRIES, SETTINGS_BYTES
from auclab.types import AuclabError

CONFIG_FILE = "config.yaml"

#: Largest nesting depth of a configuration; auclab's have 6.
MOST_LEVELS = 40


def stored_experiment(
    folder: Path, *, choices: Mapping[str, str] | None = None, allow: Sequence[str] = ()
) -> Experiment:
    """The experiment that a run's ``config.yaml`` describes; refuses names that are not allowed.

    Tracking and export of models are disabled, whatever the file says.

    `folder`: files of the run. `choices`: the choice of each group, for the name of the experiment. `allow`: trusted in
    addition to the classes and functions of ``conf/``, as in `auclab.pipeline.stored.allowed.check_configuration`.
    """
    return Experiment(_plain_configuration(folder, allow), dict(choices or {}))


def _plain_configuration(folder: Path, allow: Sequence[str]) -> Any:
    from omegaconf import OmegaConf

    path = stored_file(folder, CONFIG_FILE, most=SETTINGS_BYTES)
    if path is None:
        raise AuclabError(f"{folder / CONFIG_FILE} is missing, and it contains the configuration of the run")
    configuration = _parse(path)
    check_configuration(configuration, allow)
    for key in ("export", "checkpoint"):
        if key in (solver := configuration.get("solver", {})):
            solver[key] = None  # it would write a file to any path
    if isinstance(rules := configuration.get("constraints"), dict):
        rules["file"] = None  # the rules are already in the configuration
    configuration["tracking"] = {"name": "none"}
    with damaged(path):
        return OmegaConf.create(configuration)


def _parse(path: Path) -> dict[str, Any]:
    """The file as nested data, without tags (they create objects) and aliases (a few bytes expand to gigabytes)."""
    import yaml
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    with damaged(path, yaml.YAMLError, OmegaConfBaseException):
        text = path.read_text(encoding="utf-8")
        _check_events(path, yaml.parse(text, Loader=yaml.SafeLoader))
        plain = OmegaConf.to_container(OmegaConf.create(text), resolve=False)
    if not isinstance(plain, dict):
        raise AuclabError(f"{path} is not a configuration of auclab")
    # A missing group is an error only if it is needed.
    if wrong := [group for group in (*OBJECTS, "solver", "bounds") if not isinstance(plain.get(group, {}), dict)]:
        raise AuclabError(f"{path} is not a configuration of auclab: its {', '.join(wrong)} has no settings")
    return {str(key): value for key, value in plain.items()}


def _check_events(path: Path, events: Any) -> None:
    import yaml

    levels = 0
    for entries, event in enumerate(events):
        levels += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        reason = None
        if isinstance(event, yaml.AliasEvent):
            reason = "an alias (*)"
        elif getattr(event, "tag", None) is not None:
            reason = f"the tag {event.tag}"
        elif levels > MOST_LEVELS or entries > MOST_ENTRIES:
            reason = f"more than {MOST_LEVELS} levels or {MOST_ENTRIES} entries"
        if reason:
            raise AuclabError(f"{path} has {reason}, and configurations of auclab have none; somebody has changed it")
