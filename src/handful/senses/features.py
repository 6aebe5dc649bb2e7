"""Context features of a word: bag of lemmas, words and tags at positions, collocations, syntactic patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from handful.core.records import Occurrence
from handful.senses.lemmas import lemma
from handful.senses.patterns import patterns
from handful.senses.tokens import sentence_bounds, tokenize

Tagger = Callable[[Sequence[Sequence[str]]], Sequence[Sequence[str]]]

# Value of the features of each group. Chosen by five-fold cross-validation on the training part of Senseval-2, all words
# pooled: words at fixed positions are many and, one by one, tell little.
WEIGHTS: Mapping[str, float] = {
    "bag": 1.0,
    "colloc": 1.0,
    "syntax": 1.0,
    "case": 1.0,
    "satellite": 2.0,
    "form": 0.5,
    "next": 0.5,
    "near": 0.25,
    "tag": 0.5,
}
_STOP_TEXT = """
a an the and or but of to in on at by for with from as is are was were be been being am it its he she they them his her
their we us our you your i me my this that these those there here not n't no so if than then too very can could will
would shall should may might must do does did done have has had having which who whom whose what when where why how
all any some such only own same other into over under up down out off again further once about between through during
before after above below both each few more most nor s 's 'd 'll 're 've 'm also just
"""
_STOP = frozenset(_STOP_TEXT.split())


@dataclass(frozen=True)
class Context:
    """A context made ready: finer tokens, and tags of the sentence around the word.

    Parameters
    ----------
    occurrence : Occurrence
        The word in its tokenized context.
    start, end : int
        Bounds of its sentence.
    tags : tuple of str
        Penn Treebank tags of that sentence; empty without a tagger.
    """

    occurrence: Occurrence
    start: int
    end: int
    tags: tuple[str, ...] = ()

    @property
    def part(self) -> str:
        """Part of speech that the word is filed under: ``"n"``, ``"v"``, ``"a"``, or empty."""
        return self.occurrence.word.rpartition(".")[2] if "." in self.occurrence.word else ""


def make_contexts(occurrences: Sequence[Occurrence], tagger: Tagger | None = None) -> list[Context]:
    """Tokenize contexts and tag the sentence around each word.

    Parameters
    ----------
    occurrences : sequence of Occurrence
        Words in context.
    tagger : callable or None
        From sentences (lists of tokens) to their Penn Treebank tags, such as the `predict` of a fitted tagger.

    Returns
    -------
    list of Context
        One for each occurrence.

    Examples
    --------
    >>> c = make_contexts([Occurrence("art.n", "1", ("It", "fell.", "Is", "it", "art?"), 4)])[0]
    >>> c.occurrence.tokens[c.start : c.end], c.part
    (('Is', 'it', 'art', '?'), 'n')
    """
    fine = [tokenize(occurrence) for occurrence in occurrences]
    bounds = [sentence_bounds(occurrence.tokens, occurrence.target) for occurrence in fine]
    if tagger is None:
        return [Context(o, start, end) for o, (start, end) in zip(fine, bounds, strict=True)]
    tagged = tagger([list(o.tokens[start:end]) for o, (start, end) in zip(fine, bounds, strict=True)])
    return [Context(o, start, end, tuple(tags)) for o, (start, end), tags in zip(fine, bounds, tagged, strict=True)]


def context_features(
    context: Context, *, window: int = 35, weights: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Return the features of a word in context.

    Parameters
    ----------
    context : Context
        See `make_contexts`.
    window : int
        Words to either side that make up the bag.
    weights : mapping of str to float or None
        Value of the features of each group; None is `WEIGHTS`. A group at 0 is left out.

    Returns
    -------
    dict of str to float
        Feature names, which start with the name of their group, and their values.

    Examples
    --------
    >>> c = make_contexts([Occurrence("art.n", "1", ("Modern", "art", "galleries"), 1)])[0]
    >>> sorted(context_features(c))[:3]
    ['bag gallery', 'bag modern', 'colloc +1+2 gallery </s>']
    """
    values = WEIGHTS if weights is None else {**WEIGHTS, **weights}
    valued = {}
    for name in _names(context, window):
        value = values[name.partition(" ")[0]]
        if value:
            valued[name] = value
    return valued


def _names(context: Context, window: int) -> Iterator[str]:
    o = context.occurrence
    low = [token.lower() for token in o.tokens[context.start : context.end]]
    tags = context.tags
    target = o.target - context.start
    lemmas = [lemma(token, tags[i] if tags else "") for i, token in enumerate(low)]
    yield from _bag(context, lemmas, window)
    yield from _positions(low, lemmas, tags, target)
    yield from _collocations(lemmas, target)
    yield f"form {low[target]}"
    yield from _capitals(o, context.start)
    for satellite in o.satellites:
        yield f"satellite {o.tokens[satellite].lower()}"
    if o.satellites:
        yield "satellite"
    if tags and context.part:
        for name in patterns(o.tokens[context.start : context.end], tags, target, context.part):
            yield f"syntax {name}"


def _bag(context: Context, lemmas: list[str], window: int) -> Iterator[str]:
    o = context.occurrence
    for i in range(max(0, o.target - window), min(len(o.tokens), o.target + window + 1)):
        if i == o.target:
            continue
        inside = context.start <= i < context.end
        name = lemmas[i - context.start] if inside else lemma(o.tokens[i])
        if name[:1].isalpha() and name not in _STOP and len(name) > 1:
            yield f"bag {name}"


def _positions(low: list[str], lemmas: list[str], tags: Sequence[str], target: int) -> Iterator[str]:
    for offset in (-3, -2, -1, 1, 2, 3):
        i = target + offset
        inside = 0 <= i < len(low)
        word = low[i] if inside else _edge(i)
        group = "next" if abs(offset) == 1 else "near"
        yield f"{group} {offset:+d} {word}"
        if inside and lemmas[i] != word:
            yield f"{group} {offset:+d} lemma {lemmas[i]}"
        if tags:
            yield f"tag {offset:+d} {tags[i] if inside else _edge(i)}"
    if tags:
        yield f"tag 0 {tags[target]}"


def _collocations(lemmas: list[str], target: int) -> Iterator[str]:
    def at(offset: int) -> str:
        i = target + offset
        return lemmas[i] if 0 <= i < len(lemmas) else _edge(i)

    for a, b in ((-2, -1), (-1, 1), (1, 2)):
        yield f"colloc {a:+d}{b:+d} {at(a)} {at(b)}"
    yield f"colloc -1..+1 {at(-1)} {lemmas[target]} {at(1)}"


def _capitals(o: Occurrence, start: int) -> Iterator[str]:
    if not o.tokens[o.target][:1].isupper():
        return
    yield "case first" if o.target == start else "case capital"
    if o.target + 1 < len(o.tokens) and o.tokens[o.target + 1][:1].isupper():
        yield "case capital next"
    if o.target > start and o.tokens[o.target - 1][:1].isupper():
        yield "case capital before"


def _edge(i: int) -> str:
    return "<s>" if i < 0 else "</s>"
