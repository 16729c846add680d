"""A command in a terminal of a given width, as a person sees it."""

import os
import re
import struct
import subprocess
import sys

import pytest

#: Sequences that move the cursor, set colours, or clear.
_SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def in_terminal(columns, *command, cwd):
    """The lines that ``python COMMAND`` shows in a terminal `columns` wide, without colours, and its exit code."""
    fcntl, pty, termios = map(pytest.importorskip, ("fcntl", "pty", "termios"))  # Windows has none of them
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, *map(str, command)], cwd=cwd, stdin=its, stdout=its, stderr=its,
        env=kept | {"TERM": "xterm-256color"}, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(its)
        shown = b""
        while part := _read(ours):
            shown += part
        os.close(ours)
    text = _SEQUENCES.sub("", shown.decode(errors="replace"))
    return text.replace("\r\n", "\n").splitlines(), process.returncode


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the process has closed it
        return b""
