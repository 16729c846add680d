"""A real browser without a window: Debian's Chromium, or Chrome, by its own options and nothing else."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from base64 import b64encode
from pathlib import Path
from urllib.parse import unquote

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
#: Chromium's sandbox refuses to work for root.
NO_SANDBOX = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []

#: What a script found out, where it can be read from outside.
PROBE = """
addEventListener("load", () => {{
  const answer = (() => {{ {script} }})();
  document.documentElement.dataset.answer = encodeURIComponent(JSON.stringify(answer));
}});
"""


def ask(page, script, *, options=()):
    """What the body `script` of a function returns after `page` was loaded, and the lines of the console.

    The script is part of a copy of the page, beside it, and the policy of the page allows it; nothing else is changed.
    """
    probe, asked = page.with_name(f"{page.stem}-probe.html"), PROBE.format(script=script)
    digest = b64encode(hashlib.sha256(asked.encode()).digest()).decode()
    body, end, rest = page.read_text(encoding="utf-8").rpartition("</body>")
    body = body.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    probe.write_text(f"{body}<script>{asked}</script>{end}{rest}", encoding="utf-8")
    dom, console = run(probe, "--dump-dom", *options)
    answer = re.search(r'data-answer="([^"]*)"', dom)
    assert answer, f"the script of the page did not end: {console}"
    return json.loads(unquote(answer[1])), console


def run(page, *options):
    """Standard output of the browser on a file, and what the page wrote to its console."""
    with tempfile.TemporaryDirectory(prefix="profile-", ignore_cleanup_errors=True) as profile:
        command = [CHROMIUM, "--headless", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
        command += ["--enable-logging=stderr", "--v=0", *NO_SANDBOX]
        done = subprocess.run(
            [*command, *options, Path(page).absolute().as_uri()],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
