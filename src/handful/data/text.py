"""Raw text: sentence splitting and tokenization."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice, pairwise, zip_longest
from typing import Any, Literal, NamedTuple, Self, TypeAlias

from handful.data.conll import share
from handful.data.files import MAX_LINES, FilePath, Source, as_source, read_lines, refuse_mark, shown, write_text_file
from handful.data.formats import Format, Head, format_of
from handful.data.records import Sentence
from handful.errors import DataError, FormatError, ParameterError

_APOSTROPHES = "'\u2019"
_APOSTROPHE = f"[{_APOSTROPHES}]"
_BEHIND_A_WORD = frozenset(",;:!?)]")
_ABBREVIATIONS = (
    "mr|mrs|ms|dr|prof|st|jr|sr|inc|corp|co|ltd|vs|etc|gen|sen|rep|gov|fig|approx|bzw|ca|usw|nr|str|mme|mlle"
)
# Accents that stand for themselves, vowel signs, and the hyphen and joiners that are not seen belong to their word.
_MARKS = "\u00ad\u200c\u200d" + "".join(
    filter(lambda c: unicodedata.category(c)[0] == "M", map(chr, range(0x300, 0xFFFF)))
)
_WORD = rf"\w+(?:[{_MARKS}]+\w*)*"
# A bracket that is opened inside an address is closed there, in brackets of its own kind at most two deep.
_BRACKETS = "|".join(
    rf'{low}(?:[^\s<>"{low}{high}]|{low}[^\s<>"{low}{high}]*{high})*{high}'
    for low, high in ((r"\(", r"\)"), (r"\[", r"\]"))
)
_ADDRESS = rf"""(?:https?://|www\.)(?:{_BRACKETS}|(?!{_BRACKETS})[^\s<>"])*(?:{_BRACKETS}|[^\s<>".,;:!?)\]'])"""
# To a sign belong its marks (a look, a color of skin, the tags of a flag) and what a joiner that is not seen ties to it.
_SIGN = rf"[^\w\s][{_MARKS}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
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
    rf"|{_SIGN}(?:(?<=\u200d){_SIGN})*|\S",
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
    """Cut text into tokens.

    Parameters
    ----------
    text : str
        Any text. Words are cut at Unicode word boundaries, keep their hyphens, lose English and German (``n't``, ``'s``) and
        French (``l'``) contractions, and common abbreviations keep their point; every other sign is a token of its own, with the
        signs that are joined to it.
    cuts : iterable of int
        Places at which a token must end, such as the borders of labeled spans.
    abbreviations : sequence of str
        Tokens that keep their point, beside the usual ones, in small or capital letters.

    Returns
    -------
    list of Token
        From left to right; ``text[start:end]`` is the token, and all between tokens is white space.

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
    """Return what tokens look like; as with the usual ones, the point at the end of all is not that of an abbreviation."""
    if not abbreviations:
        return _TOKEN
    known = "|".join(map(re.escape, sorted(abbreviations, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{known})(?=[\s,;:)\]])|{_TOKEN.pattern}", re.IGNORECASE)


def pieces_of(tokens: Sequence[str], abbreviations: Sequence[str] = ()) -> Iterator[list[str]]:
    """Tell how raw text is cut where it has some tokens, each as it stands beside the next one.

    Parameters
    ----------
    tokens : sequence of str
        The tokens of a sentence, which raw text has with blanks between them, but for those that an apostrophe joins to the
        next word and for marks behind a word.
    abbreviations : sequence of str
        As for `tokenize`.

    Yields
    ------
    list of str
        The pieces of each token, which are the token alone if it is not cut.

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
    """Cut text into sentences of tokens.

    Parameters
    ----------
    text : str
        Any text; a blank line ends a sentence in any case.
    cuts, abbreviations
        As for `tokenize`.

    Yields
    ------
    list of Token
        A sentence ends after ``.``, ``!`` or ``?`` and what closes quotes or brackets, unless an abbreviation stands before
        the point, a small letter follows, or it stands between a day and a German month.

    Examples
    --------
    >>> [[token.text for token in part] for part in sentences("Dr. Low left. Why?")]
    [['Dr.', 'Low', 'left', '.'], ['Why', '?']]
    >>> [[token.text for token in part] for part in sentences("Il a env. 30 ans.", abbreviations=["env."])]
    [['Il', 'a', 'env.', '30', 'ans', '.']]
    """
    yield from into_sentences(text, tokenize(text, cuts, abbreviations))


def into_sentences(text: str, tokens: list[Token]) -> Iterator[list[Token]]:
    """Cut the tokens of a text into sentences; see `sentences`."""
    breaks = [match.end() for match in _PARAGRAPH.finditer(text)]
    part: list[Token] = []
    for place, token in enumerate(tokens):
        part.append(token)
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if after is None or any(token.end <= border <= after.start for border in breaks) or _ends(tokens, place, after):
            yield part
            part = []


def _closes(tokens: list[Token], place: int) -> bool:
    """Tell whether a token closes a quote or bracket; a straight quote after a blank and before a word opens one."""
    token = tokens[place]
    if token.text not in _STRAIGHT or place == 0 or place + 1 == len(tokens):
        return token.text in _CLOSING
    return tokens[place - 1].end == token.start or token.end < tokens[place + 1].start


def _ends(tokens: list[Token], place: int, after: Token) -> bool:
    if _closes(tokens, place + 1) or after.text in _ENDS or after.text[:1].islower():
        return False
    last = place
    while last > 0 and _closes(tokens, last):
        last -= 1
    token = tokens[last]
    if token.text not in _ENDS:
        return False
    if token.text != "." or last == 0:
        return True
    before = tokens[last - 1]
    if before.text.isdigit() and _MONTH.fullmatch(after.text):
        return False
    return before.end != token.start or _ABBREVIATION.fullmatch(before.text) is None


def refuse_unspaced(who: str, text: str) -> None:
    """Raise if text is mostly of a script without blanks between words, and nobody has put them there.

    Parameters
    ----------
    who : str
        Where the text came from, for the message.
    text : str
        The text.

    Raises
    ------
    DataError
        That names the script.

    Examples
    --------
    >>> refuse_unspaced("a.txt", "Rome fell.")
    """
    n_letters = sum(map(str.isalpha, text)) or 1
    if n_letters <= _LONGEST_MEAN * len(text.split()):
        return  # somebody has cut it into words
    for script, pattern in _UNSPACED:
        if len(pattern.findall(text)) > n_letters / 2:
            raise DataError(
                f"{who}: text must have blanks between words, got {script}, which has none. "
                "Cut it into words first, with a tool for that language."
            )


_FORBIDDEN = re.compile("[ \t\n\r\0]")
_PLAIN_TOKEN = re.compile("[^ \t]+")


def read_text(path: FilePath, *, places: bool = False) -> Iterator[Sentence]:
    r"""Read sentences, one a line, one at a time.

    Parameters
    ----------
    path : path-like
        The file; gzip, bzip2 and xz are unpacked.
    places : bool, default=False
        Whether sentences get the columns ``start`` and ``end``: places of each token in the whole text (a line end counts
        as one character).

    Yields
    ------
    Sentence
        Its tokens stood between blanks or tabs (a no-break space is part of a token). Empty lines before it are
        kept in its `comments`, each as ``""``.

    Raises
    ------
    FormatError
        If there is no sentence at all.
    DataError
        If the text is of a script without blanks between words, and nobody has put them there.

    Notes
    -----
    Writing what was read gives the same bytes where tokens have single blanks between them and lines end in ``\n``.

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
    empty: list[str] = []
    has_any = False
    start = 0
    for number, line in read_lines(source):
        tokens = [token for token in line.replace("\t", " ").split(" ") if token]
        if tokens:
            has_any = True
            columns = _places(line, start) if places else {}
            yield Sentence(share(tokens), columns, tuple(empty))
            empty.clear()
        elif len(empty) == MAX_LINES:
            raise FormatError(path, number, f"expected a sentence after at most {MAX_LINES:,} empty lines, got none.")
        else:
            empty.append("")
        start += len(line) + 1
    if not has_any:
        raise FormatError(path, None, "expected sentences, one a line, got only empty lines.")


def _places(line: str, start: int) -> dict[str, tuple[str, ...]]:
    places = [match.span() for match in _PLAIN_TOKEN.finditer(line)]
    return {"start": tuple(str(start + a) for a, _ in places), "end": tuple(str(start + b) for _, b in places)}


def write_text(path: FilePath, sentences: Iterable[Sentence | Sequence[str]]) -> None:
    r"""Write sentences, one a line, with a blank between tokens.

    Parameters
    ----------
    path : path-like
        Where the file goes; ``.gz``, ``.bz2`` and ``.xz`` are packed.
    sentences : iterable of Sentence or of sequences of str
        What to write; of a sentence's comments only empty lines are written.

    Raises
    ------
    DataError
        If there is no sentence, or one has no tokens, or a token is no string, is empty or holds a blank or a line end.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_text(target, [["Rome", "fell"]])
    >>> target.read_text()
    'Rome fell\n'
    """
    index = 0
    with write_text_file(path) as file:
        for index, sentence in enumerate(sentences, start=1):
            tokens = sentence.tokens if isinstance(sentence, Sentence) else sentence
            _check_tokens(index, tokens)
            n_blank = sentence.comments.count("") if isinstance(sentence, Sentence) else 0
            if index == 1 and not n_blank:
                refuse_mark("write_text", tokens[0])
            file.write("\n" * n_blank + " ".join(tokens) + "\n")
        if not index:
            raise DataError("write_text: there must be a sentence, got none.")


def _check_tokens(index: int, tokens: Sequence[str]) -> None:
    if isinstance(tokens, str):
        raise DataError(f"write_text: sentence {index} must be a list of tokens, got the text {shown(tokens)}.")
    for token in tokens:
        if not isinstance(token, str):
            raise DataError(f"write_text: sentence {index} must be tokens that are strings, got {shown(token)}.")
    bad = next((token for token in tokens if not token or _FORBIDDEN.search(token)), None)
    if bad is not None or not tokens:
        got = "no tokens" if bad is None else repr(bad)
        raise DataError(
            f"write_text: sentence {index} must be tokens that are filled and hold no blank or line end, got {got}."
        )


def is_text(head: Head) -> bool:
    """Tell that any file of text is text."""
    return True


PLAIN_FORMAT = Format("text", "text", is_text, read_text, write_text, (".txt",))


# Other marks stand apart in French as it is written, so they tell only where there are no commas and points.
_TELLING = ("[,.]", "[;:!?]")
_ENDED = re.compile(r"[.!?:]['\")\u201d\u2019\u00bb]*\s*$")
_ENDED_WITHIN = re.compile(r"\w[.!?\u061f\u0964]['\")\u201d\u2019\u00bb]*\s")
_WIDEST_PAGE = 120


def read_raw(path: FilePath, abbreviations: Sequence[str] = ()) -> Iterator[Sentence]:
    r"""Read text that is not cut into tokens; a blank line ends a paragraph, and so does a line end in unbroken text.

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
    r"""Tell text whose lines are broken to fit a page, so that a line end does not end a sentence.

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
    # A line is broken where the first word of the next one did not fit.
    full = sum(len(line) + 1 + len(after.split()[0]) > 0.9 * widest for line, after in pairs)
    if full < 0.8 * len(pairs) or not any(not _ENDED.search(line) for line, _ in pairs):
        return False
    # Titles, one a line, may be as long as each other: their lines begin with capitals or digits, or nothing ever ends.
    first = [after.lstrip()[0] for _, after in pairs]
    cased = [sign for sign in first if sign.isupper() or sign.islower() or sign.isdecimal()]
    goes_on = not cased or sum(map(str.islower, cased)) >= 0.2 * len(cased)
    return goes_on and _ENDED_WITHIN.search(head.text) is not None


def is_raw(head: Head) -> bool:
    """Tell text in which punctuation mostly stands at the words, from text with blanks between all tokens.

    Examples
    --------
    >>> is_raw(Head("Rome fell.".encode())), is_raw(Head(b"Rome fell .")), is_raw(Head(b"Rome tomba. Pourquoi ? Qui sait !"))
    (True, False, True)
    """
    for marks in _TELLING:
        attached = len(re.findall(rf"(?<=\w\w\w){marks}(?=\s|$)", head.text))  # after fewer letters: an abbreviation
        apart = len(re.findall(rf"(?<=\s){marks}(?=\s|$)", head.text))
        if attached or apart:
            return attached > 9 * apart
    return False


RAW_FORMAT = Format("raw", "text", is_raw, read_raw)


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
    # A sentence in columns has a line for each token; blank lines between single lines separate paragraphs.
    in_blocks = head.has_blank_inside and any(a.strip() and b.strip() for a, b in pairwise(head.lines))
    is_even = format.name in ("conll", "delimited") and b"\t" not in head.data and not in_blocks
    return format.yields == "text" or (is_even and source.suffix == ".txt")


def refuse_cut(source: Source) -> None:
    """Raise if a file that is no plain text is to be cut."""
    if not is_plain(source):
        raise ParameterError(f"{source}: --tokens is for plain text, got another kind of file. Leave it out.")
