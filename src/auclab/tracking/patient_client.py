"""MLflow's client with a check before each call: whether the database is free, or the server answers.

By default MLflow and SQLAlchemy retry silently: for 71 s on a locked database, for 97 s without a server.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from auclab.tracking.address import Address, hide_password
from auclab.tracking.database_lock import WAIT_SECONDS, await_database
from auclab.tracking.server import ServerSilentError, why_silent


class PatientClient:
    """Calls the methods of a client, as soon as its store can be used.

    `client`: an `mlflow.MlflowClient`. `address`: of its store. `seconds`: how long a locked database is waited for. A
    server is not waited for.
    """

    def __init__(self, client: Any, address: Address, seconds: float = WAIT_SECONDS) -> None:
        self._client, self._address, self._seconds = client, address, seconds

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        return self._checked(method) if callable(method) else method

    def _checked(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            deadline = time.monotonic() + self._seconds
            while True:
                self.require()
                try:
                    return method(*arguments, **named)
                except Exception as error:
                    # Another process took the lock between the check and the call, so nothing was written.
                    if "database is locked" not in str(error) or time.monotonic() > deadline:
                        raise

        return call

    def require(self) -> None:
        """Wait for a locked database; raise if it cannot be used, or if the server does not answer."""
        file = self._address.file
        if self._address.is_server and (reason := why_silent(self._address.uri)) is not None:
            raise ServerSilentError(f"the server does not respond ({hide_password(reason)})")
        if file is not None and file.exists():
            await_database(file, self._seconds)
