"""`auclab` and `python` for shell lines, each in a process that is forked from one with the libraries imported.

The lines are given to bash as they stand. A folder of two small programs, `auclab` and `python`, comes first on its
path; they hand their words, environment, folder and streams to a server, which forks, and end with the code of the
child. What the child runs is the program itself, only the seconds of importing SciPy, MLflow and the others are saved.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Imported before the first fork: what most commands need.
LIBRARIES = ("auclab.cli.commands", "auclab.cli.run", "auclab.pipeline.experiment", "auclab.tracking.runs", "mlflow")
ADDRESS = "AUCLAB_TESTS_SERVER"
#: `python` with other words than these is the interpreter itself.
KNOWN = ("run.py", "-m")

_PROGRAM = """\
#!{python} -SI
import sys
sys.path.insert(0, {tests!r})
from warm_programs import ask
ask({name!r}, {python!r})
"""


def ask(name: str, python: str) -> None:
    """In the small programs: have the server run it, and end as it ends."""
    words = sys.argv[1:]
    if name == "python" and words[:1] not in ([word] for word in KNOWN):
        os.execv(python, [python, *words])
    request = {"name": name, "words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ[ADDRESS])
        socket.send_fds(server, [b"x"], [0, 1, 2])
        server.sendall(json.dumps(request).encode() + b"\n")
        sys.exit(int(server.recv(8) or b"255"))


@contextmanager
def warm_programs(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a shell whose `auclab` and `python` are quick to start."""
    (folder / "bin").mkdir()
    for name in ("auclab", "python"):
        program = folder / "bin" / name
        tests = str(Path(__file__).parent)
        program.write_text(_PROGRAM.format(python=sys.executable, tests=tests, name=name))
        program.chmod(0o755)
    address = str(folder / "server")
    server = subprocess.Popen([sys.executable, __file__, address], start_new_session=True)
    try:
        while not os.path.exists(address):
            assert server.poll() is None, "the server ended"
            time.sleep(0.05)
        path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        yield {ADDRESS: address, "PATH": path}
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def serve(address: str) -> None:
    """Fork for every request, until killed."""
    for name in LIBRARIES:
        __import__(name)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{address}.new")
        server.listen()
        os.rename(f"{address}.new", address)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                answer(connection)
            connection.close()


def answer(connection: socket.socket) -> None:
    """Run what a request asks for in a child, send its code, and end."""
    streams = socket.recv_fds(connection, 1, 3)[1]
    request = json.loads(connection.makefile().readline())
    child = os.fork()
    if child:
        for stream in streams:
            os.close(stream)
        connection.sendall(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256).encode())
        os._exit(0)
    connection.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    run(request["name"], request["words"])
    sys.exit()


def run(name: str, words: list[str]) -> None:
    """The program, as the interpreter would start it."""
    if name == "auclab":
        from auclab.cli.main import program

        sys.argv = ["auclab", *words]
        program()
    elif words[0] == "-m":
        sys.argv = words[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path.insert(0, str(Path(words[0]).resolve().parent))
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    serve(sys.argv[1])
