"""The files of one run: written to a staging folder, then moved into place in one step, or sent to a server."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from auclab.tracking.address import is_local, local_path

if TYPE_CHECKING:
    from auclab.tracking.store import Store


class RunFiles:
    """Where the files of a run are written and where they are published.

    MLflow says where: a folder of this machine, or an address (``mlflow-artifacts:/…``, ``s3://…``) to which they are
    sent; then a copy stays in the output folder of the job.

    `staging`: files are written here. `folder`: they are here after `publish`.
    """

    def __init__(self, store: Store, run_id: str, artifact_uri: str, output: Path) -> None:
        self._store, self._run_id = store, run_id
        self._is_sent = not is_local(artifact_uri)
        self.folder = output if self._is_sent else local_path(artifact_uri)
        # Below the store and not in the system's temporary folder: a rename cannot cross file systems.
        staged = store.directory / "staging" / run_id
        self.staging = output / f".staging-{run_id}" if self._is_sent else staged

    def publish(self) -> None:
        """Move the files into place in one step, or send them one by one, before the run is marked FINISHED."""
        if self._is_sent:
            self._store.send(self._run_id, self.staging)
            for path in sorted(self.staging.iterdir()):
                path.replace(self.folder / path.name)
            return
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.staging.replace(self.folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            draft = self.folder.with_name(f".{self.folder.name}.{self._run_id}")
            shutil.copytree(self.staging, draft)
            draft.replace(self.folder)

    def add(self, name: str, text: str) -> None:
        """Add one file to those that are published."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")
        if self._is_sent:
            self._store.send(self._run_id, self.folder / name)

    def clear(self) -> None:
        """Remove what was staged and not published."""
        shutil.rmtree(self.staging, ignore_errors=True)
