"""What tags words have in a tagged corpus, as a lookup for taggers of another one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from handful.core.errors import ParameterError

BETWEEN = "|"


def ambiguity_classes(
    sentences: Iterable[Sequence[str]], tags: Iterable[Sequence[str]], *, min_share: float = 0.05
) -> dict[str, str]:
    """Return for every word of a tagged corpus the tags that it has there, for the `lookups` of a CRF.

    Use it with a large corpus that is tagged in another way than yours: what a word can be there tells much about words
    that your own sentences lack. On the sentences that a tagger learns from it would give rare words away.

    Parameters
    ----------
    sentences : iterable of sequences of str
        The tokens.
    tags : iterable of sequences of str
        One tag per token.
    min_share : float
        Tags that a word has less often than this are left out.

    Returns
    -------
    dict of str to str
        The tags of a word, sorted, with ``|`` between them. Words are counted in lower case, and stand there in lower case,
        with a capital, and in capitals.

    Examples
    --------
    >>> classes = ambiguity_classes([["The", "run"], ["they", "run"]], [["AT", "NN"], ["PPSS", "VB"]])
    >>> classes["run"], classes["RUN"], classes["They"]
    ('NN|VB', 'NN|VB', 'PPSS')
    """
    if not 0.0 <= min_share <= 1.0:
        raise ParameterError(f"ambiguity_classes: min_share must be from 0 to 1, got {min_share}.")
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tokens, row in zip(sentences, tags, strict=True):
        for token, tag in zip(tokens, row, strict=True):
            counts[token.lower()][tag] += 1
    classes = {}
    for word, of_word in counts.items():
        least = min_share * of_word.total()
        classes[word] = BETWEEN.join(sorted(tag for tag, count in of_word.items() if count >= least))
    capitals = {form(word): kept for word, kept in classes.items() for form in (str.capitalize, str.upper)}
    return capitals | classes
