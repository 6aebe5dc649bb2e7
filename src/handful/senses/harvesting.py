"""Harvesting unlabeled contexts of words from running text."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from handful.data.records import Occurrence, Sentence
from handful.errors import Progress, Step
from handful.senses.features import Tagger, forms, tokenize_context

_CHUNK = 2_000
_NEARBY = 4
_TAGS = {"n": "N", "v": "V", "a": "J"}


def harvest(
    sentences: Iterable[Sentence | Sequence[str]],
    words: Iterable[str],
    *,
    limit: int = 1_500,
    before: int = 0,
    tagger: Tagger | None = None,
    exclude: Iterable[Occurrence] = (),
    progress: Progress | None = None,
) -> list[Occurrence]:
    """Collect sentences that contain a form of given words, reading the text once and only as far as needed.

    Parameters
    ----------
    sentences : iterable of Sentence or of sequences of str
        Running text, read as a stream.
    words : iterable of str
        What to look for: filed as ``"art.n"``, ``"call.v"`` or ``"free.a"`` in all its forms, otherwise as it stands.
    limit : int
        Most contexts of a word; the first ones count.
    before : int
        Sentences before that belong to a context too, as far as the stream has them.
    tagger : callable or None
        From sentences to Penn Treebank tags. With it, only uses in the right part of speech are kept.
    exclude : iterable of Occurrence
        Contexts that must not be harvested again, such as those of a test set.
    progress : callable or None
        Receives the number of sentences read.

    Returns
    -------
    list of Occurrence
        Unlabeled contexts, by word and then in text order; ids tell the word and the number of the sentence.

    Notes
    -----
    A sentence counts once for a word, at its first form in it. A context is excluded if the word and the four tokens to either
    side are those of an excluded one.

    Examples
    --------
    >>> contexts = harvest([["He", "called", "twice"], ["No", "call"], ["A", "cat"]], ["call.v"])
    >>> [(o.id, o.tokens, o.target) for o in contexts]
    [('call.v.1', ('He', 'called', 'twice'), 1), ('call.v.2', ('No', 'call'), 1)]
    >>> [o.tokens for o in harvest([["The", "Bank", "fell"], ["Two", "banks"]], ["bank"])]
    [('The', 'Bank', 'fell')]
    """
    by_form = _by_form(words)
    barred = {_nearby(tokenize_context(occurrence)) for occurrence in exclude}
    contexts: dict[str, list[Occurrence]] = {word: [] for word in chain.from_iterable(by_form.values())}
    for chunk, n_read in _chunks(sentences, by_form, before):
        for occurrence in _occurrences(chunk, by_form, tagger):
            taken = contexts[occurrence.word]
            if len(taken) < limit and _nearby(occurrence) not in barred:
                taken.append(occurrence)
        if progress is not None:
            progress(Step("harvest", n_read, None, {"contexts": float(sum(map(len, contexts.values())))}))
        if all(len(taken) >= limit for taken in contexts.values()):
            break
    return list(chain.from_iterable(map(contexts.__getitem__, sorted(contexts))))


def _by_form(words: Iterable[str]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = defaultdict(list)
    for word in words:
        base, part = _filed(word)
        for form in forms(base, part) if part else [base.lower()]:
            table[form].append(word)
    return table


def _filed(word: str) -> tuple[str, str]:
    """Take a word that is filed under its part of speech apart; of others the part is empty."""
    base, dot, part = word.rpartition(".")
    return (base, part) if dot and base and part in _TAGS else (word, "")


_Numbered = tuple[int, tuple[str, ...], tuple[str, ...]]  # number of a sentence, its tokens, and those before it


def _chunks(
    sentences: Iterable[Sentence | Sequence[str]], by_form: Mapping[str, list[str]], before: int
) -> Iterator[tuple[list[_Numbered], int]]:
    """Yield chunks of sentences that hold a form, and how many sentences were read."""
    chunk: list[_Numbered] = []
    number = 0
    earlier: deque[tuple[str, ...]] = deque(maxlen=before)
    for number, sentence in enumerate(sentences, start=1):
        tokens = sentence.tokens if isinstance(sentence, Sentence) else tuple(sentence)
        if any(token.lower() in by_form for token in tokens):
            chunk.append((number, tokens, tuple(chain.from_iterable(earlier))))
            if len(chunk) == _CHUNK:
                yield chunk, number
                chunk = []
        earlier.append(tokens)
    yield chunk, number


def _occurrences(
    chunk: list[_Numbered], by_form: Mapping[str, list[str]], tagger: Tagger | None
) -> Iterator[Occurrence]:
    tags = tagger([list(tokens) for _, tokens, _ in chunk]) if tagger is not None and chunk else None
    for i, (number, tokens, earlier) in enumerate(chunk):
        for word, position in _hits(tokens, by_form, None if tags is None else tags[i]).items():
            yield Occurrence(word, f"{word}.{number}", earlier + tokens, len(earlier) + position)


def _hits(tokens: tuple[str, ...], by_form: Mapping[str, list[str]], tags: Sequence[str] | None) -> dict[str, int]:
    hits: dict[str, int] = {}
    for position, token in enumerate(tokens):
        for word in by_form.get(token.lower(), ()):
            part = _filed(word)[1]
            if tags is None or not part or tags[position].startswith(_TAGS[part]):
                hits.setdefault(word, position)
    return hits


def _nearby(occurrence: Occurrence) -> tuple[str, ...]:
    start = max(0, occurrence.target - _NEARBY)
    around = occurrence.tokens[start : occurrence.target + _NEARBY + 1]
    return tuple(token.lower() for token in around)
