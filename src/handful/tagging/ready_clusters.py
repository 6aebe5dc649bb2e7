"""Ready Brown clusters of the package spacy-lookups-data (extra ``clusters``): English, German, Spanish."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import islice
from typing import Any

_PACKAGE = "spacy_lookups_data"
LANGUAGES = ("en", "de", "es")
_MOST_WORDS = 80_000  # hashed, they add less than 0.5 MB to a model file
_LEAST_COVERAGE = 0.6  # of the running words of training
_CHUNK = 1 << 20
_MOST_CHARACTERS = 12 << 20
_ENTRY = re.compile(r'("(?:[^"\\]|\\.)*"):\s*([0-9]{1,9})\s*[,}]')


@dataclass(frozen=True)
class ReadyClusters:
    """Cluster paths of the frequent words of a language.

    Parameters
    ----------
    language : str
        Code of the language.
    coverage : float
        Fraction of the running words of training that have a cluster.
    paths : dict of str to str
        Path of each word, as a string of bits.
    """

    language: str
    coverage: float
    paths: dict[str, str]


def ready_clusters(sentences: Iterable[Sequence[str]]) -> ReadyClusters | None:
    """Return the table that covers most of the running words of some sentences.

    Parameters
    ----------
    sentences : iterable of sequences of str
        Training sentences.

    Returns
    -------
    ReadyClusters or None
        None where the package is not installed, or no table covers 60% of the running words.
    """
    if find_spec(_PACKAGE) is None:
        return None
    counts = Counter(token for sentence in sentences for token in sentence if any(map(str.isalpha, token)))
    total = max(counts.total(), 1)
    tables = []
    for language in LANGUAGES:
        paths = _paths(language)
        coverage = sum(counts[word] for word in counts.keys() & paths.keys()) / total
        tables.append(ReadyClusters(language, coverage, paths))
    best = max(tables, key=lambda table: table.coverage)
    return best if best.coverage >= _LEAST_COVERAGE else None


@lru_cache(maxsize=len(LANGUAGES))
def _paths(language: str) -> dict[str, str]:
    """Return the paths of the most frequent words that have a cluster; the file has words by falling frequency."""
    path: Any = files(_PACKAGE) / "data" / f"{language}_lexeme_cluster.json.gz"
    if not path.is_file():
        return {}
    paths: dict[str, str] = {}
    rest = ""
    with path.open("rb") as compressed, gzip.open(compressed, "rt", encoding="utf-8") as file:
        for _ in range(_MOST_CHARACTERS // _CHUNK):
            text = rest + file.read(_CHUNK)
            end = 0
            for match in _ENTRY.finditer(text):
                end = match.end()
                if number := int(match[2]):  # 0 is a word without a cluster
                    paths[json.loads(match[1])] = path_of(number)
            rest = text[end:]
            if len(paths) >= _MOST_WORDS or end == 0:
                break
    return dict(islice(paths.items(), _MOST_WORDS))


def path_of(number: int) -> str:
    """Return the path of a cluster, whose number has the first bit of the path as its lowest one.

    Examples
    --------
    >>> path_of(6)
    '0110000000000000'
    """
    return f"{number:016b}"[::-1]
