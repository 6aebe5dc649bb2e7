"""The manual, built by `make docs` without a network."""

from __future__ import annotations

from handful.core.version import __version__

project = "handful"
author = "The handful developers"
copyright = author
version = release = __version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
html_theme = "alabaster"
html_theme_options = {"description": "Learning from a handful of labels", "page_width": "1100px"}

# Pages link to files of the repository and to headings of each other.
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing", "ref.ref"]  # the latter for docstrings that come from scikit-learn

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's Parameters sections tell the types
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
