"""`auclab` and `python` for shell lines, each in a process that is forked from one with the libraries imported.

The lines are given to bash as they stand. A folder of two small programs, `auclab` and `python`, comes first on its
path; they hand their words, environment, folder and streams to a server, which forks, and end with the code of the
child. What the child runs is the program itself; only the seconds of importing SciPy, MLflow and the others are saved,
and those in which MLflow makes a new database (store_copies).
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout, suppress
from functools import cache
from pathlib import Path

#: Imported before the first fork: what most commands need.
LIBRARIES = ("auclab.cli.commands", "auclab.cli.run", "auclab.runs.experiment", "auclab.runs.tracking.store", "mlflow")
ADDRESS = "AUCLAB_TESTS_SERVER"

WIDTH = {"COLUMNS": "120"}

#: A path with spaces cannot stand after #!, so the shell starts the interpreter; to Python its line is a string.
_PROGRAM = """\
#!/bin/sh
'''exec' "{python}" -SI "$0" "$@"
' '''
import sys
sys.path.insert(0, {tests!r})
from warm_programs import ask
ask({name!r}, {python!r})
"""


def ask(name: str, python: str) -> None:
    """In the small programs: have the server run it, and end as it ends."""
    words = sys.argv[1:]
    if name == "python" and not (words and (words[0] == "-m" or words[0].endswith(".py"))):
        os.execv(python, [python, *words])
    request = {"name": name, "words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ[ADDRESS])
        socket.send_fds(server, [b"x"], [0, 1, 2])
        server.sendall(json.dumps(request).encode() + b"\n")
        sys.exit(int(server.recv(8) or b"255"))


def plain() -> dict[str, str]:
    """The environment of the tests without what the reader has set for auclab."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("AUCLAB", "MLFLOW"))}


@cache
def warm_programs() -> dict[str, str]:
    """What a shell's environment needs for `auclab` and `python` that start quickly, until this process ends."""
    place = tempfile.TemporaryDirectory(prefix="warm-")
    folder, tests = Path(place.name), str(Path(__file__).parent)
    (folder / "bin").mkdir()
    for name in ("auclab", "python"):
        program = folder / "bin" / name
        program.write_text(_PROGRAM.format(python=sys.executable, tests=tests, name=name), encoding="utf-8")
        program.chmod(0o755)
    address = str(folder / "server")
    # The width is read when the screen is imported.
    server = subprocess.Popen([sys.executable, __file__, address], start_new_session=True, env=plain() | WIDTH)

    @atexit.register
    def end() -> None:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        place.cleanup()

    while not os.path.exists(address):
        assert server.poll() is None, "the server ended"
        time.sleep(0.05)
    path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {ADDRESS: address, "PATH": path} | WIDTH


def serve(address: str) -> None:
    """Fork for every request, until killed or until the tests have ended."""
    before, tests = dict(os.environ), os.getppid()
    for name in LIBRARIES:
        __import__(name)
    warm_up()
    gc.freeze()  # the collections of a child, those at its end too, pass over what it shares with this process
    defaults = {name: value for name, value in os.environ.items() if name not in before}  # set by what was imported
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{address}.new")
        server.listen()
        os.rename(f"{address}.new", address)
        signal.signal(signal.SIGCHLD, reap)
        server.settimeout(10.0)
        while os.getppid() == tests:  # tests that were killed could not end this process
            try:
                connection, _ = server.accept()
            except TimeoutError:
                continue
            connection.settimeout(None)
            if os.fork() == 0:
                server.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                answer(connection, defaults)
            connection.close()


def reap(*_: object) -> None:
    """Take the children that have ended, so that their seconds count as those of the server."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def warm_up() -> None:
    """A small run, which imports what is imported late, loads the compiled loops and makes a database to be copied."""
    from composed import run_here
    from store_copies import copy_databases

    copy_databases()
    small = ("dataset=artificial", "dataset.n_pos=9", "dataset.n_neg=9", "formulation=ranksvm", "solver=newton")
    with (
        tempfile.TemporaryDirectory() as folder,
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
    ):
        run_here(Path(folder), *small, "tracking=mlflow", f"tracking.dir={folder}/mlruns")
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "auclab"]
    for value in [value for module in ours for value in vars(module).values() if hasattr(value, "cache_clear")]:
        value.cache_clear()  # a program begins without answers of another environment


def answer(connection: socket.socket, defaults: dict[str, str]) -> None:
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
    os.environ.update(defaults | request["environment"])
    sys.path[:0] = filter(None, request["environment"].get("PYTHONPATH", "").split(os.pathsep))
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
