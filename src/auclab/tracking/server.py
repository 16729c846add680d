"""Whether an MLflow server answers."""

from __future__ import annotations

from base64 import b64encode
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from auclab.sizes import ANSWER


class ServerSilentError(ConnectionError):
    """The server does not answer."""


def why_silent(uri: str, timeout: float = ANSWER) -> str | None:
    """Why the server at `uri` does not answer; None if it does, with any status.

    A refusal counts as an answer: it may come from a proxy, and MLflow's client knows the passwords.
    """
    parts = urlsplit(uri)
    login, at, host = parts.netloc.rpartition("@")
    request = Request(f"{parts.scheme}://{host}{parts.path.rstrip('/')}/health")
    if at:  # as MLflow's client does with a name and a password in the address
        request.add_header("Authorization", f"Basic {b64encode(unquote(login).encode()).decode()}")
    try:
        urlopen(request, timeout=timeout).close()
    except HTTPError:
        return None
    except (URLError, OSError) as error:
        return str(getattr(error, "reason", error)) or type(error).__name__
    return None
