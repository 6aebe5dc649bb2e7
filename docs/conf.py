"""The manual, built by `make docs` without a network."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from handful.core.catalogue import cards
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


def write_methods(page: Path) -> None:
    """Write a page with all cards of the catalogue, so that a new method is in the manual by its line there."""
    lines = ["# Methods", "", "All methods of the catalogue, as `handful methods` lists them.", ""]
    for takes, group in groupby(cards(), key=lambda card: card.takes):
        lines += [
            f"## For {takes}",
            "",
            "| name | learns from | twin | cost | paper | what it does |",
            "|---|---|---|---|---|---|",
        ]
        for card in group:
            facts = (
                f"`{card.name}`",
                ", ".join(card.learns_from),
                card.twin or "",
                card.cost,
                card.paper or "",
                card.summary,
            )
            lines.append(f"| {' | '.join(fact.replace('|', '/') for fact in facts)} |")
        lines.append("")
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(lines), encoding="utf-8")


write_methods(Path(__file__).parent / "reference" / "methods.md")
