"""The manual, built by `make docs` without a network; links into other manuals only with HANDFUL_INTERSPHINX=1."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from handful.version import __version__

sys.path.insert(0, str(Path(__file__).parent))

from method_pages import write_method_pages

project = "handful"
author = "The handful developers"
copyright = author
version = release = __version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "py:obj"  # `handful.fit` in a docstring is a link
highlight_language = "sh"  # blocks without a language show commands
html_theme = "furo"
html_title = f"handful {__version__}"
html_static_path = ["static"]
html_css_files = ["manual.css"]

# Pages link to files of the repository and to headings of each other.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.xref_missing", "ref.ref", "config.cache"]  # ref.ref: docstrings that come from scikit-learn

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/[a-z]",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

# The inventories are fetched, so only where the network may be used.
if os.environ.get("HANDFUL_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
        "polars": ("https://docs.pola.rs/api/python/stable", None),
    }

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's Parameters sections tell the types
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

write_method_pages(Path(__file__).parent / "methods")
