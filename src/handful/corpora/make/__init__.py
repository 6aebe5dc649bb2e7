"""Generated samples: points, apartment ads, tagged sentences, and words with senses, made without outside data."""

from __future__ import annotations

from handful.corpora.make.ads import APARTMENT_FIELDS, APARTMENT_PROTOTYPES, make_apartment_ads
from handful.corpora.make.senses import DEFAULT_WORD_SENSES, make_sense_contexts
from handful.corpora.make.sentences import make_tagged_sentences
from handful.corpora.make.shapes import make_two_gaussians, make_two_moons

__all__ = [
    "APARTMENT_FIELDS",
    "APARTMENT_PROTOTYPES",
    "DEFAULT_WORD_SENSES",
    "make_apartment_ads",
    "make_sense_contexts",
    "make_tagged_sentences",
    "make_two_gaussians",
    "make_two_moons",
]
