"""Ready template sets for part-of-speech tagging, chunking and named entities."""

from __future__ import annotations

from collections.abc import Sequence

from handful.core.errors import ParameterError

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
    >>> from handful.features import parse_templates
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
