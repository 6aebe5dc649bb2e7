"""Vocabularies of extractors put side by side: which predicates of one another has, and both in one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from handful.features.batch import N_PADS
from handful.features.extractor import Extractor


def joined(extractors: Sequence[Extractor]) -> Extractor:
    """Return an extractor that knows what any of several knows.

    Parameters
    ----------
    extractors : sequence of Extractor
        With the same templates and lookups, and a vocabulary.

    Returns
    -------
    Extractor
        Predicates of the first in their order, then what the second adds, and so on, template by template.

    Examples
    --------
    >>> first, second = (Extractor(["word[0]"]).fit([words]) for words in (["a", "b"], ["c", "a"]))
    >>> joined([first, second]).names(range(3))
    ['word[0]=a', 'word[0]=b', 'word[0]=c']
    """
    states = [extractor.state() for extractor in extractors]
    first = extractors[0]
    strings: dict[str, list[str]] = {}
    for space in states[0]["strings"]:
        strings[space] = list(dict.fromkeys(s for state in states for s in state["strings"][space]))
    index = _index(strings)
    recoded = [_recoded(extractor, state, index) for extractor, state in zip(extractors, states, strict=True)]
    keys = []
    for several in zip(*recoded, strict=True):
        both = np.concatenate(several)
        _, at = np.unique(both, return_index=True)
        keys.append(both[np.sort(at)])
    return Extractor.from_state(states[0] | {"strings": strings, "keys": keys}, first.lookups)


def numbers_in(extractor: Extractor, other: Extractor) -> np.ndarray:
    """Find the predicates of one extractor in another one.

    Parameters
    ----------
    extractor : Extractor
        Whose predicates to find.
    other : Extractor
        Where to find them; with the same templates.

    Returns
    -------
    ndarray of int64, shape (extractor.n_predicates,)
        Number of each predicate in the other, -1 where it is not there.

    Examples
    --------
    >>> first, second = (Extractor(["word[0]"]).fit([words]) for words in (["a", "b"], ["c", "a"]))
    >>> numbers_in(first, second).tolist()
    [1, -1]
    """
    if extractor.hash_bits is not None:
        return np.arange(extractor.n_predicates)
    state = other.state()
    wanted = _recoded(extractor, extractor.state(), _index(state["strings"]))
    numbers = []
    for keys, known, start in zip(wanted, state["keys"], other.starts, strict=False):
        order = np.argsort(known)
        at = np.minimum(np.searchsorted(known[order], keys), max(len(known) - 1, 0))
        here = order[at] if len(known) else at
        hit = (known[here] == keys) if len(known) else np.zeros(len(keys), dtype=bool)
        numbers.append(np.where(hit, here + start, -1))
    return np.concatenate([np.empty(0, dtype=np.int64), *numbers])


def _index(strings: dict[str, list[str]]) -> dict[str, dict[str, int]]:
    return {space: {s: i for i, s in enumerate(words, start=N_PADS)} for space, words in strings.items()}


def _recoded(extractor: Extractor, state: dict[str, Any], index: dict[str, dict[str, int]]) -> list[np.ndarray]:
    """Return the keys of an extractor's predicates as another numbering of strings writes them; -1 where it cannot."""
    codes = {
        space: np.array([*range(N_PADS), *(index[space].get(s, -1) for s in strings)], dtype=np.int64)
        for space, strings in state["strings"].items()
    }
    recoded = []
    for slot, keys in zip(extractor.slots, state["keys"], strict=True):
        rest, parts = keys, []
        for atom in reversed(slot):
            rest, code = np.divmod(rest, len(codes[atom.space]))
            parts.append(codes[atom.space][code])
        joint = np.zeros(len(keys), dtype=np.int64)
        known = np.ones(len(keys), dtype=bool)
        for atom, part in zip(slot, reversed(parts), strict=True):
            joint = joint * (len(index[atom.space]) + N_PADS) + part
            known &= part >= 0
        recoded.append(np.where(known, joint, -1))
    return recoded


def hashes(extractor: Extractor) -> np.ndarray:
    """Return a number for each predicate that depends on its template and strings only.

    Parameters
    ----------
    extractor : Extractor
        With a vocabulary.

    Returns
    -------
    ndarray of uint64
        Evenly spread over 64 bits.

    Examples
    --------
    >>> first, second = (Extractor(["word[0]"]).fit([words]) for words in (["a", "b"], ["b"]))
    >>> bool(hashes(first)[1] == hashes(second)[0])
    True
    """
    state = extractor.state()
    of_string = {
        space: np.array([*range(1, N_PADS + 1), *map(_hash, strings)], dtype=np.uint64)
        for space, strings in state["strings"].items()
    }
    parts = [np.empty(0, dtype=np.uint64)]
    for number, (slot, keys) in enumerate(zip(extractor.slots, state["keys"], strict=True)):
        mixed = np.full(len(keys), number + 1, dtype=np.uint64)
        for atom in reversed(slot):
            keys, code = np.divmod(keys, len(of_string[atom.space]))
            mixed = (mixed ^ of_string[atom.space][code]) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        parts.append(mixed * np.uint64(0xBF58476D1CE4E5B9))
    return np.concatenate(parts)


def in_order(extractor: Extractor) -> tuple[Extractor, np.ndarray]:
    """Return an extractor with the same predicates, numbered by their strings and not by first sight.

    Parameters
    ----------
    extractor : Extractor
        With a vocabulary.

    Returns
    -------
    ordered : Extractor
        Template by template, predicates in alphabetical order.
    numbers : ndarray of int64
        New number of each old predicate.

    Examples
    --------
    >>> ordered, numbers = in_order(Extractor(["word[0]"]).fit([["b", "a"]]))
    >>> ordered.names(range(2)), numbers.tolist()
    (['word[0]=a', 'word[0]=b'], [1, 0])
    """
    state = extractor.state()
    strings = {space: sorted(values) for space, values in state["strings"].items()}
    keys = [np.sort(numbers) for numbers in _recoded(extractor, state, _index(strings))]
    ordered = Extractor.from_state(state | {"strings": strings, "keys": keys}, extractor.lookups)
    return ordered, numbers_in(extractor, ordered)


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
