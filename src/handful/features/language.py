"""The template language: which observations of a sentence become features.

::

    word[0]                     the word itself
    word.lower[-1]              the word before, in lower case
    word.suffix3[0]             its last three letters
    pos[-1]|pos[0]              two columns in conjunction
    word.lower[-4..-1]          any of the four words before, wherever it stands
    brown.prefix4[1]            four bits of the cluster of the next word (a lookup)
    b:pos[0]                    with the label and the label before
    *:pos[0]                    both: with the label, and with the label pair
    u                           nothing but the label
    b                           nothing but the label pair

``u:`` (the default), ``b:`` and ``*:`` are as in CRF++ and Wapiti. ``word`` is the token; any other name is a column of
the sentence or a lookup. Functions are those of `handful.features.word_functions`, applied from left to right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from handful.core.errors import ParameterError
from handful.features.word_functions import word_function

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
    handful.core.errors.ParameterError: templates: 'word.lower' must consist of parts such as word.lower[-1] joined by \
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
