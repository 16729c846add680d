"""A run whose files are kept in its output folder, because the store cannot be written."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from auclab.tracking.address import hide_password
from auclab.tracking.clock import Start
from auclab.tracking.config import TrackingConfig
from auclab.tracking.kept import KeptRun, describe, new_id
from auclab.tracking.mlflow_run import run_params, run_tags
from auclab.tracking.runs import Record


class AsideRun:
    """A run that is kept in its output folder, for `auclab push`.

    Parameters
    ----------
    tracking : TrackingConfig
        The store that cannot be written.
    name : str
        Name of the run.
    folder : path
        Output folder of the job.
    params, tags : mapping
        As in `auclab.tracking.open.open_run`.
    start : Start
        When the work began.
    reason : Exception
        Why the store cannot be written.
    run_id : str, optional
        The run in the store, if it was begun there.

    See Also
    --------
    auclab.tracking.MlflowRun : A run in the store.
    auclab.tracking.FolderRun : A run without a store.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from auclab.tracking import Record, Start, TrackingConfig
    >>> with tempfile.TemporaryDirectory() as place:
    ...     run = AsideRun(
    ...         TrackingConfig(dir=place), name="bauc", folder=Path(place, "out"), params={}, tags={},
    ...         start=Start.now(), reason=OSError("disk full"),
    ...     )
    ...     with run:
    ...         run.keep(Record(metrics={"test/auc": 0.9}))
    ...     sorted(path.name for path in Path(place, "out").iterdir())
    ['kept.json', 'run.json']
    """

    def __init__(
        self,
        tracking: TrackingConfig,
        *,
        name: str,
        folder: Path,
        params: Mapping[str, str],
        tags: Mapping[str, str],
        start: Start,
        reason: BaseException,
        run_id: str | None = None,
    ) -> None:
        self.name, self.output, self.folder, self.run_id = name, folder, folder, run_id
        self.record: Record | None = None
        self._start = start
        self.kept = KeptRun(
            folder=folder,
            id=run_id or new_id(),
            name=name,
            directory=str(Path(tracking.dir).absolute()),
            uri=None if tracking.uri is None else hide_password(tracking.uri),
            experiment=tracking.experiment,
            status="FINISHED",
            start_time=start.milliseconds,
            end_time=start.milliseconds,
            reason=describe(reason),
            params=run_params(params),
            tags=run_tags(tags),
            begun=run_id is not None,
        )

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=self.folder))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.kept = self.kept.with_record(self.record, self._start)
                self.kept.publish(self.staging)
        finally:
            shutil.rmtree(self.staging, ignore_errors=True)

    def keep(self, record: Record) -> None:
        """Set what is to be recorded."""
        self.record = record
