"""What to tell about tagged sentences that look as if something went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from handful.core.counted import counted
from handful.corpora.raw_text import pieces_of

_LONG = 150
_TYPELESS = frozenset({"B-", "I-", "E-", "S-"})
_FEWEST_WHOLE, _LEAST_WHOLE = 3, 0.001  # contractions that are worth a note: in all, and of all tokens


def notes_on_tags(tags: Sequence[Sequence[str]]) -> list[str]:
    """Return what a person should know about the tags of some sentences.

    Parameters
    ----------
    tags : sequence of sequences of str
        One tag a token.

    Returns
    -------
    list of str
        Sentences: on text without blank lines between sentences, on numbers in place of tags, on spans without a type, and on
        spans that go on without having begun.

    Examples
    --------
    >>> print(*notes_on_tags([["B-LOC", "I-PER"], ["B-LOC", "O"], ["B-PER", "I-PER"]]))
    1 of 4 spans begins with I- (such as I-PER after B-LOC), not with B-; it is read as a span of its own.
    """
    return [*_on_length(tags), *_on_numbers(tags), *_on_typeless(tags), *_on_spans(tags)]


def notes_on_tokens(sentences: Iterable[Iterable[str]]) -> list[str]:
    """Return a note if many contractions, and most of them, are one token, while raw text is cut at their apostrophes.

    Parameters
    ----------
    sentences : iterable of iterables of str
        Tokens.

    Returns
    -------
    list of str
        One sentence, or none.

    Examples
    --------
    >>> print(*notes_on_tokens([["it", "didn't"], ["we're", "here"], ["don't"]]))
    3 tokens such as "didn't" are cut in raw text (did n't), ...
    """
    tokens = [token for sentence in sentences for token in sentence]
    whole: Counter[str] = Counter()
    pieces_of_whole: dict[str, list[str]] = {}
    n_cut = 0
    for token, pieces in zip(tokens, pieces_of(tokens), strict=True):
        if "'" not in token and "\u2019" not in token:
            continue
        if len(pieces) > 1 and any(map(str.isalnum, pieces)):
            whole[token] += 1
            pieces_of_whole[token] = pieces
        else:
            n_cut += len(token) > 1
    n_whole = whole.total()
    if n_whole < max(_FEWEST_WHOLE, _LEAST_WHOLE * len(tokens)) or n_whole <= n_cut:
        return []
    example = max(whole, key=lambda token: whole[token])
    cut = " ".join(pieces_of_whole[example])
    return [
        f'{n_whole:,} tokens such as "{example}" are cut in raw text ({cut}), which the tagger has not '
        "seen. Give it texts with blanks between tokens, one sentence a line, or cut such tokens here."
    ]


def _on_length(tags: Sequence[Sequence[str]]) -> list[str]:
    n_tokens = sum(map(len, tags))
    if n_tokens <= _LONG * len(tags):
        return []
    return [
        f"The {n_tokens:,} tokens are {counted(len(tags), 'sentence')}, {n_tokens // len(tags):,} tokens each. "
        "Is a blank line missing after each sentence?"
    ]


def _on_numbers(tags: Sequence[Sequence[str]]) -> list[str]:
    kinds = {tag for row in tags for tag in row}
    if len(kinds) < 2 or not all(map(str.isdecimal, kinds)):
        return []
    return [
        f"All {len(kinds):,} tags are numbers, as data sets of Hugging Face have them, so that nobody knows which are spans. "
        "Write their names (there: dataset.features[...].feature.names)."
    ]


def _on_typeless(tags: Sequence[Sequence[str]]) -> list[str]:
    """Tell of tags such as B- that name no type, which is a type of its own for ``conlleval``, too."""
    places = [(number, tag) for number, row in enumerate(tags, start=1) for tag in row if tag in _TYPELESS]
    if not places:
        return []
    number, tag = places[0]
    named, read = (
        ("tag names", "it is read as a type") if len(places) == 1 else ("tags name", "they are read as a type")
    )
    return [
        f"{len(places):,} {named} no type ({tag} in sentence {number:,}); {read} of {'its' if len(places) == 1 else 'their'} own. "
        "Write the type behind the hyphen, or O."
    ]


def _on_spans(tags: Sequence[Sequence[str]]) -> list[str]:
    """Tell of spans that begin with I-, unless B- only parts neighbors of one type: then the file is written so (IOB1)."""
    begun, needless, broken = 0, 0, []
    for row in tags:
        for before, tag in zip(["", *row], row, strict=False):
            if tag[:2] == "B-":
                begun += 1
                needless += before[2:] != tag[2:]
            elif tag[:2] == "I-" and before[2:] != tag[2:]:
                broken.append((before, tag))
    if not broken or not needless:
        return []
    before, tag = broken[0]
    where = f"after {before}" if before else "at the start of a sentence"
    begin, read = (
        ("begins", "it is read as a span of its own") if len(broken) == 1 else ("begin", "each is read as one")
    )
    return [
        f"{len(broken):,} of {begun + len(broken):,} spans {begin} with I- (such as {tag} {where}), not with B-; {read}."
    ]
