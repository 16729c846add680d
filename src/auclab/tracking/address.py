"""Address of the store: a database below a folder, another database, or an MLflow server."""

from __future__ import annotations

import logging
import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self
from urllib.parse import urlparse, urlsplit
from urllib.request import url2pathname

from auclab.tracking.config import TrackingConfig
from auclab.tracking.server import why_silent
from auclab.types import AuclabError

SERVERS = ("http://", "https://")
#: Schemes of database addresses; a driver may follow, as in postgresql+psycopg2.
DATABASES = ("sqlite", "postgresql", "mysql", "mssql")

#: Packages of drivers whose module has another name.
DRIVERS = {"psycopg": "'auclab[postgresql]'", "psycopg2": "psycopg2-binary"}

#: ``scheme://name:password@``. Of a database the password may have slashes, and the name an @ (me@tenant).
_LOGIN = re.compile(
    r"""(?<![\w+.-]) (?P<scheme>[A-Za-z][\w+.-]+) (?P<slashes>:/{1,3}) (?P<name>[^\s:/"]*)
        : (?P<password>[^\s@"]* (?:@[^\s@"'/]*)*) @""",
    re.VERBOSE,
)
#: A port and what follows it in the address of a server, which is not a password though an @ may follow.
_PORT = re.compile(r"\d{1,5}[/?#]")
#: ``http://token@``.
_TOKEN = re.compile(r"""(?<![\w+.-]) (https?:/{1,3}) [^\s:/@"'?#]+ @""", re.VERBOSE)
#: ``?password=…&token=…`` in an address.
_QUERY = re.compile(
    r"""(?i) ([?&] (?: [\w.-]* (?: passw(?:or)?d | pwd | secret | token | api[-_]?key | access[-_]?key | signature
        | credential ) [\w.-]* | sig | auth | key | odbc_connect ) =) [^\s&#"']+""",
    re.VERBOSE,
)
#: ``password=…`` in a message of a database's driver.
_PAIR = re.compile(r"""(?i) \b ((?:ssl)?passw(?:or)?d | pwd) (\s?=\s?) (?: '[^']*' | [^\s;&,"'{}]+ )""", re.VERBOSE)


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
        scheme, separator, rest = uri.partition("://")
        if not separator or not (uri.startswith(SERVERS) or scheme.partition("+")[0] in DATABASES):
            raise AuclabError(
                f"tracking.uri is {hide_password(uri)!r}; it is a database (sqlite:///FILE.db, "
                "postgresql://USER@HOST/NAME) or an MLflow server (http://HOST:PORT)"
            )
        if uri.startswith(SERVERS):
            _check_port(uri)
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

    def __repr__(self) -> str:
        return f"Address(uri={hide_password(self.uri)!r}, directory={self.directory!r})"

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
            f"tracking.uri is {hide_password(uri)!r}, which has no host or no number as its port; write "
            "http://HOST:PORT, and characters such as / or @ in a password as %2F or %40"
        )


@cache
def _check_server(uri: str) -> None:
    if (reason := why_silent(uri)) is not None:
        raise AuclabError(
            f"no MLflow server responds at {hide_password(uri)} ({hide_password(reason)}); start it with mlflow "
            "server, or correct tracking.uri"
        )


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


def hide_password(text: str) -> str:
    """Replace the passwords and tokens of all addresses in a text by ``***``, before it is printed or stored."""
    if "@" in text and ":/" in text:
        text = _TOKEN.sub(r"\1***@", _LOGIN.sub(_without_password, text))
    if "=" in text:
        text = _PAIR.sub(r"\1\2***", _QUERY.sub(r"\1***", text))
    return text


def _without_password(found: re.Match[str]) -> str:
    if found["scheme"].lower() in ("http", "https") and _PORT.match(found["password"]):
        return found[0]
    return f"{found['scheme']}{found['slashes']}{found['name']}:***@"


class PasswordFilter(logging.Filter):
    """Removes the passwords of addresses from log records, tracebacks included."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record; it is always logged."""
        record.msg, record.args = hide_password(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.exc_text = hide_password(record.exc_text) if record.exc_text else None
        return True


#: Shared by all logs: a handler does not add the same filter twice.
HIDE_PASSWORDS = PasswordFilter()


def cannot_keep(address: Address, error: BaseException) -> str:
    """The message for a store that cannot be used."""
    reason = " ".join(str(error).partition("(Background on this error")[0].split()) or type(error).__name__
    another = "another place with tracking.dir=…" if address.is_own else "another tracking.uri=…"
    return f"cannot keep runs in {address}: {hide_password(reason)}; choose {another}, or tracking=none"
