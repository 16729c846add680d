"""``{terminal}``: commands that the build runs, with what they print; ``{drawn} FILE``: a picture that they made.

``{written} FILE`` shows a file and puts it into the same folder.

    ```{terminal}
    :lines: 12
    auclab run dataset=breast_cancer
    ```

Each line is a command for bash. The commands of a page share a folder, which is empty when the page is read, and run in
their order. `lines` limits what is shown of the output of each, `from` leaves out the lines before the first that
contains a text, `exit` is the exit code that is expected. A command that ends otherwise is a warning. With
``sphinx-build -t quick`` nothing is run, and the commands alone are shown. Long commands continue after a backslash.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LOG = logging.getLogger(__name__)
#: Seconds that one command may take.
LIMIT = 900
#: Columns of a screen, and of a command on the page.
COLUMNS = 88
#: Words of a command; what is quoted has no end inside of it.
WORDS = re.compile(r"""(?:'[^']*'|"[^"]*"|[^\s'"])+""")


def environment() -> dict[str, str]:
    """That of the build, without the addresses of stores; the commands of the environment that builds come first."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MLFLOW", "AUCLAB"))}
    if data := os.environ.get("AUCLAB_DATA"):
        kept["AUCLAB_DATA"] = os.path.abspath(data)
    return kept | {
        "COLUMNS": str(COLUMNS),
        "NO_COLOR": "1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONWARNINGS": "ignore",
    }


def folded(command: str) -> list[str]:
    r"""A command as it is shown: lines of at most `COLUMNS` where its words allow it, each but the last with a ``\``.

    >>> folded("auclab run dataset=file dataset.path=customers.csv dataset.target=left dataset.positive=yes tune=auto")
    ['auclab run dataset=file dataset.path=customers.csv dataset.target=left \\', '    dataset.positive=yes tune=auto']
    """
    lines = [""]
    for word in WORDS.findall(command):
        if lines[-1] and len(f"{lines[-1]} {word}") > COLUMNS - 4:
            lines[-1] += " \\"
            lines.append(f"    {word}")
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines


def folder_of(app: Sphinx, docname: str) -> Path:
    """Where the commands of a page run."""
    return Path(app.doctreedir) / "terminal" / docname


def page_folder(directive: SphinxDirective) -> Path:
    """The folder of the page, emptied by the first directive on it."""
    folder = folder_of(directive.env.app, directive.env.docname)
    if not directive.env.temp_data.setdefault("terminal", False):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        directive.env.temp_data["terminal"] = True
    return folder


class Written(SphinxDirective):
    """A file for the commands of the page."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The file as a block, with its name above."""
        text = "\n".join(self.content)
        if not self.env.app.tags.has("quick"):
            (page_folder(self) / self.arguments[0]).write_text(f"{text}\n", encoding="utf-8")
        language = {".py": "python", ".yaml": "yaml", ".csv": "text"}[Path(self.arguments[0]).suffix]
        return [nodes.literal_block(text, text, language=language)]


class Terminal(SphinxDirective):
    """The commands of the block and their output."""

    has_content = True
    option_spec: ClassVar = {
        "lines": directives.nonnegative_int,
        "from": directives.unchanged,
        "exit": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        """One block with prompts, to copy the commands from."""
        shown = []
        for command in self.content:
            if command and not command.startswith("#"):
                first, *rest = folded(command)
                shown += [f"$ {first}", *rest]
            else:
                shown.append(command)
            if not self.env.app.tags.has("quick") and command and not command.startswith("#"):
                shown += self.output(command)
        block = nodes.literal_block("\n".join(shown), "\n".join(shown), language="console")
        return [block]

    def output(self, command: str) -> list[str]:
        """The lines that a command prints, up to the given number."""
        folder = page_folder(self)
        start = time.monotonic()
        try:
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            LOG.warning("not finished after %s s: %s", LIMIT, command, location=self.get_location())
            return []
        LOG.info("%s: %.1f s, %s", self.env.docname, time.monotonic() - start, command)
        expected = self.options.get("exit", 0)
        if done.returncode != expected:
            LOG.warning(
                "exit code %s in place of %s: %s\n%s",
                done.returncode,
                expected,
                command,
                done.stdout[-3000:],
                location=self.get_location(),
            )
        text = done.stdout.replace(str(folder), "~").replace(sys.prefix, "~/env")
        lines = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip().splitlines()]
        while lines and not lines[0]:
            lines.pop(0)
        begin = 0
        if wanted := self.options.get("from"):
            begin = next((k for k, line in enumerate(lines) if wanted in line), -1)
            if begin < 0:
                LOG.warning("no line of the output contains %r: %s", wanted, command, location=self.get_location())
        lines = [*(["…"] if begin else []), *lines[begin:]]
        limit = self.options.get("lines", len(lines))
        return [*lines[:limit], *(["…"] if len(lines) > limit else [])]


class Drawn(SphinxDirective):
    """A picture in the folder of the page."""

    required_arguments = 1
    option_spec: ClassVar = {"alt": directives.unchanged_required, "width": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """An image, or nothing where nothing was run."""
        if self.env.app.tags.has("quick"):
            return []
        made = folder_of(self.env.app, self.env.docname) / self.arguments[0]
        if not made.is_file():
            LOG.warning("the commands of the page did not make %s", self.arguments[0], location=self.get_location())
            return []
        kept = Path(self.env.srcdir) / "drawn" / self.env.docname.replace("/", "_")
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copy2(made, kept / made.name)
        image = nodes.image(uri=f"/drawn/{kept.name}/{made.name}", alt=self.options["alt"])
        image["width"] = self.options.get("width", "")
        if not image["width"]:
            del image["width"]
        return [image]


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_directive("terminal", Terminal)
    app.add_directive("drawn", Drawn)
    app.add_directive("written", Written)
    return {"parallel_read_safe": True}
