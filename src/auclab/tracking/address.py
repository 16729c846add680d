"""Address of the store: a database below a folder, another database, or an MLflow server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self
from urllib.error import HTTPError, URLError
from urllib.parse import urlparse
from urllib.request import url2pathname, urlopen

from auclab.tracking.config import TrackingConfig
from auclab.types import AuclabError

SERVERS = ("http://", "https://")
#: Schemes of database addresses; a driver may follow, as in postgresql+psycopg2.
DATABASES = ("sqlite", "postgresql", "mysql", "mssql")

#: Packages of drivers whose module has another name.
DRIVERS = {"psycopg": "'psycopg[binary]'", "psycopg2": "psycopg2-binary"}

#: Seconds to wait for the answer of a server.
TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class Address:
    """Where runs are recorded, and where their files go.

    Attributes
    ----------
    uri
        MLflow's tracking URI.
    directory
        Absolute path; files of runs are written below it, unless the experiment or a server keeps them elsewhere.
    """

    uri: str
    directory: Path

    @classmethod
    def of(cls, directory: str | Path, uri: str | None = None) -> Self:
        """The database below `directory`, or the one that `uri` names; a relative SQLite path is made absolute.

        Raises
        ------
        AuclabError
            `uri` is neither the address of a database nor that of a server.

        Examples
        --------
        >>> Address.of("/data/mlruns").uri
        'sqlite:////data/mlruns/mlflow.db'
        >>> Address.of("/data/mlruns", "http://127.0.0.1:5000/").uri
        'http://127.0.0.1:5000'
        """
        folder = Path(directory).absolute()
        if uri is None:
            return cls(f"sqlite:///{folder / 'mlflow.db'}", folder)
        scheme, separator, rest = uri.partition("://")
        if not separator or not (uri.startswith(SERVERS) or scheme.partition("+")[0] in DATABASES):
            raise AuclabError(
                f"tracking.uri is {hide_password(uri)!r}; it is a database (sqlite:///FILE.db, "
                "postgresql://USER@HOST/NAME) or an MLflow server (http://HOST:PORT)"
            )
        if scheme == "sqlite" and rest.startswith("/"):
            return cls(f"sqlite:///{Path(rest[1:]).absolute()}", folder)
        return cls(uri.rstrip("/"), folder)

    @classmethod
    def of_settings(cls, tracking: TrackingConfig) -> Self:
        """The address that the configuration names."""
        return cls.of(tracking.dir, tracking.uri)

    @classmethod
    def parse(cls, store: str | Path) -> Self:
        """The value of ``--store``: a folder or, if it contains ``://``, an address."""
        return cls.of("mlruns", str(store)) if "://" in str(store) else cls.of(store)

    @property
    def is_server(self) -> bool:
        """Whether it is a server, which keeps the files too."""
        return self.uri.startswith(SERVERS)

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database; None for anything else."""
        return Path(self.uri.removeprefix("sqlite:///")) if self.uri.startswith("sqlite:///") else None

    @property
    def is_own(self) -> bool:
        """Whether the database is the one below `directory`."""
        return self.file == self.directory / "mlflow.db"

    def __str__(self) -> str:
        return str(self.directory) if self.is_own else hide_password(self.uri)

    def require_answer(self) -> None:
        """Check once per process that the server or the database answers; does nothing for an SQLite file.

        MLflow itself would retry for minutes.

        Raises
        ------
        AuclabError
            There is no answer, the database refuses, or its driver is not installed.
        """
        if self.is_server:
            _check_server(self.uri)
        elif self.file is None:
            _check_database(self.uri)


@cache
def _check_server(uri: str) -> None:
    try:
        urlopen(f"{uri}/health", timeout=TIMEOUT_SECONDS).close()
    except HTTPError:  # an answer too, perhaps of a proxy; MLflow's client has the passwords
        return
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise AuclabError(
            f"no MLflow server answers at {hide_password(uri)} ({reason}); start it with mlflow server, or correct "
            "tracking.uri"
        ) from error


@cache
def _check_database(uri: str) -> None:
    import sqlalchemy

    shown = hide_password(uri)
    try:
        engine = sqlalchemy.create_engine(uri)
        engine.connect().close()
        engine.dispose()
    except ImportError as error:
        driver = DRIVERS.get(str(error.name), str(error.name))
        raise AuclabError(f"{shown} needs the driver {error.name}; install it with pip install {driver}") from error
    except sqlalchemy.exc.SQLAlchemyError as error:
        reason = hide_password(" ".join(str(error).partition("(Background on this error")[0].split()))
        raise AuclabError(f"the database {shown} cannot be used: {reason}; correct tracking.uri") from error


def is_local(uri: str) -> bool:
    """Whether an address of files is a folder of this machine.

    Examples
    --------
    >>> is_local("file:///data/x"), is_local("/data/x"), is_local("mlflow-artifacts:/0/ab/artifacts")
    (True, True, False)
    """
    return urlparse(uri).scheme in ("", "file")


def local_path(uri: str) -> Path:
    """The folder of a local address."""
    return Path(url2pathname(urlparse(uri).path))


def hide_password(text: str) -> str:
    """Replace the passwords of all addresses in a text by ``***``, before it is kept with a run.

    Examples
    --------
    >>> hide_password("tracking.uri=postgresql://me:secret@host/runs seed=1")
    'tracking.uri=postgresql://me:***@host/runs seed=1'
    """
    return re.sub(r"(\w[\w+.-]*://[^\s:/@]*):[^\s@/]+@", r"\1:***@", text)


def cannot_keep(address: Address, error: BaseException) -> str:
    """The message for a store that cannot be used."""
    reason = " ".join(str(error).partition("(Background on this error")[0].split()) or type(error).__name__
    another = "another place with tracking.dir=…" if address.is_own else "another tracking.uri=…"
    return f"cannot keep runs in {address}: {hide_password(reason)}; choose {another}, or tracking=none"
