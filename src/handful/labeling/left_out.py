"""Why models that tell neither weights nor neighbors answer as they do: which words change the answer when hidden."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from handful.core.explanation import Evidence, Explanation
from handful.core.records import Occurrence, Sentence

_HIDDEN = "_"
_REACH = 3  # words to each side of a token that are hidden one by one
_MOST_WORDS = 60
_HOW = "1 for a word without which the answer changes"


def explain_tags(tagger: Any, sentence: Sequence[str] | Sentence) -> list[Explanation]:
    """Explain the tags of any tagger.

    Parameters
    ----------
    tagger : fitted tagger
        With ``predict(sentences)``.
    sentence : list of str, or Sentence
        The tokens.

    Returns
    -------
    list of Explanation
        One for each token: the near words, itself among them, without which it gets another tag, and which one. The
        other tag is the runner-up.

    Examples
    --------
    >>> from handful.tagging.frequent import FrequentTag
    >>> tagger = FrequentTag().fit([["a", "b", "a"]], [["X", "Y", "X"]])
    >>> [item.what for item in explain_tags(tagger, ["a", "b"])[1].evidence]
    ['without b: X']
    """
    known = sentence if isinstance(sentence, Sentence) else Sentence(tuple(sentence))
    tags, *others = tagger.predict([known, *(replace(known, tokens=tokens) for tokens in _each_hidden(known.tokens))])
    told = []
    for at, (token, tag) in enumerate(zip(known.tokens, tags, strict=True)):
        near = range(max(at - _REACH, 0), min(at + _REACH + 1, len(known)))
        without = [(known.tokens[place], others[place][at]) for place in sorted(near, key=lambda p: (abs(p - at), p))]
        told.append(_explanation(tag, without, token))
    return told


def explain_sense(answer: Callable[[list[Occurrence]], list[str]], occurrence: Occurrence) -> Explanation:
    """Explain the sense that a word in context gets.

    Parameters
    ----------
    answer : callable
        Gives the sense of each of some occurrences.
    occurrence : Occurrence
        The word and its context.

    Returns
    -------
    Explanation
        The words of the context without which the word gets another sense; of a long context the sixty nearest.
    """
    tokens, target = occurrence.tokens, occurrence.target
    own = {target, *occurrence.satellites}
    near = sorted((at for at in range(len(tokens)) if at not in own), key=lambda at: (abs(at - target), at))
    near = near[:_MOST_WORDS]
    hidden = list(_each_hidden(tokens))
    sense, *others = answer([occurrence, *(replace(occurrence, tokens=hidden[at]) for at in near)])
    return _explanation(sense, [(tokens[at], other) for at, other in zip(near, others, strict=True)], tokens[target])


def _each_hidden(tokens: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [(*tokens[:at], _HIDDEN, *tokens[at + 1 :]) for at in range(len(tokens))]


def _explanation(label: str, without: list[tuple[str, str]], subject: str) -> Explanation:
    changing = dict.fromkeys((word, other) for word, other in without if other != label)
    evidence = tuple(Evidence(f"without {word}: {other}", 1.0) for word, other in changing)
    runner_up = next((other for _, other in changing), None)
    return Explanation(label, None, runner_up, evidence, _HOW, subject=subject)
