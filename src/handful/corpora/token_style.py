"""How tokens were cut, seen by their marks, so that raw text is cut as the training tokens were."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal, Self, TypeAlias

from handful.core.errors import ParameterError
from handful.corpora.formats import Head, format_of
from handful.corpora.formats.raw import is_raw
from handful.corpora.opening import Source
from handful.corpora.raw_text import pieces_of

Cut: TypeAlias = Literal["blanks", "words"]
"""Where raw text is cut: at blanks alone, or into words and marks."""

_AT_WORD = re.compile(r"\w{3}[,.;:!?]$")
_MARK = re.compile(r"[,.;:!?]")
_POINTED = re.compile(r"(?=.*[^\W\d_])\w\S*\.")  # env., av.-J.
_MANY = 0.1
_MOST_WHOLE = 20  # shapes of tokens that are remembered
_MOST_ABBREVIATIONS = 200
_AROUND = "\"'()[]{},.;:!?\u201c\u201d\u201e"  # marks that may stand around a token of raw text


@dataclass(frozen=True)
class TokenStyle:
    """What marks and cuts tell of tokens, as shares of all tokens.

    Parameters
    ----------
    marked : float
        Tokens that are a word with a mark behind it, such as ``nginx:``.
    marks : float
        Tokens that are a mark alone.
    cut_again : float
        Tokens that are cut in raw text, where they stand beside their neighbors.
    whole : tuple of str
        The most frequent of these that have marks inside, such as ``2024-07-15``, with 0 for every digit.
    abbreviations : tuple of str
        Tokens in small letters that keep their point inside a sentence, such as ``env.``; see `of_sentences`.

    Examples
    --------
    >>> TokenStyle.of(["nginx:", "up", "2-3", "."])
    TokenStyle(marked=0.25, marks=0.25, cut_again=0.5, whole=('0-0',), abbreviations=())
    """

    marked: float
    marks: float
    cut_again: float
    whole: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()

    @classmethod
    def of(cls, tokens: Iterable[str], abbreviations: Sequence[str] = ()) -> Self:
        """Look at tokens, in their order; abbreviations are not cut."""
        tokens = list(tokens)
        counts = Counter(tokens)
        total = max(counts.total(), 1)
        marked = sum(n for token, n in counts.items() if _AT_WORD.search(token))
        marks = sum(n for token, n in counts.items() if _MARK.fullmatch(token))
        cut_again = 0
        shapes: Counter[str] = Counter()
        for token, pieces in zip(tokens, pieces_of(tokens, abbreviations), strict=True):
            cut_again += len(pieces) > 1
            if len(pieces) > 2 and token[0].isalnum() and token[-1].isalnum():
                shapes[_shape(token)] += 1
        whole = tuple(shape for shape, _ in shapes.most_common(_MOST_WHOLE))
        shares = [round(n / total, 4) for n in (marked, marks, cut_again)]
        return cls(shares[0], shares[1], shares[2], whole, tuple(abbreviations))

    @classmethod
    def of_sentences(cls, sentences: Iterable[Sequence[str]]) -> Self:
        """Look at the tokens of sentences, whose ends tell abbreviations from last words.

        Parameters
        ----------
        sentences : iterable of sequences of str
            Tokens.

        Returns
        -------
        TokenStyle
            An abbreviation is a token with a letter and a last point that stands before the end of a sentence, more often than
            the word stands anywhere without the point. There are none where sentences end in words with a point.

        Examples
        --------
        >>> TokenStyle.of_sentences([["Il", "a", "env.", "30", "ans", "."]]).abbreviations
        ('env.',)
        """
        sentences = list(sentences)
        ends = [sentence[-1] for sentence in sentences if sentence and sentence[-1].endswith(".")]
        if 2 * ends.count(".") < len(ends):
            return cls.of(token for sentence in sentences for token in sentence)
        words = Counter(token.lower() for sentence in sentences for token in sentence)
        inside = Counter(
            token.lower() for sentence in sentences for token in sentence[:-1] if _POINTED.fullmatch(token)
        )
        kept = (token for token, n in inside.most_common() if n > words[token[:-1]])
        return cls.of((token for sentence in sentences for token in sentence), list(islice(kept, _MOST_ABBREVIATIONS)))

    @classmethod
    def remembered(cls, model: Any) -> Self | None:
        """Return the style of the tokens that a tagger was trained on; None where its file does not tell."""
        training = getattr(model, "training_", None)
        shares = training.get("tokens") if isinstance(training, Mapping) else None
        names = ("marked", "marks", "cut_again")
        if not isinstance(shares, Mapping) or not all(isinstance(shares.get(name), float) for name in names):
            return None
        # Files of earlier versions have none of these.
        whole, abbreviations = (tuple(map(str, shares.get(name, ()))) for name in ("whole", "abbreviations"))
        return cls(**{name: shares[name] for name in names}, whole=whole, abbreviations=abbreviations)

    def as_dict(self) -> dict[str, Any]:
        """Return what a model file keeps."""
        return {**asdict(self), "whole": list(self.whole), "abbreviations": list(self.abbreviations)}

    def is_like(self, text: Self) -> bool:
        """Tell whether the tokens are more like those of a text between its blanks than like its words and marks.

        Parameters
        ----------
        text : TokenStyle
            What stands between the blanks of the text.

        Returns
        -------
        bool
            Marks must be at words mostly, at least half as often as in the text; where the tokens have no marks at all, they
            must be cut again half as often as those of the text.

        Examples
        --------
        >>> text = TokenStyle.of("nginx: up 2-3 C.".split())
        >>> TokenStyle.of(["nginx:", "down", "4-5"]).is_like(text), TokenStyle.of(["It", "is", "up", "."]).is_like(text)
        (True, False)
        """
        if self.marked or self.marks:
            return self.marked > self.marks and self.marked >= text.marked / 2
        return self.cut_again > 0 and self.cut_again >= text.cut_again / 2


def cut_as_trained(source: Source, trained: TokenStyle | None) -> Cut | None:
    """Tell where text must be cut to agree with the training tokens, if that is not what its own look says.

    Parameters
    ----------
    source : Source
        Text in which punctuation stands at the words would be cut into words and marks.
    trained : TokenStyle or None
        Of the training tokens, if they are known.

    Returns
    -------
    {"blanks"} or None
        None where its look is enough.
    """
    head = Head.of(source)
    if trained is None or not is_raw(head) or not is_plain(source):
        return None
    return "blanks" if trained.is_like(TokenStyle.of(head.text.split())) else None


def cuts_more(source: Source, trained: TokenStyle | None) -> bool:
    """Tell whether text that is cut into words and marks loses tokens that the training data have whole, such as 2-3.

    Parameters
    ----------
    source : Source
        The text.
    trained : TokenStyle or None
        Of the training tokens, if they are known.

    Returns
    -------
    bool
        Whether one of ten training tokens, or more, would be cut again.
    """
    return trained is not None and trained.cut_again >= _MANY and is_raw(Head.of(source)) and is_plain(source)


def first_cut_apart(source: Source, trained: TokenStyle | None) -> str | None:
    """Return a token of raw text that is cut at marks inside it, though the training data have such tokens whole.

    Parameters
    ----------
    source : Source
        The text, of which the beginning is looked at.
    trained : TokenStyle or None
        Of the training tokens, if they are known.

    Returns
    -------
    str or None
        The first such token, as ``2024-07-15``, if there is one.
    """
    head = Head.of(source)
    if trained is None or not trained.whole or not is_raw(head) or not is_plain(source):
        return None
    tokens = (token.strip(_AROUND) for token in head.text.split())
    return next((token for token in tokens if _shape(token) in trained.whole), None)


def _shape(token: str) -> str:
    return re.sub(r"\d", "0", token)


def is_plain(source: Source) -> bool:
    """Tell plain text, whose lines may happen to have as many words or commas each, from columns and other files."""
    format, head = format_of(source), Head.of(source)
    is_even = format.name in ("conll", "delimited") and b"\t" not in head.data and not head.has_blank_inside
    return format.yields == "text" or (is_even and source.suffix == ".txt")


def refuse_cut(source: Source) -> None:
    """Raise if a file that is no plain text is to be cut."""
    if not is_plain(source):
        raise ParameterError(f"{source}: --tokens is for plain text, got another kind of file. Leave it out.")
