"""Tags of one tagger as a column that the templates of another one read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from handful.core.records import Sentence
from handful.features.columns import Tokens
from handful.tagging.base import add_columns


class TagColumn:
    """Add what a tagger predicts to sentences, as a column.

    Use it where templates read part-of-speech tags and the text has none: ``CondensedFeatures(ner).fit(files,
    prepare=TagColumn(pos_tagger))``.

    Parameters
    ----------
    tagger : CRF or other tagger
        Fitted.
    name : str
        Name of the column.

    Examples
    --------
    >>> from handful.tagging import CRF
    >>> tagger = CRF(strength=0.1).fit([["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]])
    >>> TagColumn(tagger)([["the", "cat"]])[0].columns["pos"]
    ('D', 'N')
    """

    def __init__(self, tagger: Any, name: str = "pos") -> None:
        self.tagger = tagger
        self.name = name

    @property
    def fingerprint(self) -> str:
        """Names the tagger, for checkpoints."""
        weights = getattr(self.tagger, "weights_", None)
        content = repr(self.tagger).encode() if weights is None else weights.tobytes()
        return f"{self.name} {hashlib.sha256(content).hexdigest()}"

    def __call__(self, sentences: Sequence[Tokens]) -> list[Sentence]:
        """Return the sentences with the column."""
        tags = self.tagger.predict(sentences)
        return [add_columns(sentence, {self.name: row}) for sentence, row in zip(sentences, tags, strict=True)]
