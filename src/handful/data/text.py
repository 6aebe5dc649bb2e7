"""Raw text: sentence splitting and tokenization."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, pairwise, zip_longest
from typing import Any, Literal, NamedTuple, Self, TypeAlias

from handful.data.conll import share
from handful.data.files import FilePath, Source, as_source, read_lines
from handful.data.formats import Format, Head, format_of
from handful.data.records import Sentence
from handful.errors import DataError, FormatError, ParameterError

_APOSTROPHES = "'\u2019"
_APOSTROPHE = f"[{_APOSTROPHES}]"
_BEHIND_A_WORD = frozenset(",;:!?)]")
_ABBREVIATIONS = (
    "mr|mrs|ms|dr|prof|st|jr|sr|inc|corp|co|ltd|vs|etc|gen|sen|rep|gov|fig|approx|bzw|ca|usw|nr|str|mme|mlle"
)
# Combining accents, vowel signs, soft hyphens and joiners belong to their word.
_COMBINING = "\u00ad\u200c\u200d" + "".join(
    filter(lambda c: unicodedata.category(c)[0] == "M", map(chr, range(0x300, 0xFFFF)))
)
_WORD = rf"\w+(?:[{_COMBINING}]+\w*)*"
# A bracket that is opened inside an address is closed there, in brackets of its own kind at most two deep.
_BRACKETS = "|".join(
    rf'{low}(?:[^\s<>"{low}{high}]|{low}[^\s<>"{low}{high}]*{high})*{high}'
    for low, high in ((r"\(", r"\)"), (r"\[", r"\]"))
)
_ADDRESS = rf"""(?:https?://|www\.)(?:{_BRACKETS}|(?!{_BRACKETS})[^\s<>"])*(?:{_BRACKETS}|[^\s<>".,;:!?)\]'])"""
# A symbol includes its modifiers (variant, skin color, tags of a flag) and what a zero-width joiner ties to it.
_SYMBOL = rf"[^\w\s][{_COMBINING}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_TOKEN = re.compile(
    rf"{_ADDRESS}"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|[\U0001f1e6-\U0001f1ff]{2}|[0-9]\ufe0f?\u20e3"  # flags, numbers on keys
    r"|[@#]\w+"
    r"|(?:[^\W\d_]\.){2,}"  # U.S.
    rf"|\b(?:{_ABBREVIATIONS})\.(?=\s)"  # Dr., but not at the end of all
    r"|[:;=]-?[()DPp](?!\w)"  # faces
    r"|\d+(?:[.,:/]\d+)*(?:st|nd|rd|th)?(?!\w)"
    rf"|[^\W_]+?(?=n{_APOSTROPHE}t\b)|n{_APOSTROPHE}t\b|{_APOSTROPHE}(?:s|re|ve|d|ll|m)\b"  # did n't, it 's
    rf"|\b(?:aujourd{_APOSTROPHE}hui|quelqu{_APOSTROPHE}une?s?|o{_APOSTROPHE}\w+)\b"
    rf"|\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu){_APOSTROPHE}(?=\w)"  # l' homme
    rf"|{_WORD}(?:[-&_]{_WORD})*"
    r"|\.{2,}|-{2,}|!{2,}|\?{2,}|\${2,}|<{2,}|>{2,}|`{2}|'{2}|\u2026"
    rf"|{_SYMBOL}(?:(?<=\u200d){_SYMBOL})*|\S",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(rf"(?:{_ABBREVIATIONS}|no|al|m|e\.g|i\.e|[a-z])", re.IGNORECASE)
_ENDS = frozenset(
    {".", "!", "?", "!!", "!!!", "??", "???", "\u2026", "...", "..", "\u3002", "\uff01", "\uff1f", "\u061f", "\u0964"}
)
_MONTH = re.compile(  # after a German day, "3. Oktober", no sentence ends
    r"januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember", re.IGNORECASE
)
_STRAIGHT = frozenset("\"'")
_CLOSING = frozenset("\"')]\u201d\u2019\u00bb")
_PARAGRAPH = re.compile(r"\n\s*\n")
_LONGEST_MEAN = 5
_UNSPACED = (
    ("Chinese or Japanese", re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
    ("Lao", re.compile(r"[\u0e80-\u0eff]")),
    ("Burmese", re.compile(r"[\u1000-\u109f]")),
    ("Khmer", re.compile(r"[\u1780-\u17ff]")),
)


class Token(NamedTuple):
    """A token with the characters ``start`` up to but not including ``end`` of its text."""

    text: str
    start: int
    end: int


def tokenize(text: str, cuts: Iterable[int] = (), abbreviations: Sequence[str] = ()) -> list[Token]:
    """Split text into tokens.

    Parameters
    ----------
    text : str
        Any text. Words are split at Unicode word boundaries and keep their hyphens. English and German (``n't``, ``'s``)
        and French (``l'``) contractions are split off, and common abbreviations keep their period. Every other symbol is
        one token.
    cuts : iterable of int
        Places at which a token must end, such as the borders of labeled spans.
    abbreviations : sequence of str
        Further tokens that keep their period, in small or capital letters.

    Returns
    -------
    list of Token
        From left to right; ``text[start:end]`` is the token, and everything between tokens is whitespace.

    Examples
    --------
    >>> [token.text for token in tokenize("It didn't cost $3.50, l'homme!")]
    ['It', 'did', "n't", 'cost', '$', '3.50', ',', "l'", 'homme', '!']
    """
    borders = sorted(set(cuts))
    tokens: list[Token] = []
    for match in _pattern(tuple(abbreviations)).finditer(text):
        start, end = match.span()
        inside = [cut for cut in borders if start < cut < end] if borders else []
        for low, high in zip([start, *inside], [*inside, end], strict=True):
            tokens.append(Token(text[low:high], low, high))
    return tokens


@lru_cache(maxsize=8)
def _pattern(abbreviations: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of tokens; a period at the end of the text is not that of an abbreviation."""
    if not abbreviations:
        return _TOKEN
    known = "|".join(map(re.escape, sorted(abbreviations, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{known})(?=[\s,;:)\]])|{_TOKEN.pattern}", re.IGNORECASE)


def pieces_of(tokens: Sequence[str], abbreviations: Sequence[str] = ()) -> Iterator[list[str]]:
    """Yield how each token would be split in raw text, next to the token that follows it.

    Parameters
    ----------
    tokens : sequence of str
        The tokens of a sentence. Raw text has spaces between them, except after an apostrophe and before punctuation.
    abbreviations : sequence of str
        As for `tokenize`.

    Yields
    ------
    list of str
        The pieces of each token; the token alone if it is not split.

    Examples
    --------
    >>> list(pieces_of(["L'", "homme", "isn't", "Dr.", "Low"]))
    [["L'"], ['homme'], ['is', "n't"], ['Dr.'], ['Low']]
    """
    alone: dict[str, list[str]] = {}
    for token, after in zip_longest(tokens, tokens[1:], fillvalue=""):
        if token not in alone:
            alone[token] = [piece.text for piece in tokenize(token)]
        pieces = alone[token]
        if len(pieces) > 1:
            joined = token[-1] in _APOSTROPHES or after[:1] in _BEHIND_A_WORD
            first = tokenize(token + ("" if joined else " ") + after, abbreviations=abbreviations)[0].text
            pieces = [token] if first == token else pieces
        yield pieces


def sentences(text: str, cuts: Iterable[int] = (), abbreviations: Sequence[str] = ()) -> Iterator[list[Token]]:
    """Split text into sentences of tokens.

    Parameters
    ----------
    text : str
        Any text; a blank line ends a sentence in any case.
    cuts, abbreviations
        As for `tokenize`.

    Yields
    ------
    list of Token
        A sentence ends after ``.``, ``!`` or ``?`` and closing quotes or brackets, unless an abbreviation precedes the
        period, a small letter follows, or it is between a day and a German month.

    Examples
    --------
    >>> [[token.text for token in part] for part in sentences("Dr. Low left. Why?")]
    [['Dr.', 'Low', 'left', '.'], ['Why', '?']]
    >>> [[token.text for token in part] for part in sentences("Il a env. 30 ans.", abbreviations=["env."])]
    [['Il', 'a', 'env.', '30', 'ans', '.']]
    """
    yield from into_sentences(text, tokenize(text, cuts, abbreviations))


def into_sentences(text: str, tokens: list[Token]) -> Iterator[list[Token]]:
    """Split the tokens of a text into sentences; see `sentences`."""
    breaks = [match.end() for match in _PARAGRAPH.finditer(text)]
    part: list[Token] = []
    for place, token in enumerate(tokens):
        part.append(token)
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if after is None or any(token.end <= border <= after.start for border in breaks) or _ends(tokens, place, after):
            yield part
            part = []


def _closes(tokens: list[Token], place: int) -> bool:
    """Return whether a token closes a quote or bracket; a straight quote after a space and before a word opens one."""
    token = tokens[place]
    if token.text not in _STRAIGHT or place == 0 or place + 1 == len(tokens):
        return token.text in _CLOSING
    return tokens[place - 1].end == token.start or token.end < tokens[place + 1].start


def _ends(tokens: list[Token], place: int, after: Token) -> bool:
    """Return whether a sentence ends after a token."""
    if _closes(tokens, place + 1) or after.text in _ENDS or after.text[:1].islower():
        return False
    last = place
    while last > 0 and _closes(tokens, last):
        last -= 1
    if tokens[last].text != "." or last == 0:
        return tokens[last].text in _ENDS
    before = tokens[last - 1]
    if before.text.isdigit() and _MONTH.fullmatch(after.text):
        return False
    return before.end != tokens[last].start or _ABBREVIATION.fullmatch(before.text) is None


def refuse_unspaced(place: str, text: str) -> None:
    """Raise if text is mostly in a script without spaces between words, and is not tokenized.

    Parameters
    ----------
    place : str
        Source of the text, for the message.
    text : str
        The text.

    Raises
    ------
    DataError
        With the name of the script.

    Examples
    --------
    >>> refuse_unspaced("a.txt", "Rome fell.")
    """
    n_letters = sum(map(str.isalpha, text)) or 1
    if n_letters <= _LONGEST_MEAN * len(text.split()):
        return  # it is tokenized
    for script, pattern in _UNSPACED:
        if len(pattern.findall(text)) > n_letters / 2:
            raise DataError(
                f"{place}: text must have spaces between words, got {script}, which has none. "
                "Tokenize it first, with a tool for that language."
            )


_PLAIN_TOKEN = re.compile("[^ \t]+")


def read_text(path: FilePath, *, places: bool = False) -> Iterator[Sentence]:
    r"""Read sentences, one a line, one at a time.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are decompressed.
    places : bool, default=False
        Whether sentences get the columns ``start`` and ``end``: places of each token in the whole text (a line end counts
        as one character).

    Yields
    ------
    Sentence
        Its tokens are separated by spaces or tabs (a no-break space is part of a token).

    Raises
    ------
    FormatError
        If there is no sentence at all.
    DataError
        If the text is in a script without spaces between words, and is not tokenized.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_text("Rome fell .\nSo what ?\n")
    >>> [s.tokens for s in read_text(target)]
    [('Rome', 'fell', '.'), ('So', 'what', '?')]
    """
    source = as_source(path)
    refuse_unspaced(str(source), Head.of(source).text)
    has_any = False
    start = 0
    for _, line in read_lines(source):
        tokens = [token for token in line.replace("\t", " ").split(" ") if token]
        if tokens:
            has_any = True
            columns = _places(line, start) if places else {}
            yield Sentence(share(tokens), columns)
        start += len(line) + 1
    if not has_any:
        raise FormatError(path, None, "expected sentences, one a line, got only empty lines.")


def _places(line: str, start: int) -> dict[str, tuple[str, ...]]:
    places = [match.span() for match in _PLAIN_TOKEN.finditer(line)]
    return {"start": tuple(str(start + a) for a, _ in places), "end": tuple(str(start + b) for _, b in places)}


def is_text(head: Head) -> bool:
    """Return True: any file of text is text."""
    return True


PLAIN_FORMAT = Format("text", "text", is_text, read_text)


# In French other punctuation is set apart, so it decides only where there are no commas and periods.
_DECISIVE = ("[,.]", "[;:!?]")
_ENDED = re.compile(r"[.!?:]['\")\u201d\u2019\u00bb]*\s*$")
_ENDED_WITHIN = re.compile(r"\w[.!?\u061f\u0964]['\")\u201d\u2019\u00bb]*\s")
_WIDEST_PAGE = 120


def read_raw(path: FilePath, abbreviations: Sequence[str] = ()) -> Iterator[Sentence]:
    r"""Read running text; a blank line ends a paragraph, and so does a line end unless lines are wrapped.

    Parameters
    ----------
    path : path-like
        The file.
    abbreviations : sequence of str
        See `handful.data.text.sentences`.

    Yields
    ------
    Sentence
        With the columns ``start`` and ``end``: places of each token in the whole text (line ends count as one character).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = target.write_text("Rome fell. Why, nobody knows.\nSo what?\n")
    >>> [(s.tokens[0], s["start"][0]) for s in read_raw(target)]
    [('Rome', '0'), ('Why', '11'), ('So', '30')]
    """
    source = as_source(path)
    head = Head.of(source)
    refuse_unspaced(str(source), head.text)
    wrapped = is_wrapped(head)
    start = place = 0
    paragraph: list[str] = []
    for _, line in read_lines(source):
        if paragraph and (not wrapped or not line.strip()):
            yield from _sentences("\n".join(paragraph), start, abbreviations)
            paragraph = []
        if line.strip():
            if not paragraph:
                start = place
            paragraph.append(line)
        place += len(line) + 1
    if paragraph:
        yield from _sentences("\n".join(paragraph), start, abbreviations)


def _sentences(text: str, start: int, abbreviations: Sequence[str]) -> Iterator[Sentence]:
    for part in sentences(text, abbreviations=abbreviations):
        columns = {
            "start": tuple(str(start + token.start) for token in part),
            "end": tuple(str(start + token.end) for token in part),
        }
        yield Sentence(tuple(token.text for token in part), columns)


def is_wrapped(head: Head) -> bool:
    r"""Detect text whose lines are wrapped to fit a page, so that a line end does not end a sentence.

    Examples
    --------
    >>> page = "He left the town in which he was\nborn, as others had done before\nhim. Nobody asked why.\n"
    >>> is_wrapped(Head(page.encode())), is_wrapped(Head(b"Rome fell, they say\nSo what?\nNo.\n"))
    (True, False)
    """
    pairs = [(line, after) for line, after in pairwise(head.lines) if line.strip() and after.strip()]
    widest = max(map(len, head.lines), default=0)
    if not pairs or widest > _WIDEST_PAGE:
        return False
    # A line is wrapped where the first word of the next one did not fit.
    n_full = sum(len(line) + 1 + len(after.split()[0]) > 0.9 * widest for line, after in pairs)
    if n_full < 0.8 * len(pairs) or all(_ENDED.search(line) for line, _ in pairs):
        return False
    return _continues(after.lstrip()[0] for _, after in pairs) and _ENDED_WITHIN.search(head.text) is not None


def _continues(first: Iterable[str]) -> bool:
    """Return whether lines with these first characters continue sentences; those of titles are capitals or digits."""
    cased = [character for character in first if character.isupper() or character.islower() or character.isdecimal()]
    return not cased or sum(map(str.islower, cased)) >= 0.2 * len(cased)


def is_raw(head: Head) -> bool:
    """Detect text with punctuation attached to words, as opposed to text with spaces between all tokens.

    Examples
    --------
    >>> is_raw(Head("Rome fell.".encode())), is_raw(Head(b"Rome fell .")), is_raw(Head(b"Rome tomba. Pourquoi ? Qui sait !"))
    (True, False, True)
    """
    for punctuation in _DECISIVE:
        # After fewer than three letters it may be an abbreviation.
        attached = len(re.findall(rf"(?<=\w\w\w){punctuation}(?=\s|$)", head.text))
        apart = len(re.findall(rf"(?<=\s){punctuation}(?=\s|$)", head.text))
        if attached or apart:
            return attached > 9 * apart
    return False


RAW_FORMAT = Format("raw", "text", is_raw, read_raw)


Cut: TypeAlias = Literal["spaces", "words"]
"""Where raw text is split: at whitespace only, or into words and punctuation."""

_PUNCTUATED = re.compile(r"\w{3}[,.;:!?]$")
_PUNCTUATION = re.compile(r"[,.;:!?]")
_ABBREVIATED = re.compile(r"(?=.*[^\W\d_])\w\S*\.")  # env., av.-J.
_MANY = 0.1
_MOST_ABBREVIATIONS = 200


@dataclass(frozen=True)
class TokenStyle:
    """How the tokens of training data are split, in fractions of all tokens.

    Parameters
    ----------
    punctuated : float
        Tokens that are a word with punctuation attached, such as ``nginx:``.
    punctuation : float
        Tokens that are one punctuation character.
    cut_again : float
        Tokens that raw text would be split at.
    abbreviations : tuple of str
        Tokens in small letters that keep their period inside a sentence, such as ``env.``; see `of_sentences`.

    Examples
    --------
    >>> TokenStyle.of(["nginx:", "up", "2-3", "."])
    TokenStyle(punctuated=0.25, punctuation=0.25, cut_again=0.5, abbreviations=())
    """

    punctuated: float
    punctuation: float
    cut_again: float
    abbreviations: tuple[str, ...] = ()

    @classmethod
    def of(cls, tokens: Iterable[str], abbreviations: Sequence[str] = ()) -> Self:
        """Return the style of tokens, in their order; abbreviations are not split."""
        tokens = list(tokens)
        total = max(len(tokens), 1)
        n_punctuated = sum(_PUNCTUATED.search(token) is not None for token in tokens)
        n_punctuation = sum(_PUNCTUATION.fullmatch(token) is not None for token in tokens)
        n_split = sum(len(pieces) > 1 for pieces in pieces_of(tokens, abbreviations))
        punctuated, punctuation, split = (round(n / total, 4) for n in (n_punctuated, n_punctuation, n_split))
        return cls(punctuated, punctuation, split, tuple(abbreviations))

    @classmethod
    def of_sentences(cls, sentences: Iterable[Sequence[str]]) -> Self:
        """Return the style of the tokens of sentences, whose ends separate abbreviations from last words.

        An abbreviation is a token with a letter and a final period that occurs before the end of a sentence, more often
        than the word occurs without the period. There are none if sentences end in words with a period.

        Examples
        --------
        >>> TokenStyle.of_sentences([["Il", "a", "env.", "30", "ans", "."]]).abbreviations
        ('env.',)
        """
        sentences = list(sentences)
        tokens = list(chain.from_iterable(sentences))
        ends = [sentence[-1] for sentence in sentences if sentence and sentence[-1].endswith(".")]
        if 2 * ends.count(".") < len(ends):
            return cls.of(tokens)
        words = Counter(map(str.lower, tokens))
        before_end = chain.from_iterable(sentence[:-1] for sentence in sentences)
        inside = Counter(map(str.lower, filter(_ABBREVIATED.fullmatch, before_end)))
        kept = (token for token, n in inside.most_common() if n > words[token[:-1]])
        return cls.of(tokens, list(islice(kept, _MOST_ABBREVIATIONS)))

    @classmethod
    def remembered(cls, model: Any) -> Self | None:
        """Return the style of the training tokens of a tagger; None if its file does not have it."""
        training = getattr(model, "training_", None)
        kept = training.get("tokens") if isinstance(training, Mapping) else None
        names = ("marked", "marks", "cut_again")  # as in files
        if not isinstance(kept, Mapping) or not all(isinstance(kept.get(name), float) for name in names):
            return None
        # Files of version 0.1 have no abbreviations.
        return cls(kept["marked"], kept["marks"], kept["cut_again"], tuple(map(str, kept.get("abbreviations", ()))))

    def as_dict(self) -> dict[str, Any]:
        """Return the values for a model file."""
        fractions = {"marked": self.punctuated, "marks": self.punctuation, "cut_again": self.cut_again}
        return {**fractions, "abbreviations": list(self.abbreviations)}

    def is_like(self, text: Self) -> bool:
        """Return whether the tokens are more like those between the whitespace of a text than like its words.

        Punctuation must be mostly attached, at least half as often as in the text. If the tokens have no punctuation, they
        must be split in raw text half as often as those of the text.

        Examples
        --------
        >>> text = TokenStyle.of("nginx: up 2-3 C.".split())
        >>> TokenStyle.of(["nginx:", "down", "4-5"]).is_like(text), TokenStyle.of(["It", "is", "up", "."]).is_like(text)
        (True, False)
        """
        if self.punctuated or self.punctuation:
            return self.punctuated > self.punctuation and self.punctuated >= text.punctuated / 2
        return self.cut_again > 0 and self.cut_again >= text.cut_again / 2


def cut_as_trained(source: Source, trained: TokenStyle | None) -> Cut | None:
    """Return the cut at whitespace if running text must be split so to agree with the training tokens."""
    if trained is None or not _is_running(source):
        return None
    return "spaces" if trained.is_like(TokenStyle.of(Head.of(source).text.split())) else None


def cuts_more(source: Source, trained: TokenStyle | None) -> bool:
    """Return whether one of ten training tokens, or more, would be split in running text."""
    return trained is not None and trained.cut_again >= _MANY and _is_running(source)


def _is_running(source: Source) -> bool:
    return is_raw(Head.of(source)) and is_plain(source)


def is_plain(source: Source) -> bool:
    """Detect plain text, whose lines may happen to have as many words or commas each, as opposed to columns."""
    format, head = format_of(source), Head.of(source)
    # A sentence in columns has a line for each token; blank lines between single lines separate paragraphs.
    in_blocks = head.has_blank_inside and any(a.strip() and b.strip() for a, b in pairwise(head.lines))
    is_even = format.name in ("conll", "delimited") and b"\t" not in head.data and not in_blocks
    return format.yields == "text" or (is_even and source.suffix == ".txt")


def refuse_cut(source: Source) -> None:
    """Raise if a file that is not plain text is to be split."""
    if not is_plain(source):
        raise ParameterError(f"{source}: --tokens is for plain text, got another kind of file. Leave it out.")
