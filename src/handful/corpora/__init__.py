"""Bytes to records: readers and writers of corpus formats, the catalogue of corpora, generated samples."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handful.corpora.catalog import Corpus as Corpus
    from handful.corpora.catalog import CorpusFile as CorpusFile
    from handful.corpora.catalog import all_corpora as all_corpora
    from handful.corpora.catalog import corpus as corpus
    from handful.corpora.checking import CheckReport as CheckReport
    from handful.corpora.checking import check as check
    from handful.corpora.fetch import download as download
    from handful.corpora.folder import data_folder as data_folder
    from handful.corpora.folder import find as find
    from handful.corpora.loading import load as load

# Name to module; loaded on first use, so that importing the room costs next to nothing.
_PLACES = {
    "CheckReport": "checking",
    "Corpus": "catalog",
    "CorpusFile": "catalog",
    "all_corpora": "catalog",
    "check": "checking",
    "corpus": "catalog",
    "data_folder": "folder",
    "download": "fetch",
    "find": "folder",
    "load": "loading",
}

__all__ = [
    "CheckReport",
    "Corpus",
    "CorpusFile",
    "all_corpora",
    "check",
    "corpus",
    "data_folder",
    "download",
    "find",
    "load",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"handful.corpora.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'handful.corpora' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
