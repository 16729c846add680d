"""The site: `sphinx-build docs docs/_build`. What is generated (api/, gallery/, repository/) is ignored by git."""

import sys
from pathlib import Path

import auclab

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from public_names import members

project = "auclab"
author = "The auclab authors"
version = release = auclab.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "equations",
    "repository_pages",
    "switcher",
    "terminal",
]
exclude_patterns = ["_build", "_ext", "_static", "_templates", "drawn"]
nitpicky = True

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_context = {"own_members": members()}
autodoc_typehints = "none"  # docstrings say what an argument may be
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
templates_path = ["_templates"]

# Examples run in every build, tutorials in the full one alone.
sphinx_gallery_conf = {
    "examples_dirs": ["examples", "tutorials"],
    "gallery_dirs": ["gallery", "tutorials_python"],
    "filename_pattern": r"/examples/plot_" if tags.has("quick") else r"/(examples|tutorials)/plot_",  # noqa: F821
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "capture_repr": (),
    "image_scrapers": ("matplotlib", "figures.display_scraper"),
    "plot_gallery": True,
    "doc_module": ("auclab",),
    "reference_url": {"auclab": None},
    "backreferences_dir": None,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "nested_sections": False,
}
suppress_warnings = ["config.cache"]

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

html_theme = "pydata_sphinx_theme"
html_title = f"auclab {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars = {
    page: [] for page in ("start", "glossary", "versions", "repository/CONTRIBUTING", "repository/CHANGELOG")
}
html_theme_options = {
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
copyright = "The auclab authors, BSD 3-clause license"
