"""Corpora by name: find the files, read them as the catalogue says."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_never

from handful.core.errors import FileError
from handful.corpora.catalog import Corpus, Role, corpus
from handful.corpora.folder import file_state, find


def load(name: str) -> Any:
    """Load a corpus of the catalogue from the data folder.

    Parameters
    ----------
    name : str
        Name of the corpus, such as ``"brown-pos"``, or of its file.

    Returns
    -------
    iterator or Table or mapping
        By the corpus's format: an iterator of `Sentence` (CoNLL columns, text), `Tree` (CoNLL-U), `Occurrence`
        (Senseval, with the senses of its key) or `ClusterRow` (Brown clusters), that reads as it goes; a `Table`;
        the Senseval sense map.

    Raises
    ------
    ParameterError
        If the catalogue has no such corpus; the message says which one may have been meant.
    MissingDataError
        If it is not in the data folder; the message says where it belongs and how to get it.
    FileError
        If a file has neither the size nor the content of the catalogue. (Content is compared only where the size
        differs, as it does after packing it anew; `handful.corpora.check` always compares it.)
    FormatError
        While reading, if a file is damaged.

    Examples
    --------
    >>> load("wines")
    Traceback (most recent call last):
    ...
    handful.core.errors.ParameterError: catalog: there is no corpus 'wines'. Did you mean 'wine'?
    """
    entry = corpus(name)
    path = _found(entry)
    match entry.format:
        case "conll":
            from handful.corpora.formats.conll import read_conll

            return read_conll(path, entry.columns)
        case "conllu":
            from handful.corpora.formats.conllu import read_conllu

            return read_conllu(path)
        case "text":
            from handful.corpora.formats.plain import read_text

            return read_text(path)
        case "clusters":
            from handful.corpora.formats.clusters import read_clusters

            return read_clusters(path)
        case "senseval":
            from handful.corpora.formats.senseval import read_senseval

            return read_senseval(path, key=_found(entry, "key"), dtd=_found(entry, "dtd"))
        case "sense-map":
            from handful.corpora.formats.senseval import read_sense_map

            return read_sense_map(path)
        case "table":
            from handful.corpora.tables import read_table

            return read_table(path, target=entry.target, as_they_stand=True)
        case None:
            raise AssertionError(f"catalog.toml: {entry.name} has files but no format")
        case _:
            assert_never(entry.format)


def _found(entry: Corpus, role: Role = "data") -> Path:
    path = find(entry.name, role)
    file = next(file for file in entry.files if file.role == role)
    if file.size not in (None, path.stat().st_size) and file_state(file) != "here":
        raise FileError(
            f"{path}: is not the file of the corpus {entry.name!r}: expected {file.size:,} bytes or the same content, "
            f"got {path.stat().st_size:,} bytes. Run `handful data check {entry.name}`."
        )
    return path
