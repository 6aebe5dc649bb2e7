"""Feature templates over sentences and the word functions they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from handful.data.records import Sentence
from handful.errors import DataError, ParameterError

_NEAR = range(-2, 3)


def _near(column: str) -> list[str]:
    return [f"{column}[{k}]" for k in _NEAR]


def _pairs(column: str) -> list[str]:
    return [f"{column}[{k - 1}]|{column}[{k}]" for k in range(-1, 3)]


def _both(templates: list[str]) -> list[str]:
    """Return templates that are read with the label and with the label pair."""
    return [f"*:{template}" for template in templates]


def _ner() -> list[str]:
    """List the 79 templates of Suzuki & Isozaki (2008), Table 3; their word type is read as the shape of the word."""
    single = [*_near("word"), *_both([*_near("word.lower"), *_near("pos"), *_near("word.shape")])]
    double = [*_pairs("word.lower"), *_both([*_pairs("pos"), *_pairs("word.shape")])]
    triple = [f"*:{c}[-1]|{c}[0]|{c}[1]" for c in ("pos", "word.shape")]
    window = ["word[-4..-1]", "word[1..4]"]
    affixes = [f"*:word.{side}{n}[0]" for side in ("prefix", "suffix") for n in range(1, 5)]
    return ["u", "b", *single, *double, *triple, *window, *affixes]


def _pos() -> list[str]:
    """List templates in the tradition of Ratnaparkhi (1996)."""
    words = [f"word.lower[{k}]" for k in _NEAR] + ["word[0]"]
    double = ["word.lower[-1]|word.lower[0]", "word.lower[0]|word.lower[1]", "word.lower[-1]|word.lower[1]"]
    affixes = [f"word.{side}{n}[0]" for side in ("prefix", "suffix") for n in range(1, 5)]
    spelling = ["word.shape[-1]", "word.shape[0]", "word.shape[1]", "word.shape[0]|word.suffix2[0]"]
    neighbors = ["word.suffix3[-1]", "word.suffix3[1]", "word.suffix2[-1]|word.suffix2[0]"]
    return ["u", "b", *words, *double, *affixes, *spelling, *neighbors, "word.hyphen[0]", "word.digit[0]"]


def _chunk() -> list[str]:
    """List templates of words and part-of-speech tags in a window of five, after Sha & Pereira (2003)."""
    words = [f"word.lower[{k}]" for k in _NEAR] + ["word[0]"]
    double = ["word.lower[-1]|word.lower[0]", "word.lower[0]|word.lower[1]"]
    tags = [f"*:pos[{k}]" for k in _NEAR] + [f"*:pos[{k - 1}]|pos[{k}]" for k in range(-1, 3)]
    tags += [f"*:pos[{k - 2}]|pos[{k - 1}]|pos[{k}]" for k in range(0, 3)]
    mixed = ["word.lower[0]|pos[0]", "word.lower[-1]|pos[0]", "pos[-1]|word.lower[0]", "word.lower[0]|pos[1]"]
    spelling = ["word.suffix2[0]", "word.suffix3[0]", "word.shape[0]"]
    return ["u", "b", *words, *double, *tags, *mixed, *spelling]


def _general() -> list[str]:
    """List templates for any tags, in any language: words, affixes and kinds of characters around a token."""
    words = ["word[0]", *(f"word.lower[{k}]" for k in _NEAR)]
    affixes = [f"word.lower.{side}{n}[0]" for side in ("prefix", "suffix") for n in range(1, 6)]
    spelling = [f"word.shape[{k}]" for k in (-1, 0, 1)] + [f"word.type[{k}]" for k in _NEAR]
    spelling += ["word.pattern[0]", "word.digits[0]", "word.hyphen[0]"]
    columns = [f"pos[{k}]" for k in _NEAR] + [f"pos[{k}]|pos[{k + 1}]" for k in (-1, 0)]
    return ["u", "b", *words, *affixes, *spelling, *columns]


def _wide() -> list[str]:
    """List the general templates, pairs of words, and words further away, wherever they stand."""
    pairs = ["word.lower[-1]|word.lower[0]", "word.lower[0]|word.lower[1]"]
    return [*_general(), *pairs, "word.lower[-4..-1]", "word.lower[1..4]"]


_SETS = {"pos": _pos, "chunk": _chunk, "ner": _ner, "general": _general, "wide": _wide}


def ready_set(name: str) -> list[str]:
    """Return the templates of a ready set.

    Parameters
    ----------
    name : {"pos", "chunk", "ner", "general", "wide"}
        The task; ``general`` and ``wide`` are meant for a few hundred sentences of any. All but ``pos`` read a column
        ``pos`` where the sentences have one.

    Returns
    -------
    list of str
        Templates.

    Examples
    --------
    >>> from handful.preprocessing import parse_templates
    >>> len(parse_templates(ready_set("ner")))
    79
    """
    if name not in _SETS:
        raise ParameterError(f"templates: there is no ready set {name!r}. The sets are: {', '.join(map(repr, _SETS))}.")
    return _SETS[name]()


def lookup_templates(name: str, prefixes: Sequence[int] = (), *, offsets: Sequence[int] = _NEAR) -> list[str]:
    """Return templates that read a lookup around each token.

    Parameters
    ----------
    name : str
        Name of the lookup.
    prefixes : sequence of int
        Lengths of prefixes to read, such as (4, 6, 10, 20) for Brown clusters; empty reads whole values.
    offsets : sequence of int
        Positions relative to the token.

    Returns
    -------
    list of str
        Templates.

    Examples
    --------
    >>> lookup_templates("brown", (4, 6), offsets=(0, 1))
    ['brown.prefix4[0]', 'brown.prefix4[1]', 'brown.prefix6[0]', 'brown.prefix6[1]']
    >>> lookup_templates("cities", offsets=(0,))
    ['cities[0]']
    """
    parts = [f"{name}.prefix{n}" for n in prefixes] or [name]
    return [f"{part}[{k}]" for part in parts for k in offsets]


WordFunction = Callable[[str], str | None]

_REMEMBERED = 1 << 16  # words: most of a text are old acquaintances, and looking at every letter takes long
_PATTERN = 8  # characters
_DIGITS = re.compile(r"\d")
_AFFIX = re.compile(r"(prefix|suffix)([1-9]\d?)")


def lower(word: str) -> str:
    """Return the word in lower case.

    Examples
    --------
    >>> lower("Rome")
    'rome'
    """
    return word.lower()


def digits(word: str) -> str:
    """Replace every digit by 0.

    Examples
    --------
    >>> digits("1996-08-22")
    '0000-00-00'
    """
    return _DIGITS.sub("0", word)


@lru_cache(_REMEMBERED)
def shape(word: str) -> str:
    """Describe the characters by A, a, 0 and themselves, runs shortened to one.

    Examples
    --------
    >>> shape("McDonald's"), shape("3.50")
    ("AaAa'a", '0.0')
    """
    out: list[str] = []
    for char in word:
        kind = _kind_of(char)
        if not out or out[-1] != kind:
            out.append(kind)
    return "".join(out)


@lru_cache(_REMEMBERED)
def pattern(word: str) -> str:
    """Describe the first eight characters by A, a, 0 and themselves: `shape` with the length of short words.

    Examples
    --------
    >>> pattern("F-16"), pattern("to"), pattern("Constantinople")
    ('A-00', 'aa', 'Aaaaaaaa')
    """
    return "".join(_kind_of(char) for char in word[:_PATTERN])


def _kind_of(char: str) -> str:
    return "0" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else char


@lru_cache(_REMEMBERED)
def kind(word: str) -> str:
    """Tell the class of a word by capitals, digits and punctuation.

    Returns
    -------
    str
        Three letters: capitals (``I`` initial, ``A`` all, ``M`` inside, ``-`` none), digits (``A`` all, ``S`` some,
        ``-`` none), punctuation (``A`` all, ``S`` some, ``-`` none).

    Examples
    --------
    >>> kind("Rome"), kind("NATO"), kind("1996"), kind("F-16"), kind("...")
    ('I--', 'A--', '-A-', 'ISS', '--A')
    """
    n_digits = sum(c.isdigit() for c in word)
    n_marks = sum(not c.isalnum() for c in word)
    return _capitals(word) + _share(n_digits, len(word)) + _share(n_marks, len(word))


def _capitals(word: str) -> str:
    letters = [c for c in word if c.isalpha()]
    n_upper = sum(c.isupper() for c in letters)
    if n_upper == 0:
        return "-"
    if n_upper == len(letters) and n_upper > 1:
        return "A"
    return "I" if word[0].isupper() and n_upper == 1 else "M"


def _share(count: int, total: int) -> str:
    return "-" if count == 0 else "A" if count == total else "S"


def initial_capital(word: str) -> str | None:
    """Fire on words with a capital first.

    Examples
    --------
    >>> initial_capital("Rome"), initial_capital("fell")
    ('yes', None)
    """
    return "yes" if word[:1].isupper() else None


def hyphen(word: str) -> str | None:
    """Fire on words with a hyphen inside.

    Examples
    --------
    >>> hyphen("well-known"), hyphen("known")
    ('yes', None)
    """
    return "yes" if "-" in word else None


def digit(word: str) -> str | None:
    """Fire on words with a digit.

    Examples
    --------
    >>> digit("F16"), digit("F")
    ('yes', None)
    """
    return "yes" if _DIGITS.search(word) else None


_NAMED: dict[str, WordFunction] = {
    "lower": lower,
    "digits": digits,
    "shape": shape,
    "pattern": pattern,
    "type": kind,
    "capital": initial_capital,
    "hyphen": hyphen,
    "digit": digit,
}


def word_function(name: str) -> WordFunction:
    """Return the function of a name.

    Parameters
    ----------
    name : str
        ``lower``, ``digits``, ``shape``, ``pattern``, ``type``, ``capital``, ``hyphen``, ``digit``, or ``prefixN`` and ``suffixN``
        with a number: the first or last N characters of words that have at least N.

    Returns
    -------
    callable
        From a word to a string, or None where nothing fires.

    Examples
    --------
    >>> word_function("suffix2")("fell"), word_function("prefix9")("fell")
    ('ll', None)
    """
    affix = _AFFIX.fullmatch(name)
    if affix:
        size = int(affix[2])
        if affix[1] == "prefix":
            return lambda word: word[:size] if len(word) >= size else None
        return lambda word: word[-size:] if len(word) >= size else None
    if name not in _NAMED:
        known = ", ".join([*_NAMED, "prefixN", "suffixN"])
        raise ParameterError(f"templates: there is no function {name!r}. The functions are: {known}.")
    return _NAMED[name]


TOKEN_COLUMN = "word"
_ATOM = re.compile(r"([A-Za-z_]\w*)((?:\.[A-Za-z]\w*)*)\[([+-]?\d+)(?:\.\.([+-]?\d+))?\]")
_MAX_OFFSET = 20


@dataclass(frozen=True)
class Atom:
    """One observation: a column, functions of it, and where it is read.

    Parameters
    ----------
    column : str
        ``word``, a column of the sentence, or a lookup.
    functions : tuple of str
        Applied from left to right.
    first, last : int
        Position relative to the token; a window where they differ.
    """

    column: str
    functions: tuple[str, ...]
    first: int
    last: int

    @property
    def space(self) -> str:
        """Column and functions without the position: what shares one vocabulary."""
        return ".".join((self.column, *self.functions))

    def __str__(self) -> str:
        place = f"{self.first}" if self.first == self.last else f"{self.first}..{self.last}"
        return f"{self.space}[{place}]"


@dataclass(frozen=True)
class Template:
    """A conjunction of atoms, to be combined with a label or with a label pair.

    Parameters
    ----------
    atoms : tuple of Atom
        Empty for the label or label pair alone.
    pairs : bool
        Whether it goes with the pair of labels instead of the label.

    Examples
    --------
    >>> template = parse_template("b:pos[-1]|pos[0]")[0]
    >>> str(template), template.pairs
    ('b:pos[-1]|pos[0]', True)
    """

    atoms: tuple[Atom, ...]
    pairs: bool

    def __str__(self) -> str:
        kind = "b" if self.pairs else "u"
        return f"{kind}:{'|'.join(map(str, self.atoms))}" if self.atoms else kind


def parse_template(text: str) -> list[Template]:
    """Parse one template; ``*`` gives two.

    Parameters
    ----------
    text : str
        See the module's documentation.

    Returns
    -------
    list of Template
        One, or two for ``*``.

    Examples
    --------
    >>> [str(t) for t in parse_template("*:word.lower[0]")]
    ['u:word.lower[0]', 'b:word.lower[0]']
    >>> parse_template("word.lower")
    Traceback (most recent call last):
    ...
    handful.errors.ParameterError: templates: 'word.lower' must consist of parts such as word.lower[-1] joined by \
|, got 'word.lower'.
    """
    head, colon, body = text.strip().partition(":")
    if not colon:
        head, body = (head, "") if head in ("u", "b", "*") else ("u", head)
    if head not in ("u", "b", "*"):
        raise ParameterError(f"templates: {text!r} must start with u:, b: or *:, got {head + ':'!r}.")
    atoms = tuple(_parse_atom(part.strip(), text) for part in body.split("|")) if body.strip() else ()
    if len(atoms) > 1 and any(a.first != a.last for a in atoms):
        raise ParameterError(f"templates: {text!r} must not join a window with other parts. Give the window alone.")
    kinds = {"u": (False,), "b": (True,), "*": (False, True)}[head]
    return [Template(atoms, pairs) for pairs in kinds]


def _parse_atom(part: str, text: str) -> Atom:
    match = _ATOM.fullmatch(part)
    if match is None:
        raise ParameterError(
            f"templates: {text!r} must consist of parts such as word.lower[-1] joined by |, got {part!r}."
        )
    column, functions, first, last = match.groups()
    names = tuple(name for name in functions.split(".") if name)
    for name in names:
        word_function(name)
    start = int(first)
    stop = int(last) if last is not None else start
    if start > stop or max(abs(start), abs(stop)) > _MAX_OFFSET:
        raise ParameterError(f"templates: {text!r} must read positions from -{_MAX_OFFSET} to {_MAX_OFFSET}, in order.")
    return Atom(column, names, start, stop)


def parse_templates(texts: Iterable[str]) -> list[Template]:
    """Parse a list of templates, dropping repetitions.

    Parameters
    ----------
    texts : iterable of str
        Templates.

    Returns
    -------
    list of Template
        In the order given, each once.

    Examples
    --------
    >>> [str(t) for t in parse_templates(["u", "b", "*:pos[0]", "pos[0]"])]
    ['u', 'b', 'u:pos[0]', 'b:pos[0]']
    """
    templates: dict[Template, None] = {}
    for text in texts:
        if not isinstance(text, str):
            raise ParameterError(f"templates: each template must be a string, got {type(text).__name__}.")
        templates.update(dict.fromkeys(parse_template(text)))
    if not templates:
        raise ParameterError("templates: at least one template must be given, got none.")
    return list(templates)


Tokens = Sequence[str] | Sentence
Lookup = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, eq=False)
class Column:
    """One column of many sentences.

    Parameters
    ----------
    values : list of str
        Distinct strings, in the order of first sight.
    ids : ndarray of int32
        For each token the index of its string.
    """

    values: list[str]
    ids: np.ndarray


def sentence_offsets(sentences: Sequence[Tokens], who: str) -> np.ndarray:
    """Check that sentences are sequences of tokens; return where each starts.

    Parameters
    ----------
    sentences : sequence of sequences of str, or of Sentence
        The sentences.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    ndarray of int64, shape (n + 1,)
        Offsets.

    Examples
    --------
    >>> sentence_offsets([["Rome", "fell"], ["Yes"]], "example").tolist()
    [0, 2, 3]
    >>> sentence_offsets(["Rome fell"], "example")
    Traceback (most recent call last):
    ...
    handful.errors.DataError: example: sentence 0 must be a list of tokens, got the string 'Rome fell'. Split it \
into tokens.
    """
    if isinstance(sentences, str | bytes | Mapping) or not isinstance(sentences, Iterable):
        raise DataError(f"{who}: sentences must be a list of lists of tokens, got {type(sentences).__name__}.")
    lengths = []
    for number, sentence in enumerate(sentences):
        if isinstance(sentence, str | bytes):
            raise DataError(
                f"{who}: sentence {number} must be a list of tokens, got the string {sentence[:40]!r}. "
                "Split it into tokens."
            )
        try:
            lengths.append(len(sentence))
        except TypeError:
            raise DataError(
                f"{who}: sentence {number} must be a list of tokens, got {type(sentence).__name__}."
            ) from None
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def runs_of_sentences(offsets: np.ndarray, n_tokens: int) -> Iterator[slice]:
    """Cut sentences into runs of at most `n_tokens` tokens; a longer sentence is a run by itself.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Where each sentence starts.
    n_tokens : int
        Most tokens of a run.

    Yields
    ------
    slice
        The next sentences.

    Examples
    --------
    >>> [(run.start, run.stop) for run in runs_of_sentences(np.array([0, 2, 4, 9, 10]), 4)]
    [(0, 2), (2, 3), (3, 4)]
    """
    start, n_sentences = 0, len(offsets) - 1
    while start < n_sentences:
        fitting = int(np.searchsorted(offsets, offsets[start] + n_tokens, side="right")) - 1
        stop = min(max(start + 1, fitting), n_sentences)
        yield slice(start, stop)
        start = stop


def read_column(sentences: Sequence[Tokens], name: str, who: str) -> Column:
    """Read one column of all sentences.

    Parameters
    ----------
    sentences : sequence of sequences of str, or of Sentence
        The sentences.
    name : str
        ``word`` for the tokens, else a column of `Sentence`.
    who : str
        Name of the caller, for errors.

    Returns
    -------
    Column
        Strings and ids.

    Examples
    --------
    >>> column = read_column([["a", "b"], ["a"]], "word", "example")
    >>> column.values, column.ids.tolist()
    (['a', 'b'], [0, 1, 0])
    """
    rows = sentences if name == TOKEN_COLUMN else [_named(s, i, name, who) for i, s in enumerate(sentences)]
    flat: list[Any] = list(chain.from_iterable(rows))
    try:
        numbers = {value: number for number, value in enumerate(dict.fromkeys(flat))}
    except TypeError:
        numbers = _hashable(flat)
    _check_strings(numbers, name, who)
    ids = np.fromiter(map(numbers.__getitem__, flat), dtype=np.int32, count=len(flat))
    return Column(list(numbers), ids)


def _hashable(values: Iterable[Any]) -> dict[Any, int]:
    """Return values that are none as they stand, and the type of the first that cannot be looked up behind them."""
    unhashable = [value for value in values if isinstance(value, list | dict | set)]
    others = [value for value in values if not isinstance(value, list | dict | set)]
    return dict.fromkeys([*others, type(unhashable[0])], 0)


def _check_strings(values: Iterable[Any], name: str, who: str) -> None:
    for value in values:
        if not isinstance(value, str):
            what = value.__name__ if isinstance(value, type) else f"{type(value).__name__} ({value!r})"
            raise DataError(f"{who}: tokens must be strings, got {what} in the column {name!r}.")


def _named(sentence: Tokens, number: int, name: str, who: str) -> tuple[str, ...]:
    if isinstance(sentence, Sentence) and name in sentence.columns:
        return sentence.columns[name]
    columns = list(sentence.columns) if isinstance(sentence, Sentence) else []
    what = f"{'columns' if len(columns) > 1 else 'the column'} {', '.join(columns)}" if columns else "tokens only"
    raise DataError(
        f"{who}: the templates read a column {name!r}, but sentence {number} has {what}. "
        "Give the sentences that column, or leave these templates out."
    )


def has_column(sentences: Sequence[Tokens], name: str) -> bool:
    """Tell whether all sentences have a column.

    Examples
    --------
    >>> has_column([["a"]], "word"), has_column([["a"]], "pos")
    (True, False)
    """
    return name == TOKEN_COLUMN or all(isinstance(s, Sentence) and name in s.columns for s in sentences)
