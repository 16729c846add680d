"""A copy of a store in which somebody has changed what a reader will believe, and a server that counts who calls it."""

import shutil
import sqlite3
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import yaml


class HostileStore:
    """A store of one's own to change; `run_id` is a finished run with one split, `folds_id` one over two."""

    def __init__(self, original, place):
        shutil.copytree(original, place)
        self.place = place
        self.change("UPDATE runs SET artifact_uri = replace(artifact_uri, ?, ?)", str(original), str(place))
        finished = "SELECT run_uuid FROM runs WHERE status = 'FINISHED' AND name LIKE ? ORDER BY start_time LIMIT 1"
        [(self.run_id,)] = self.ask(finished, "ranksvm%")
        [(self.folds_id,)] = self.ask(finished, "csvm%kfold%")
        self.folder = place / "artifacts" / self.run_id / "artifacts"

    def ask(self, text, *values):
        with closing(sqlite3.connect(self.place / "mlflow.db")) as connection:
            return connection.execute(text, values).fetchall()

    def change(self, text, *values):
        with closing(sqlite3.connect(self.place / "mlflow.db")) as connection:
            connection.execute(text, values)
            connection.commit()

    def rename(self, name):
        """Give the run another name, in both places where MLflow keeps it."""
        self.change("UPDATE runs SET name = ? WHERE run_uuid = ?", name, self.run_id)
        self.change("UPDATE tags SET value = ? WHERE run_uuid = ? AND key = 'mlflow.runName'", name, self.run_id)

    def set_param(self, key, value):
        self.change("DELETE FROM params WHERE run_uuid = ? AND key = ?", self.run_id, key)
        self.change("INSERT INTO params (key, value, run_uuid) VALUES (?, ?, ?)", key, value, self.run_id)

    def set_tag(self, key, value):
        self.change("DELETE FROM tags WHERE run_uuid = ? AND key = ?", self.run_id, key)
        self.change("INSERT INTO tags (key, value, run_uuid) VALUES (?, ?, ?)", key, value, self.run_id)

    def configure(self, **groups):
        """Put settings into the configuration of the run; a value that is not a mapping takes the group's place."""
        path = self.folder / "config.yaml"
        configuration = yaml.safe_load(path.read_text(encoding="utf-8"))
        for group, settings in groups.items():
            configuration[group] = settings
        path.write_text(yaml.safe_dump(configuration), encoding="utf-8")


class CallCounter:
    """A server that answers everything with nothing, and keeps who asked for what with which password.

    `callers`: the addresses of everything that connected, in whatever protocol.
    """

    def __init__(self):
        calls, callers = self.calls, self.callers = [], []

        class Server(ThreadingHTTPServer):
            def verify_request(self, request, client_address):
                callers.append(client_address)
                return True

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                calls.append((self.path, self.headers.get("Authorization")))
                self.send_response(404)
                self.end_headers()

            def log_message(self, *_):
                """Keep quiet."""

        self._server = Server(("127.0.0.1", 0), Handler)
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.address = f"127.0.0.1:{self._server.server_address[1]}"

    def stop(self):
        self._server.shutdown()
        self._server.server_close()


def tree(folder):
    """Names and contents of all files below a folder, and links as what they are."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = "link" if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
    return found
