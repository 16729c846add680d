"""The switcher between versions of the site, and the banner of old ones: where AUCLAB_SITE names the site's address.

`.ci/site_versions.py` sets it. Without it the site has neither, and asks for nothing.
"""

from __future__ import annotations

import os

from sphinx.application import Sphinx
from sphinx.config import Config

#: Environment variables: where the site is, without a slash at its end, and the name of this version there.
SITE, NAME = "AUCLAB_SITE", "AUCLAB_SITE_VERSION"


def add_switcher(app: Sphinx, config: Config) -> None:
    """Give the theme the list of versions, which is above the folders of all of them."""
    if SITE in os.environ:
        config.html_theme_options = config.html_theme_options | {
            "switcher": {"json_url": f"{os.environ[SITE]}/versions.json", "version_match": os.environ[NAME]},
            "show_version_warning_banner": True,
            "logo": {"text": config.project},  # the switcher beside it shows the version; phones have no room for both
            "navbar_start": ["navbar-logo", "version-switcher"],
            "check_switcher": False,  # the list is written when all versions are built
        }


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("config-inited", add_switcher, priority=100)  # before the theme reads them
    return {"parallel_read_safe": True}
