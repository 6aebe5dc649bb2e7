"""Records to predicates: a small template language, ready template sets, and their extraction."""

from __future__ import annotations

from handful.features.extractor import Extractor
from handful.features.language import Atom, Template, parse_template, parse_templates
from handful.features.predicates import Predicates
from handful.features.template_sets import lookup_templates, ready_set

__all__ = [
    "Atom",
    "Extractor",
    "Predicates",
    "Template",
    "lookup_templates",
    "parse_template",
    "parse_templates",
    "ready_set",
]
