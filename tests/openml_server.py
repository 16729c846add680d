"""OpenML in one thread of this process: scikit-learn's client speaks to it as to the real server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

import pandas as pd
import pytest
import sklearn.datasets._openml

ARFF = """@relation toy
@attribute Size numeric
@attribute Colour {red,blue}
@attribute class {tested_no,tested_yes}
@data
1.5,red,tested_no
2.5,blue,tested_yes
3.5,?,tested_no
4.5,red,tested_yes
5.5,red,tested_no
6.5,blue,tested_no
"""


@dataclass(frozen=True)
class Table:
    """What is served: the file, the kinds of its columns, the target and the number of rows."""

    arff: str
    kinds: Mapping[str, str]
    target: str
    rows: int

    @classmethod
    def of(cls, frame: pd.DataFrame, target: str) -> Self:
        """A table of numbers with a nominal target."""
        kinds = {name: "nominal" if name == target else "numeric" for name in map(str, frame.columns)}
        labels = "{" + ",".join(sorted(set(frame[target]))) + "}"
        head = [f"@attribute {name} {labels if name == target else 'numeric'}" for name in kinds]
        lines = ["@relation made", *head, "@data", frame.to_csv(index=False, header=False)]
        return cls("\n".join(lines), kinds, target, len(frame))


TOY = Table(ARFF, {"Size": "numeric", "Colour": "nominal", "class": "nominal"}, "class", 6)


class OpenMLServer:
    """Serves one data set, number 7."""

    def __init__(self, table: Table = TOY) -> None:
        self.table = table
        self.requests = 0
        self.damaged = False
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}"

    def lead(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Direct scikit-learn's client to this server."""
        for page, path in (("INFO", "{}"), ("FEATURES", "features/{}"), ("QUALITIES", "qualities/{}")):
            monkeypatch.setattr(sklearn.datasets._openml, f"_DATA_{page}", f"{self.address}/json/data/{path}")

    def stop(self) -> None:
        """Go offline; may be called again."""
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
            self._http.server_close()

    def answer(self, path: str) -> str | None:
        """What is found under `path`."""
        self.requests += 1
        if path == "/data/9":
            return self.table.arff + ("7.5,red,tested_no\n" if self.damaged else "")
        size = {"name": "NumberOfInstances", "value": str(self.table.rows)}
        pages: dict[str, Any] = {
            "/json/data/7": {"data_set_description": self._description()},
            "/json/data/features/7": {"data_features": {"feature": self._features()}},
            "/json/data/qualities/7": {"data_qualities": {"quality": [size]}},
        }
        return json.dumps(pages[path]) if path in pages else None

    def _description(self) -> dict[str, str]:
        md5 = hashlib.md5(self.table.arff.encode(), usedforsecurity=False).hexdigest()
        return {
            "id": "7", "name": "toy", "version": "1", "description": "a toy", "format": "ARFF",
            "status": "active", "url": f"{self.address}/data/9", "file_id": "9", "md5_checksum": md5,
        }  # fmt: skip

    def _features(self) -> list[dict[str, Any]]:
        return [
            {
                "index": str(index), "name": name, "data_type": kind,
                "is_target": str(name == self.table.target).lower(), "is_ignore": "false",
                "is_row_identifier": "false", "number_of_missing_values": "0",
            }
            for index, (name, kind) in enumerate(self.table.kinds.items())
        ]  # fmt: skip

    def _handler(server: OpenMLServer) -> type[BaseHTTPRequestHandler]:  # noqa: N805  self is the handler's
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                text = server.answer(self.path)
                self.send_response(200 if text is not None else 404)
                self.end_headers()
                self.wfile.write((text or "").encode())

            def log_message(self, *_: Any) -> None:
                """Keep quiet."""

        return Handler
