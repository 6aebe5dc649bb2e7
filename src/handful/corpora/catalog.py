"""The catalogue: every corpus that the papers use or that stands in for it, read from ``catalog.toml``."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files as package_files
from types import MappingProxyType
from typing import Any, Literal

from handful.core.errors import ParameterError

Access = Literal["download", "supply", "replaced"]
Format = Literal["table", "conll", "conllu", "senseval", "sense-map", "clusters", "text"]
Role = Literal["data", "dtd", "key", "notes"]


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One file of a corpus.

    Parameters
    ----------
    path : str
        Where it belongs, relative to the data folder, with ``/`` between folders.
    role : {"data", "dtd", "key", "notes"}
        What it is for; notes are not needed to load the corpus.
    size : int or None
        Size in bytes.
    sha256 : str or None
        Checksum of the file; None where the catalogue cannot know it.
    content_sha256 : str or None
        Checksum of what is inside a compressed file.
    url : str or None
        Where it may be downloaded from.
    url_sha256 : str or None
        Checksum of what comes from there.
    header : str or None
        Line that is put above what comes from there.
    """

    path: str
    role: Role = "data"
    size: int | None = None
    sha256: str | None = None
    content_sha256: str | None = None
    url: str | None = None
    url_sha256: str | None = None
    header: str | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the catalogue knows of a corpus.

    Parameters
    ----------
    name : str
        Name to load it by.
    what, notes : str
        What it is, in a few words, and what else to know.
    source, origin : str
        Who made it, and where this very copy comes from.
    license, terms : str
        Its licence in a word or two, and what is known of it in full.
    format : str or None
        How its files are read; None if it has none.
    files : tuple of CorpusFile
        Its files, that with the data first.
    columns : tuple of str
        Columns of a CoNLL file.
    target : str or None
        Column that holds the labels.
    counts : mapping of str to int
        What loading it must give.
    papers : tuple of str
        Keys of the papers whose re-run uses it.
    stands_for, stand_ins : tuple of str
        Corpora that it replaces, and corpora that replace it.
    """

    name: str
    what: str
    source: str
    license: str
    notes: str = ""
    origin: str = ""
    terms: str = ""
    format: Format | None = None
    files: tuple[CorpusFile, ...] = ()
    columns: tuple[str, ...] = ()
    target: str | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    papers: tuple[str, ...] = ()
    stands_for: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()

    @property
    def access(self) -> Access:
        """How it comes into the data folder: by download, by the user's hand, or not at all."""
        if not self.files:
            return "replaced"
        return "download" if all(file.url for file in self.files) else "supply"

    @property
    def size(self) -> int | None:
        """Size of all its files in bytes, if known."""
        sizes = [file.size for file in self.files if file.size is not None]
        return sum(sizes) if sizes and len(sizes) == len(self.files) else None


def all_corpora() -> Mapping[str, Corpus]:
    """Return all corpora by name, in the order of the catalogue.

    Returns
    -------
    mapping of str to Corpus
        Read-only.

    Examples
    --------
    >>> all_corpora()["brown-pos"].counts["tokens"]
    1161192
    """
    return _read()


def corpus(name: str) -> Corpus:
    """Return one corpus by its name or by the name of one of its files.

    Parameters
    ----------
    name : str
        Such as ``"brown-pos"`` or ``"brown-pos.tsv.gz"``.

    Returns
    -------
    Corpus
        Its entry.

    Raises
    ------
    ParameterError
        If there is none; the message says which one may have been meant.

    Examples
    --------
    >>> corpus("wine.csv").name
    'wine'
    >>> corpus("brown-poss")
    Traceback (most recent call last):
    ...
    handful.core.errors.ParameterError: catalog: there is no corpus 'brown-poss'. Did you mean 'brown-pos'?
    """
    entries = _read()
    if name in entries:
        return entries[name]
    for entry in entries.values():
        if any(file.role == "data" and name in (file.path, file.path.rpartition("/")[2]) for file in entry.files):
            return entry
    near = difflib.get_close_matches(name, entries, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "Run `handful data list` to see all."
    raise ParameterError(f"catalog: there is no corpus {name!r}. {hint}")


@cache
def _read() -> Mapping[str, Corpus]:
    text = package_files("handful.corpora").joinpath("catalog.toml").read_text(encoding="utf-8")
    entries = [_entry(values) for values in tomllib.loads(text)["corpus"]]
    stand_ins: dict[str, list[str]] = {}
    for entry in entries:
        for other in entry.stands_for:
            stand_ins.setdefault(other, []).append(entry.name)
    return MappingProxyType(
        {entry.name: replace(entry, stand_ins=tuple(stand_ins.get(entry.name, ()))) for entry in entries}
    )


def _entry(values: dict[str, Any]) -> Corpus:
    parts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    parts["files"] = tuple(CorpusFile(**file) for file in values.get("files", ()))
    parts["counts"] = MappingProxyType(values.get("counts", {}))
    return Corpus(**parts)
