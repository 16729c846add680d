"""The site in several versions, with a switcher between them and a banner on all but the newest release.

    python .ci/site_versions.py --site https://example.org/auclab --out site --releases dev=HEAD
    python .ci/site_versions.py --site http://127.0.0.1:8000 --out site --quick 0.2=d524382 0.3=HEAD

Each version is built from its commit, in an empty folder, by the Sphinx of this environment. The last one whose name
is a number is the newest release. The pages ask for versions.json at the site's address, so a look at them needs a
server there: ``python -m http.server --directory site 8000``. `--quick` runs no example. `--releases` puts the newest
release of each minor version, by its tag, before the versions that are named.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTENSION = ROOT / "docs" / "_ext" / "switcher.py"
#: The first page of the site: that of the newest release.
FIRST = '<!doctype html><title>auclab</title><meta http-equiv="refresh" content="0; url={name}/index.html">\n'


def main() -> None:
    """Build all of them, and what is above their folders."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("versions", nargs="+", metavar="NAME=COMMIT", help="oldest first")
    parser.add_argument("--site", required=True, help="the address of the site")
    parser.add_argument("--out", type=Path, required=True, help="folder of the site")
    parser.add_argument("--quick", action="store_true", help="no example is run")
    parser.add_argument("--releases", action="store_true", help="the tags v* too")
    options = parser.parse_args()
    named = dict(each.split("=", 1) for each in options.versions)
    versions = (releases(tags()) if options.releases else {}) | named
    site = options.site.rstrip("/")
    for name, commit in versions.items():
        build(name, commit, site, options.out.resolve() / name, quick=options.quick)
    (options.out / "versions.json").write_text(json.dumps(entries(list(versions), site), indent=1), encoding="utf-8")
    (options.out / "index.html").write_text(FIRST.format(name=newest(list(versions))), encoding="utf-8")


def tags() -> list[str]:
    """All tags of the repository."""
    listed = subprocess.run(["git", "tag", "--list", "v*"], cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.split()


def releases(names: list[str]) -> dict[str, str]:
    """The newest patch of each minor version, oldest first; a tag that is not a release is left out.

    >>> releases(["v0.10.0", "v0.3.0", "v0.3.1", "v0.4.0rc1"])
    {'0.3': 'v0.3.1', '0.10': 'v0.10.0'}
    """
    numbers = sorted(tuple(map(int, name[1:].split("."))) for name in names if re.fullmatch(r"v\d+\.\d+\.\d+", name))
    return {f"{major}.{minor}": f"v{major}.{minor}.{patch}" for major, minor, patch in numbers}


def newest(names: list[str]) -> str:
    """The last name that is a number; the last of all where there is none.

    >>> newest(["0.2", "0.3", "dev"]), newest(["dev"])
    ('0.3', 'dev')
    """
    return next((name for name in reversed(names) if name[0].isdigit()), names[-1])


def entries(names: list[str], site: str) -> list[dict[str, object]]:
    """What the theme reads: newest first."""
    stable = newest(names)
    return [
        {"name": f"{name} (stable)" if name == stable else name, "version": name, "url": f"{site}/{name}/"}
        | ({"preferred": True} if name == stable else {})
        for name in reversed(names)
    ]


def build(name: str, commit: str, site: str, target: Path, *, quick: bool) -> None:
    """The pages of one commit; one that knows no switcher is given it."""
    with tempfile.TemporaryDirectory(prefix="site-") as place:
        source = Path(place)
        packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as content:
            content.extractall(source, filter="data")
        extension, conf = source / "docs" / "_ext" / EXTENSION.name, source / "docs" / "conf.py"
        if not extension.exists():
            shutil.copy2(EXTENSION, extension)
            with conf.open("a", encoding="utf-8") as lines:
                lines.write(f'\nextensions.append("{EXTENSION.stem}")\n')
        environment = os.environ | {
            "AUCLAB_SITE": site, "AUCLAB_SITE_VERSION": name, "PYTHONPATH": str(source / "src"),
        }  # fmt: skip
        words = [sys.executable, "-m", "sphinx", "-q", *(["-t", "quick", "-D", "plot_gallery=0"] if quick else [])]
        subprocess.run([*words, str(source / "docs"), str(target)], env=environment, check=True)
    shutil.rmtree(target / ".doctrees", ignore_errors=True)
    print(f"{name}: {sum(1 for _ in target.rglob('*.html'))} pages of {commit}", flush=True)


if __name__ == "__main__":
    main()
