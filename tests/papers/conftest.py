"""A catalogue of one small corpus."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from papers import corpora as catalog
from papers.corpora import Corpus, CorpusFile


@pytest.fixture
def small_corpus(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Corpus]:
    """Make a catalogue that holds nothing but one corpus of the given content."""

    def make(content: bytes, *, url: str | None = None, path: str = "small.txt.gz", **more: Any) -> Corpus:
        inside = hashlib.sha256(content).hexdigest()
        file = CorpusFile(
            path,
            size=len(content),
            sha256=hashlib.sha256(gzip.compress(content, compresslevel=9, mtime=0)).hexdigest(),
            content_sha256=inside,
            url=url,
            url_sha256=inside if url else None,
        )
        entry = Corpus("small", "a small corpus", "us", "MIT", origin="here", format="text", files=(file,), **more)
        monkeypatch.setattr(catalog, "_read", lambda: {"small": entry})
        return entry

    return make
