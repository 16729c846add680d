"""Where runs are recorded: the settings ``tracking``; a database in a folder, another database, an MLflow server."""

from __future__ import annotations

import errno
import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Self
from urllib.error import HTTPError, URLError
from urllib.parse import urlparse, urlsplit
from urllib.request import url2pathname, urlopen

from auclab._core.base import AuclabError

#: Seconds in which a server answers.
_ANSWER_SECONDS = 10.0

#: Between an address and the folder of the settings in a value of ``--store``.
_AND_DIRECTORY = "#tracking.dir="

#: Environment variable with the id of the sweep whose jobs this process runs; workers inherit it.
SWEEP_VARIABLE = "AUCLAB_SWEEP"


@dataclass(frozen=True)
class TrackingConfig:
    """Where runs are recorded.

    Parameters
    ----------
    name : {"mlflow", "none"}
        ``none``: files go to the output folder only.
    dir : str
        Folder with the database and the files of the runs.
    experiment : str
        MLflow's name for a group of runs.
    uri : str, optional
        Another database or an MLflow server; None is ``<dir>/mlflow.db``.

    See Also
    --------
    auclab.runs.tracking.sync.sync_run : Sends a run there.

    Examples
    --------
    >>> TrackingConfig(dir="runs").experiment
    'auclab'
    """

    name: str = "mlflow"
    dir: str = "mlruns"
    experiment: str = "auclab"
    uri: str | None = None


def in_sweep() -> bool:
    """Whether this process belongs to a sweep; there the process of the sweep alone writes to the terminal."""
    return SWEEP_VARIABLE in os.environ


SERVERS = ("http://", "https://")
#: Schemes of database addresses; a driver may follow, as in postgresql+psycopg2.
DATABASES = ("sqlite", "postgresql", "mysql", "mssql")

#: Numbers of errors of a disk, or of a limit, that takes no more bytes, and messages of SQLite that mean the same.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
_FULL = re.compile("disk I/O error|database or disk is full")
#: Where the text for people ends in a message of SQLAlchemy.
_SQL = re.compile(r"\[SQL:|\(Background on this error")
#: MLflow's message about a schema that is not its own, which it calls old in any case.
_SCHEMA = re.compile(r"database schema \(found version (\w+),")

#: How drivers are installed whose module has another name.
_PACKAGES = {"psycopg": "'auclab[postgresql]'", "psycopg2": "psycopg2-binary", "MySQLdb": "mysqlclient"}

#: ``scheme://name:password@host``, and a token in place of a name: ``https://token@host``.
_PASSWORD = re.compile(
    r"https?:/{1,3}[^\s/@?#]+@ | (?<![\w+.-])(?!https?:)[A-Za-z][\w+.-]*:/{1,3}[^\s/@]*:[^\s@]+@", re.VERBOSE
)


def refuse_password(text: str) -> None:
    """Refuse an address with a password or a token: settings are printed, stored with runs, and logged.

    Examples
    --------
    >>> refuse_password("postgresql://me@host/runs")
    >>> try:
    ...     refuse_password("tracking.uri=postgresql://me:secret@host/runs")
    ... except AuclabError as error:
    ...     print(str(error).partition(":")[0])
    an address with a password would be stored with every run
    """
    if _PASSWORD.search(text):
        raise AuclabError(
            "an address with a password would be stored with every run: leave it out, and give it by PGPASSWORD or "
            "~/.pgpass, of an MLflow server by MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, of a web address "
            "by ~/.netrc"
        )


@dataclass(frozen=True)
class Address:
    """Where runs are recorded, and where their files go.

    `uri`: MLflow's tracking URI. `directory`: absolute path; files of runs are written below it, unless the experiment
    or a server keeps them elsewhere.
    """

    uri: str
    directory: Path

    @classmethod
    def of(cls, directory: str | Path, uri: str | None = None) -> Self:
        """The database below `directory`, or the one that `uri` names; a relative SQLite path is made absolute.

        Examples
        --------
        >>> Address.of("mlruns").file == Path("mlruns/mlflow.db").absolute()
        True
        >>> Address.of("mlruns", "http://127.0.0.1:5000/").uri
        'http://127.0.0.1:5000'
        """
        folder = require_text(Path(directory).absolute())
        if uri is None:
            return cls(f"sqlite:///{folder / 'mlflow.db'}", folder)
        refuse_password(uri)
        scheme, separator, rest = uri.partition("://")
        if not separator or not (uri.startswith(SERVERS) or scheme.partition("+")[0] in DATABASES):
            raise AuclabError(
                f"tracking.uri is {uri!r}; it is a database (sqlite:///FILE.db, "
                "postgresql://USER@HOST/NAME) or an MLflow server (http://HOST:PORT)"
            )
        if uri.startswith(SERVERS):
            _check_port(uri)
        elif scheme != "sqlite":
            _check_driver(uri)
        if scheme == "sqlite" and rest.startswith("/"):
            return cls(f"sqlite:///{Path(rest[1:]).absolute()}", folder)
        return cls(uri.rstrip("/"), folder)

    @classmethod
    def of_settings(cls, tracking: TrackingConfig) -> Self:
        """The address that the configuration names."""
        return cls.of(tracking.dir, tracking.uri)

    @classmethod
    def parse(cls, store: str | Path) -> Self:
        """The value of ``--store``: a folder or, if it contains ``://``, an address, and after it the folder.

        Examples
        --------
        >>> Address.parse("http://127.0.0.1:5000#tracking.dir=runs").directory == Path("runs").absolute()
        True
        """
        uri, _, folder = str(store).partition(_AND_DIRECTORY)
        return cls.of(folder or "mlruns", uri) if "://" in uri else cls.of(store)

    @property
    def is_server(self) -> bool:
        """Whether it is a server, which keeps the files too."""
        return self.uri.startswith(SERVERS)

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database; None for anything else."""
        return Path(self.uri.removeprefix("sqlite:///")) if self.uri.startswith("sqlite:///") else None

    @property
    def option(self) -> str:
        """The value of ``--store`` that names the directory too, unless it is that of the default."""
        known = self.is_own or self.directory == Path("mlruns").absolute()
        return str(self) if known else f"{self}{_AND_DIRECTORY}{self.directory}"

    @property
    def is_own(self) -> bool:
        """Whether the database is the one below `directory`."""
        return self.file == self.directory / "mlflow.db"

    def __str__(self) -> str:
        return str(self.directory) if self.is_own else self.uri

    def __repr__(self) -> str:
        return f"Address(uri={self.uri!r}, directory={self.directory!r})"

    def require_answer(self) -> None:
        """Check once per process that the server or the database answers; does nothing for an SQLite file.

        MLflow itself would retry for minutes.
        """
        if self.is_server:
            _check_server(self.uri)
        elif self.file is None:
            _check_database(self.uri)


def require_text(folder: Path) -> Path:
    """The folder; its name must be valid text, for addresses and for libraries that accept text only."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise AuclabError(
            f"{str(folder)!a} cannot be read as text in {sys.getfilesystemencoding()}, the encoding of file names; set "
            "PYTHONUTF8=1, or LC_ALL to a locale with UTF-8"
        ) from None
    return folder


def _check_port(uri: str) -> None:
    try:
        is_complete = bool(urlsplit(uri).hostname) and urlsplit(uri).port != 0
    except ValueError:
        is_complete = False
    if not is_complete:
        raise AuclabError(
            f"tracking.uri is {uri!r}, which has no host or no number as its port; write "
            "http://HOST:PORT, and characters such as / or @ in a password as %2F or %40"
        )


@cache
def _check_driver(uri: str) -> None:
    """Refuse a database whose driver is not installed, before anything is computed; SQLAlchemy knows which it is."""
    import sqlalchemy

    try:
        dialect = sqlalchemy.make_url(uri).get_dialect()
        dialect.import_dbapi()
    except ImportError as error:
        driver = error.name or dialect.driver
        how = f"install it with pip install {_PACKAGES.get(driver, driver)}"
        raise AuclabError(f"{uri.partition('://')[0]}:// needs the driver {driver}; {how}") from error
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise AuclabError(f"tracking.uri is {uri!r}: {reason_of(error)}") from error


@cache
def _check_server(uri: str) -> None:
    try:
        urlopen(f"{uri}/health", timeout=_ANSWER_SECONDS).close()
    except HTTPError:  # an answer: it may come from a proxy, and MLflow's client knows the passwords
        return
    except (URLError, OSError) as error:
        reason = str(getattr(error, "reason", error)) or type(error).__name__
        raise AuclabError(
            f"no MLflow server responds at {uri} ({reason}); start it with mlflow server, or correct tracking.uri"
        ) from error


@cache
def _check_database(uri: str) -> None:
    import sqlalchemy

    try:
        engine = sqlalchemy.create_engine(uri)
        engine.connect().close()
        engine.dispose()
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise AuclabError(f"the database {uri} cannot be used: {reason_of(error)}; correct tracking.uri") from error


def is_local(uri: str) -> bool:
    """Whether an address is a folder of this machine.

    Examples
    --------
    >>> is_local("file:///data/x"), is_local("/data/x"), is_local("mlflow-artifacts:/0/ab/artifacts")
    (True, True, False)
    """
    return urlparse(uri).scheme in ("", "file") or _has_drive(uri)


def local_path(uri: str) -> Path:
    """The folder of a local address."""
    return Path(uri) if _has_drive(uri) else Path(url2pathname(urlparse(uri).path))


def _has_drive(uri: str) -> bool:
    r"""Whether it is a path such as ``C:\runs`` on Windows, where a drive looks like the scheme of an address."""
    return os.name == "nt" and bool(Path(uri).drive)


def is_run_id(text: str) -> bool:
    """Whether it is a valid id of a run, which is safe as a folder name.

    Examples
    --------
    >>> is_run_id("0c9a21f5f6fc43e4ae7a0b5ff3c0d4f1"), is_run_id("../../home")
    (True, False)
    """
    return re.fullmatch(r"[0-9A-Za-z_-]{1,64}", text) is not None


def cannot_keep(address: Address, error: BaseException) -> str:
    """The message for a store that cannot be used."""
    another = "another place with tracking.dir=…" if address.is_own else "another tracking.uri=…"
    return f"cannot keep runs in {address}: {reason_of(error)}; choose {another}, or tracking=none"


class DeletedExperimentError(AuclabError):
    """The experiment of new runs was deleted in MLflow."""

    def __init__(self, address: Address, name: str, experiment_id: str) -> None:
        super().__init__(
            f"the experiment {name!r} in {address} was deleted: restore it with MLFLOW_TRACKING_URI={address.uri} "
            f"mlflow experiments restore --experiment-id {experiment_id}, or choose another one with "
            "tracking.experiment=…"
        )


def reason_of(error: BaseException) -> str:
    """Why a store cannot be used, in one line: without SQL, and with what to do where that is known."""
    text = " ".join(_SQL.split(str(error))[0].split()) or type(error).__name__
    if (schema := _SCHEMA.search(text)) is not None:
        return wrong_schema(schema[1])
    if (isinstance(error, OSError) and error.errno in NO_SPACE) or _FULL.search(text):
        text += " (free space, or raise the largest size of a file: ulimit -f)"
    return text


def wrong_schema(revision: str) -> str:
    """What is wrong with a database whose schema is not that of the installed MLflow, by the schema's revision."""
    version = metadata.version("mlflow")
    if is_known(revision):
        return (
            f"it was made by an older MLflow than the installed {version}: make a copy of it, then run mlflow db "
            "upgrade with its address"
        )
    return f"it was made by a newer MLflow than the installed {version}: pip install --upgrade mlflow"


def is_known(revision: str) -> bool:
    """Whether the installed MLflow, which is not imported, has a schema of this revision."""
    places = getattr(find_spec("mlflow"), "submodule_search_locations", None) or []
    versions = (Path(place, "store", "db_migrations", "versions") for place in places)
    return any(path.name.partition("_")[0] == revision for folder in versions for path in folder.glob("*.py"))
