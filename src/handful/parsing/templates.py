"""Feature templates of arcs and siblings, and their features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from handful.data.records import Sentence, Tree
from handful.data.tagged import broken_word
from handful.errors import DataError
from handful.kernels import tree_features as kernel
from handful.kernels.hashing import KeyTable, make_key_table
from handful.kernels.tree_features import (
    TYPE_SHIFT,
    Templates,
    features_of_sentence,
    keys_of_tree,
    part_scores,
)
from handful.kernels.trees import lift_crossing, pair_starts, siblings_of
from handful.linear.tree import PartFeatures
from handful.persistence.schema import ListOf, Record, Text, stored

_WHO = "DependencyParser"
_PAIRED = "pos"
_EMPTY = "_"


def read_sentences(inputs: Any) -> list[Sentence]:
    """Return sentences from trees, sentences, or lists of (word, tag) or (word, upos, xpos).

    Parameters
    ----------
    inputs : iterable of Tree, of Sentence, or of sequences of (str, str) or (str, str, str)
        What is to be parsed.

    Returns
    -------
    list of Sentence
        Tags of pairs are in the column ``pos``, those of triples in ``upos`` and ``xpos``.

    Examples
    --------
    >>> read_sentences([[("Rome", "NNP"), ("fell", "VBD")]])[0]["pos"]
    ('NNP', 'VBD')
    """
    if isinstance(inputs, str | Tree | Sentence) or not isinstance(inputs, Iterable):
        raise DataError(f"{_WHO}: a list of sentences is needed, got {_kind(inputs)}. Put a single one into a list.")
    return [_sentence(number, item) for number, item in enumerate(inputs)]


def _sentence(number: int, item: Any) -> Sentence:
    if isinstance(item, Tree):
        return item.sentence
    if isinstance(item, Sentence):
        return item
    if not isinstance(item, str) and isinstance(item, Sequence):
        for names in ((_PAIRED,), ("upos", "xpos")):
            if all(_is_row(row, 1 + len(names)) for row in item):
                words, *tags = zip(*item, strict=True) if item else ((),) * (1 + len(names))
                return Sentence(words, dict(zip(names, tags, strict=True)))
    raise DataError(
        f"{_WHO}: sentence {number} must be a Tree, a Sentence with tags or a list of (word, tag) or (word, upos, xpos), "
        f"got {_kind(item)}."
    )


def _is_row(row: Any, length: int) -> bool:
    is_row = isinstance(row, Sequence) and not isinstance(row, str) and len(row) == length
    return is_row and all(isinstance(cell, str) for cell in row)


def _kind(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str) and value and isinstance(value[0], str):
        return "words without tags"
    return type(value).__name__


def choose_columns(sentences: Sequence[Sentence], wanted: str | None = None) -> tuple[str, ...]:
    """Return the columns that tags are read from: the fine one, then the coarse one if there is one.

    Parameters
    ----------
    sentences : sequence of Sentence
        Training sentences.
    wanted : str or None
        The only column to read.

    Returns
    -------
    tuple of str
        ``xpos`` and ``upos``, or the only one that is filled, or ``pos``.

    Examples
    --------
    >>> choose_columns([Sentence(("Rome",), {"upos": ("PROPN",), "xpos": ("_",)})])
    ('upos',)
    """
    filled = [c for c in ("xpos", "upos", _PAIRED) if all(c in s.columns for s in sentences) and _tagged(sentences, c)]
    if not filled:
        raise DataError(
            f"{_WHO}: the words must have tags, in a column 'xpos', 'upos' or 'pos', got none. Tag the sentences first."
        )
    if wanted is not None:
        if wanted not in filled:
            raise DataError(f"{_WHO}: the words must have tags in {wanted!r}, got tags in {_both(filled)} only.")
        return (wanted,)
    return tuple(filled[:2]) if filled[0] == "xpos" and "upos" in filled else (filled[0],)


def _tagged(sentences: Sequence[Sentence], column: str) -> bool:
    return any(tag != _EMPTY for s in sentences for tag in s[column])


def with_columns(sentences: list[Sentence], columns: Sequence[str]) -> list[Sentence]:
    """Return sentences that have the columns of tags that a parser was trained with.

    Parameters
    ----------
    sentences : list of Sentence
        From `read_sentences`.
    columns : sequence of str
        From `choose_columns`.

    Returns
    -------
    list of Sentence
        The same; tags of pairs stand in for the only column. A sentence without words needs no tags.

    Examples
    --------
    >>> with_columns(read_sentences([[("Rome", "NNP")]]), ["xpos"])[0]["xpos"]
    ('NNP',)
    """
    out = []
    for number, sentence in enumerate(sentences):
        if not len(sentence):
            sentence = Sentence((), dict.fromkeys(columns, ()))
        elif len(columns) == 1 and columns[0] not in sentence.columns and _PAIRED in sentence.columns:
            feats = {name: cells for name, cells in sentence.columns.items() if name == "feats"}
            sentence = Sentence(sentence.tokens, {columns[0]: sentence[_PAIRED], **feats})
        _check_columns(number, sentence, columns)
        out.append(sentence)
    return out


def _check_columns(number: int, sentence: Sentence, columns: Sequence[str]) -> None:
    missing = [c for c in columns if c not in sentence.columns or (len(sentence) and not _tagged([sentence], c))]
    if not missing:
        return
    hint = "Tag it first."
    if len(columns) == 2 and _PAIRED in sentence.columns:
        hint = (
            f"Give each word as (word, upos, xpos), or train on one column (tags={columns[0]!r}; on the command "
            f"line --tag {columns[0]})."
        )
    raise DataError(
        f"{_WHO}: every sentence must have tags in {_both(columns)}, which the parser reads, but sentence {number} has "
        f"none in {missing[0]!r}. {hint}"
    )


def _both(columns: Sequence[str]) -> str:
    return " and ".join(map(repr, columns))


def read_trees(trees: Any, *, projective: bool, single_root: bool) -> tuple[list[Tree], np.ndarray, int]:
    """Check training trees; return them with heads that a parser can learn.

    Parameters
    ----------
    trees : iterable of Tree
        The trees.
    projective : bool
        Whether arcs are lifted until none cross.
    single_root : bool
        Whether further children of the root are hung to the first.

    Returns
    -------
    trees : list of Tree
        The same.
    heads : ndarray of int32
        Heads of all words.
    n_changed : int
        Words that were hung elsewhere.

    Examples
    --------
    >>> tree = Tree(Sentence(("a", "b")), (0, 0), ("root", "root"))
    >>> read_trees([tree], projective=True, single_root=True)[1:]
    (array([0, 1], dtype=int32), 1)
    """
    known = _list_of_trees(trees)
    heads, n_changed = _learnable([tree.heads for tree in known], projective, single_root)
    return known, heads, n_changed


def read_heads(sentences: Sequence[Sentence], heads: Any, *, projective: bool, single_root: bool) -> np.ndarray:
    """Check the heads of sentences; return them as `read_trees` does.

    Parameters
    ----------
    sentences : sequence of Sentence
        The sentences.
    heads : sequence of sequences of int
        Head of each word.
    projective, single_root
        See `read_trees`.

    Returns
    -------
    ndarray of int32
        Heads of all words.

    Examples
    --------
    >>> read_heads([Sentence(("a", "b"))], [[2, 0]], projective=True, single_root=True)
    array([2, 0], dtype=int32)
    """
    if [len(s) for s in sentences] != [len(h) for h in heads]:
        raise DataError(f"{_WHO}: there must be one head for each word.")
    return _learnable([_in_range(number, row) for number, row in enumerate(heads)], projective, single_root)[0]


def _in_range(number: int, heads: Sequence[int]) -> Sequence[int]:
    if any(not -1 <= head <= len(heads) for head in heads):
        raise DataError(
            f"{_WHO}: heads must be words of the sentence, 1 to {len(heads)}, or 0, but tree {number} has others."
        )
    return heads


def _list_of_trees(trees: Any) -> list[Tree]:
    if isinstance(trees, str | Tree) or not isinstance(trees, Iterable):
        odd = [trees]
    else:
        trees = list(trees)
        odd = [tree for tree in trees if not isinstance(tree, Tree)]
    if odd:
        raise DataError(f"{_WHO}: a list of trees is needed for training, got {type(odd[0]).__name__}.")
    if not any(map(len, trees)):
        raise DataError(f"{_WHO}: at least one tree is needed, got none.")
    return list(trees)


def _learnable(all_heads: Sequence[Sequence[int]], projective: bool, single_root: bool) -> tuple[np.ndarray, int]:
    learnable, n_changed = [np.empty(0, dtype=np.int32)], 0
    for number, given in enumerate(all_heads):
        heads = np.array(given, dtype=np.int32)
        _check_tree(number, heads)
        roots = np.flatnonzero(heads == 0)
        changed = heads.copy()
        if single_root and len(roots) > 1:
            changed[roots[1:]] = roots[0] + 1
        if projective:
            lift_crossing(changed)
        n_changed += int((changed != heads).sum())
        learnable.append(changed)
    return np.concatenate(learnable), n_changed


def _check_tree(number: int, heads: np.ndarray) -> None:
    broken = broken_word(heads.tolist())
    if broken is not None:
        word, what = broken
        raise DataError(
            f"{_WHO}: heads must make a tree, but word {word} of the tree at index {number} {what}. Leave it out."
        )


def check_lengths(lengths: Sequence[int], order: int) -> None:
    """Refuse, before any work is done, a sentence for whose arcs there is no memory.

    Parameters
    ----------
    lengths : sequence of int
        Words of each sentence.
    order : {1, 2}
        Of the parser.

    Raises
    ------
    DataError
        If the longest needs more than half of the memory that is free.

    Notes
    -----
    The estimate is what was measured: 100 bytes times the square of the length for arcs and, with order 2, three times its
    cube for pairs of them.
    """
    import psutil

    longest = max(lengths, default=0)
    needed = 100 * longest**2 + (3 * longest**3 if order == 2 else 0)
    free = psutil.virtual_memory().available
    if needed > free // 2:
        number = lengths.index(longest) + 1
        raise DataError(
            f"DependencyParser: a sentence must be so short that its arcs fit into memory, got {longest:,} words in sentence "
            f"{number:,}, which take about {needed / 1e9:,.1f} GB where {free / 1e9:,.1f} are free. Cut the text into sentences."
        )


Spec = tuple[Templates, Templates, Templates]
ATTRIBUTES = ("word", "pos", "coarse", "prefix", "mark", "bits4", "bits6", "bits", "feats", "form")
_PLACES = {
    "h": kernel.HEAD,
    "m": kernel.CHILD,
    "s": kernel.SIBLING,
    "b": kernel.BETWEEN,
    "h-1": kernel.BEFORE_HEAD,
    "h+1": kernel.AFTER_HEAD,
    "m-1": kernel.BEFORE_CHILD,
    "m+1": kernel.AFTER_CHILD,
    "s-1": kernel.BEFORE_SIBLING,
    "s+1": kernel.AFTER_SIBLING,
    "g": kernel.GRAND,
    "l": kernel.FIRST_GRANDCHILD,
    "r": kernel.LAST_GRANDCHILD,
    "h-2": kernel.SECOND_BEFORE_HEAD,
    "h+2": kernel.SECOND_AFTER_HEAD,
    "m-2": kernel.SECOND_BEFORE_CHILD,
    "m+2": kernel.SECOND_AFTER_CHILD,
}
_WHOLE = {
    "reach": kernel.SIBLING_GAP,
    "verbs": kernel.FIRST_FLAG,
    "marks": kernel.FIRST_FLAG + 1,
    "joins": kernel.FIRST_FLAG + 2,
    "tops": kernel.TOPS,
    "climb": kernel.CLIMB,
    "pair": kernel.PAIR,
}
# What a core may fill below the number of its type, after direction and distance.
CORE_BITS = kernel.TYPE_SHIFT - 1 - kernel.PART_BITS

_ARCS = (
    "h.word h.pos",
    "h.word",
    "h.pos",
    "m.word m.pos",
    "m.word",
    "m.pos",
    "h.word h.pos m.word m.pos",
    "h.pos m.word m.pos",
    "h.word m.word m.pos",
    "h.word h.pos m.pos",
    "h.word h.pos m.word",
    "h.word m.word",
    "h.pos m.pos",
    "h.word m.pos",
    "h.pos m.word",
    "h.prefix h.pos m.prefix m.pos",
    "h.pos m.prefix m.pos",
    "h.prefix h.pos m.pos",
    "h.coarse m.coarse",
    "b.pos h.pos m.pos",
    "h.pos h+1.pos m-1.pos m.pos",
    "h-1.pos h.pos m-1.pos m.pos",
    "h.pos h+1.pos m.pos m+1.pos",
    "h-1.pos h.pos m.pos m+1.pos",
    "h.pos h+1.pos m.pos",
    "h-1.pos h.pos m.pos",
    "h.pos m-1.pos m.pos",
    "h.pos m.pos m+1.pos",
    "h.pos m.pos verbs",
    "h.pos m.pos marks",
    "h.pos m.pos joins",
)
_WIDE_ARCS = (
    "b.coarse h.coarse m.coarse",
    "h.coarse m.coarse m+1.coarse m+2.coarse",
    "h.coarse m-2.coarse m-1.coarse m.coarse",
    "h-2.coarse h-1.coarse h.coarse m.coarse",
    "h.coarse h+1.coarse h+2.coarse m.coarse",
    "h.coarse m.word m+1.word",
    "h.coarse m-1.word m.coarse",
    "h.coarse m.coarse m+1.word",
    "h-1.word h.coarse m.coarse",
    "h.coarse h+1.word m.coarse",
)
_PAIRS = (
    "h.pos s.pos m.pos",
    "s.pos m.pos",
    "s.word m.word",
    "s.word m.pos",
    "s.pos m.word",
    "h.word s.pos m.pos",
    "h.pos s.word m.pos",
    "h.pos s.pos m.word",
    "h.coarse s.coarse m.coarse",
    "s.pos m.pos reach",
    "h.pos s.pos m.pos reach",
    "h.pos s.pos m-1.pos m.pos",
    "h.pos s.pos s+1.pos m.pos",
)
_CLUSTER_ARCS = (
    "h.bits m.bits",
    "h.bits4 m.bits4",
    "h.bits6 m.bits6",
    "h.bits4 m.pos",
    "h.pos m.bits4",
    "h.bits6 m.pos",
    "h.pos m.bits6",
    "h.bits m.pos",
    "h.pos m.bits",
    "h.bits",
    "m.bits",
    "h.bits4 h.pos m.bits4 m.pos",
    "h.bits4 h+1.bits4 m-1.bits4 m.bits4",
)
_CLUSTER_PAIRS = (
    "h.bits4 s.bits4 m.bits4",
    "h.bits6 s.bits6 m.bits6",
    "s.bits m.bits",
    "s.bits6 m.bits6",
    "h.pos s.bits4 m.bits4",
)
_FEATS_ARCS = (
    "h.feats m.feats",
    "h.pos m.feats",
    "h.feats m.pos",
    "h.coarse m.coarse m.form",
    "h.form h.coarse m.form m.coarse",
    "h.word m.form",
    "m.word h.form",
    "h.coarse m.coarse m.form m+1.form",
    "h.coarse m.coarse m-1.form m.form",
    "m.feats",
)
_FEATS_PAIRS = ("h.coarse s.form m.form", "s.form m.form", "s.feats m.feats")
_LABEL_FEATS = (
    "m.feats",
    "m.pos m.feats",
    "h.pos m.feats",
    "h.feats m.feats",
    "h.word m.form",
    "h.coarse h.form m.coarse m.form",
    "m.word m.form",
)
_LABEL_FEATS_PAIRS = ("h.coarse s.form m.form", "g.form h.form m.form", "m.form l.word", "m.form l.form r.form")
_LABEL_ARCS = (
    "h.word h.pos m.word m.pos",
    "h.word m.word",
    "h.word h.pos m.pos",
    "h.pos m.word m.pos",
    "h.pos m.pos",
    "h.word m.pos",
    "m.word m.pos",
    "m.word",
    "m.pos",
    "h.word h.pos",
    "h.coarse m.coarse",
    "m.prefix m.pos",
    "h.pos m.prefix",
    "m-1.pos m.pos m+1.pos",
    "h-1.pos h.pos h+1.pos m.pos",
    "h.pos m-1.pos m.pos",
    "h.pos m.pos m+1.pos",
    "b.pos h.pos m.pos",
    "h.pos m.pos marks",
    "h.pos m.pos verbs",
)
_LABEL_PAIRS = (
    "h.pos s.pos m.pos",
    "h.word s.pos m.pos",
    "s.word m.pos",
    "g.pos h.pos m.pos",
    "h.pos m.pos l.word",
    "h.word m.pos l.word",
    "h.pos m.pos l.pos r.pos",
    "h.pos m.pos r.word",
    "m.word l.word",
    "m.pos l.word",
)
_WIDE_LABEL_ARCS = ("b.coarse h.coarse m.coarse",)
_WIDE_LABEL_PAIRS = ("h.coarse m.coarse l.pos", "m.pos r.word")
_MARKS = (
    "tops climb",
    "m.word tops climb",
    "m.word m+1.coarse tops climb",
    "m.word tops climb pair",
    "m.word climb pair",
    "h.coarse m.word tops climb",
    "h.coarse g.coarse m.word tops climb",
    "h.pos g.pos tops climb",
    "h.pos g.pos m.word tops climb",
    "h.pos m-1.pos m.word climb",
    "h.pos m.word m+1.pos climb",
    "h.word m.word climb",
)
_LABEL_CLUSTERS = ("h.bits6 m.bits6", "h.pos m.bits", "h.bits m.pos", "m.bits", "h.bits")
# Types of these grow with the tags between; the distance is told by their number already.
_WITHOUT_DISTANCE = frozenset({"b.pos h.pos m.pos", "b.coarse h.coarse m.coarse"})


@dataclass(frozen=True)
class TemplateSet:
    """Templates of one model.

    Parameters
    ----------
    arcs, pairs : tuple of str
        The templates.

    Examples
    --------
    >>> TemplateSet.ready(order=1, clusters=False).pairs
    ()
    """

    arcs: tuple[str, ...]
    pairs: tuple[str, ...]

    @classmethod
    def ready(cls, *, order: int, clusters: bool, wide: bool = True, feats: bool = False) -> TemplateSet:
        """Return the usual templates of an order, with or without clusters, morphology and a wide look around."""
        arcs = _ARCS + (_WIDE_ARCS if wide else ()) + (_CLUSTER_ARCS if clusters else ())
        pairs = _PAIRS + (_CLUSTER_PAIRS if clusters else ())
        if feats:
            arcs, pairs = arcs + _FEATS_ARCS, pairs + _FEATS_PAIRS
        return cls(arcs, pairs if order == 2 else ())

    @classmethod
    def for_labels(cls, *, clusters: bool, wide: bool = True, feats: bool = False) -> TemplateSet:
        """Return the templates for the labels of arcs."""
        arcs = _LABEL_ARCS + (_WIDE_LABEL_ARCS if wide else ()) + (_LABEL_CLUSTERS if clusters else ())
        pairs = _LABEL_PAIRS + (_WIDE_LABEL_PAIRS if wide else ())
        return cls(arcs + _LABEL_FEATS, pairs + _LABEL_FEATS_PAIRS) if feats else cls(arcs, pairs)

    @classmethod
    def for_marks(cls) -> TemplateSet:
        """Return the templates for the heads of punctuation marks."""
        return cls((), _MARKS)

    STATE = Record(stored(arcs=ListOf(Text()), pairs=ListOf(Text())))

    def state(self) -> dict[str, list[str]]:
        """Return what a model file needs."""
        return {"arcs": list(self.arcs), "pairs": list(self.pairs)}

    @classmethod
    def from_state(cls, state: Mapping[str, Sequence[str]]) -> TemplateSet:
        """Return the templates that a model file names."""
        arcs, pairs = tuple(state["arcs"]), tuple(state["pairs"])
        for atom in chain.from_iterable(text.split() for text in (*arcs, *pairs)):
            place, _, attribute = atom.partition(".")
            if atom not in _WHOLE and (place not in _PLACES or attribute not in ATTRIBUTES):
                raise DataError(f"{_WHO}: the stored template {atom[:60]!r} is damaged. Train the parser again.")
        if not all(text.split() for text in (*arcs, *pairs)):
            raise DataError(f"{_WHO}: a stored template is damaged. Train the parser again.")
        return cls(arcs, pairs)

    @property
    def types(self) -> tuple[str, ...]:
        """Names of the feature types, by number: each arc template with direction, and with distance too."""
        names = []
        for text in self.arcs:
            names += [text] if text in _WITHOUT_DISTANCE else [text, f"{text} distance"]
        return (*names, *self.headed, *self.near)

    @property
    def near(self) -> tuple[str, ...]:
        """Templates of pairs that do not look at the head."""
        return tuple(t for t in self.pairs if all((a[0] in "sm" and "." in a) or a == "reach" for a in t.split()))

    @property
    def headed(self) -> tuple[str, ...]:
        """Templates of pairs that look at the head."""
        return tuple(t for t in self.pairs if t not in self.near)

    def compile(self, n_codes: Mapping[str, int]) -> Spec:
        """Turn the templates into arrays.

        Parameters
        ----------
        n_codes : mapping of str to int
            How many codes each attribute has.

        Returns
        -------
        tuple of three Templates
            Of arcs, of pairs that look at the head, and of pairs that do not; for `handful.kernels.tree_features`.
        """
        bits = np.array([bits_of(n_codes.get(name, 0)) for name in ATTRIBUTES])
        number = iter(range(len(self.types)))
        compiled = []
        for texts in (self.arcs, self.headed, self.near):
            parsed = [[parse_atom(atom) for atom in text.split()] for text in texts]
            shape = (len(texts), max(map(len, parsed), default=1))
            places, attributes = np.full(shape, -1), np.zeros(shape, dtype=np.int64)
            types = np.full((len(texts), 2), -1)
            each = np.zeros(len(texts), dtype=bool)
            for row, (text, atoms) in enumerate(zip(texts, parsed, strict=True)):
                places[row, : len(atoms)], attributes[row, : len(atoms)] = np.array(atoms).T
                each[row] = kernel.BETWEEN in places[row]
                types[row, 0] = next(number)
                if texts is self.arcs and text not in _WITHOUT_DISTANCE:
                    types[row, 1] = next(number)
            between, mark = ATTRIBUTES.index("pos"), ATTRIBUTES.index("mark")
            compiled.append(Templates(places, attributes, each, types, bits, between, mark))
        return compiled[0], compiled[1], compiled[2]


def parse_atom(text: str) -> tuple[int, int]:
    """Return the place and the attribute of an atom.

    Examples
    --------
    >>> parse_atom("m.pos"), parse_atom("verbs")
    ((1, 1), (4, 2))
    """
    if text in _WHOLE:
        return kernel.PART, _WHOLE[text]
    place, _, attribute = text.partition(".")
    return _PLACES[place], ATTRIBUTES.index(attribute)


def bits_of(n_codes: int) -> int:
    """Return the bits that hold so many codes.

    Examples
    --------
    >>> bits_of(5), bits_of(8), bits_of(9)
    (3, 3, 4)
    """
    return max(n_codes - 1, 1).bit_length()


def word_bits(texts: Sequence[str], n_codes: Mapping[str, int], name: str) -> int:
    """Return how many bits the codes of one attribute may have, so that every template fits into its key.

    Parameters
    ----------
    texts : sequence of str
        All templates.
    n_codes : mapping of str to int
        How many codes each other attribute has.
    name : str
        The attribute.

    Returns
    -------
    int
        Bits.

    Examples
    --------
    >>> word_bits(["h.word h.pos m.word m.pos"], {"pos": 50}, "word")
    19
    """
    most = CORE_BITS
    for text in texts:
        atoms = text.split()
        n_atoms = sum(atom.endswith(f".{name}") for atom in atoms)
        others = [atom.partition(".")[2] for atom in atoms if not atom.endswith(f".{name}")]
        taken = sum(bits_of(n_codes.get(other, 0)) if other else kernel.PART_BITS for other in others)
        if n_atoms:
            most = min(most, (CORE_BITS - taken) // n_atoms)
    return most


def show_key(key: int, names: TemplateSet, spec: Spec, values: Mapping[str, Sequence[str]]) -> str:
    """Write a key out as a person reads it.

    Parameters
    ----------
    key : int
        The key.
    names : TemplateSet
        The templates.
    spec : tuple of three Templates
        The same, compiled.
    values : mapping of str to sequence of str
        Strings of the codes of each attribute.

    Returns
    -------
    str
        Such as ``"h.pos=NN m.pos=DT left"``.
    """
    number, core = key >> kernel.TYPE_SHIFT, key & ((1 << kernel.TYPE_SHIFT) - 1)
    for texts, compiled in zip((names.arcs, names.headed, names.near), spec, strict=True):
        places = np.argwhere(compiled.types == number)
        if len(places):
            row, with_distance = places[0]
            end = ""
            if with_distance:
                end = f" distance={('1', '2', '3', '4', '5', '6-10', '11+')[core & 7]}"
                core >>= kernel.PART_BITS
            end = (" right" if core & 1 else " left") + end
            core >>= 1
            shown = []
            for atom in reversed(texts[row].split()):
                name = atom.partition(".")[2]
                width = int(compiled.bits[ATTRIBUTES.index(name)]) if name else kernel.PART_BITS
                code = core & ((1 << width) - 1)
                if name and code >= len(values[name]):
                    raise DataError(f"{_WHO}: a stored feature names no {name} of training. Train the parser again.")
                shown.append(f"{atom}={values[name][code] if name else code}")
                core >>= width
            return " ".join(reversed(shown)) + end
    raise DataError(f"{_WHO}: a stored feature has no template. Train the parser again.")


# Codes below the values: nothing observed, the root, outside of the sentence, no sibling.
SPECIAL = ("", "<root>", "<outside>", "<none>")
_VERBS = frozenset({"VERB", "AUX", "MD"})
_PUNCTUATION = frozenset({"PUNCT", "``", "''", ":", ",", ".", "-LRB-", "-RRB-", "(", ")", "$,", "$.", "$(", "PU"})
_JOINS = frozenset({"CCONJ", "CONJ", "CC"})
_PREFIX = 5
_MOST_FEATS = 1_000  # different values of FEATS, the most frequent ones


class Encoder:
    """Numbers for the words, tags and clusters of training sentences.

    Parameters
    ----------
    values : mapping of str to sequence of str
        For each attribute its strings; code 4 is the first, lower codes are special.
    columns : sequence of str
        Columns that tags are read from, the fine one first.
    clusters : mapping of str to str or None
        Cluster path of each word.

    Examples
    --------
    >>> sentences = [Sentence(("Rome", "fell"), {"xpos": ("NNP", "VBD")})]
    >>> encoder = Encoder.learn(sentences, ("xpos",), None, TemplateSet.ready(order=1, clusters=False))
    >>> encoder.encode(sentences)[:, ATTRIBUTES.index("pos")].tolist()
    [2, 3, 1, 4, 5]
    """

    def __init__(
        self, values: Mapping[str, Sequence[str]], columns: Sequence[str], clusters: Mapping[str, str] | None
    ) -> None:
        self.values = {name: list(strings) for name, strings in values.items()}
        self.columns = tuple(columns)
        self.clusters = clusters
        self._numbers = {
            name: {value: code for code, value in enumerate(strings, start=len(SPECIAL))}
            for name, strings in self.values.items()
        }

    @classmethod
    def learn(
        cls,
        sentences: Sequence[Sentence],
        columns: Sequence[str],
        clusters: Mapping[str, str] | None,
        templates: TemplateSet,
    ) -> Encoder:
        """Give numbers to what is in training sentences; where keys have no room for all words, to the most frequent."""
        seen = _count(sentences, columns, clusters)
        if any(".feats" in text for text in templates.arcs):
            seen |= _count_feats(sentences)
        # The most frequent first; nothing needs no number.
        values = {name: _by_frequency(counts) for name, counts in seen.items()}
        for name in {"feats", "form"} & values.keys():
            values[name] = values[name][:_MOST_FEATS]
        texts = (*templates.arcs, *templates.pairs)
        for name in ("bits", "prefix", "word"):
            others = {other: len(SPECIAL) + len(strings) for other, strings in values.items()}
            room = (1 << max(word_bits(texts, others, name), 0)) - len(SPECIAL)
            if name in values:
                values[name] = values[name][: max(room, 0)]
        new = cls(values, columns, clusters)
        if max(word_bits(texts, new.n_codes, name) < bits_of(new.n_codes[name]) for name in ("word", "pos", "coarse")):
            raise DataError(
                f"DependencyParser: there must be at most some thousand different tags, got {len(values['pos']):,}. "
                "Use a coarser column of tags."
            )
        return new

    @property
    def n_codes(self) -> dict[str, int]:
        """How many codes each attribute has."""
        return {name: len(SPECIAL) + len(strings) for name, strings in self.values.items()}

    def encode(self, sentences: Sequence[Sentence]) -> np.ndarray:
        """Return one row of codes a token, the root before each sentence, after two rows for outside and no sibling."""
        n_rows = 2 + sum(len(s) + 1 for s in sentences)
        codes = np.zeros((n_rows, len(ATTRIBUTES)), dtype=np.int32)
        lengths = np.array([len(s) for s in sentences], dtype=np.int64)
        roots = 2 + np.cumsum(lengths + 1) - lengths - 1
        filled = [ATTRIBUTES.index(name) for name in self.values if name != "prefix"]
        codes[0, filled], codes[1, filled] = 2, 3
        codes[roots[:, None], filled] = 1
        inner = np.ones(n_rows, dtype=bool)
        inner[:2] = inner[roots] = False
        words = list(chain.from_iterable(s.tokens for s in sentences))
        tags = list(chain.from_iterable(zip(*(s[c] for c in self.columns), strict=True) for s in sentences))
        sources: dict[str, tuple[Iterable[Any], dict[Any, int]]] = {
            "word": (words, self._numbers["word"]),
            "prefix": _through(words, prefix_of, self._numbers["prefix"]),
            "pos": _through(tags, _first, self._numbers["pos"]),
            "coarse": _through(tags, coarse_of, self._numbers["coarse"]),
            "mark": _through(tags, marks_of, None),
        }
        if "feats" in self.values:
            unknown = (_EMPTY,)
            feats = list(chain.from_iterable(s.columns.get("feats", unknown * len(s)) for s in sentences))
            sources["feats"] = _through(feats, _filled, self._numbers["feats"])
            sources["form"] = _through(feats, form_of, self._numbers["form"])
        if self.clusters is not None:
            paths = self.clusters
            for name, length in (("bits4", 4), ("bits6", 6), ("bits", None)):
                cut = slice(length)
                sources[name] = _through(words, lambda w, cut=cut: paths.get(w, "")[cut], self._numbers[name])
        for name, (items, numbers) in sources.items():
            item_codes = np.fromiter((numbers.get(item, 0) for item in items), dtype=np.int32, count=len(words))
            codes[inner, ATTRIBUTES.index(name)] = item_codes
        return codes


def _through(items: list[Any], function: Any, numbers: Mapping[Any, int] | None) -> tuple[list[Any], dict[Any, int]]:
    """Return a table from each distinct item to its code, by way of a function of the item."""
    distinct = dict.fromkeys(items)
    if numbers is None:
        return items, {item: function(item) for item in distinct}
    return items, {item: numbers.get(function(item), 0) for item in distinct}


def form_of(feats: str) -> str:
    """Return what says most of the role of a word: its case, and the form and mood of a verb.

    Examples
    --------
    >>> form_of("Case=Gen|Number=Sing"), form_of("Mood=Ind|Number=Sing|VerbForm=Fin"), form_of("_")
    ('Gen', 'Ind|Fin', '')
    """
    cells = (part.partition("=") for part in feats.split("|"))
    return "|".join(value for name, _, value in cells if name in ("Case", "Mood", "VerbForm"))


def _filled(feats: str) -> str:
    return "" if feats == _EMPTY else feats


def _first(tags: tuple[str, ...]) -> str:
    return tags[0]


def prefix_of(word: str) -> str:
    """Return the first five letters of a longer word, nothing of others.

    Examples
    --------
    >>> prefix_of("parsing"), prefix_of("tree")
    ('parsi', '')
    """
    return word[:_PREFIX] if len(word) > _PREFIX else ""


def coarse_of(tags: tuple[str, ...]) -> str:
    """Return the coarse tag: the second one, or two letters of the only one.

    Examples
    --------
    >>> coarse_of(("VBD", "VERB")), coarse_of(("VBD",))
    ('VERB', 'VB')
    """
    return tags[1] if len(tags) > 1 else tags[0][:2]


def marks_of(tags: tuple[str, ...]) -> int:
    """Return whether a tag is that of a verb (1), of punctuation (2) or of a conjunction (4).

    Examples
    --------
    >>> marks_of(("VBD",)), marks_of((",", "PUNCT")), marks_of(("NN",))
    (1, 2, 0)
    """
    verb = any(tag in _VERBS or tag.startswith("VB") for tag in tags)
    return verb + 2 * any(tag in _PUNCTUATION for tag in tags) + 4 * any(tag in _JOINS for tag in tags)


def _count(
    sentences: Sequence[Sentence], columns: Sequence[str], clusters: Mapping[str, str] | None
) -> dict[str, Counter[str]]:
    """Count words, their prefixes, tags and clusters."""
    words = Counter(chain.from_iterable(s.tokens for s in sentences))
    seen: dict[str, Counter[str]] = {"word": words, "prefix": Counter(), "pos": Counter(), "coarse": Counter()}
    for word, count in words.items():
        seen["prefix"][prefix_of(word)] += count
    tags = Counter(chain.from_iterable(zip(*(s[c] for c in columns), strict=True) for s in sentences))
    for pair, count in tags.items():
        seen["pos"][pair[0]] += count
        seen["coarse"][coarse_of(pair)] += count
    return seen if clusters is None else seen | _count_bits(words, clusters)


def _count_feats(sentences: Sequence[Sentence]) -> dict[str, Counter[str]]:
    feats = Counter(_filled(cell) for s in sentences for cell in s.columns.get("feats", ()))
    forms: Counter[str] = Counter()
    for cell, count in feats.items():
        forms[form_of(cell)] += count
    return {"feats": feats, "form": forms}


def has_feats(sentences: Sequence[Sentence]) -> bool:
    """Tell whether at least one of five words has morphological features (the column FEATS of CoNLL-U)."""
    n_filled = sum(cell != _EMPTY for s in sentences for cell in s.columns.get("feats", ()))
    return 5 * n_filled >= sum(map(len, sentences))


def without_some_feats(sentences: list[Sentence]) -> list[Sentence]:
    """Return sentences with every fourth one stripped of its morphological features."""
    # On Finnish (fi_tdt) a quarter costs 1.0 LAS where text has features, and gains 6.4 where it has none.
    return [
        Sentence(s.tokens, {name: cells for name, cells in s.columns.items() if name != "feats"}) if i % 4 == 3 else s
        for i, s in enumerate(sentences)
    ]


def _count_bits(words: Mapping[str, int], clusters: Mapping[str, str]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {"bits4": Counter(), "bits6": Counter(), "bits": Counter()}
    for word, count in words.items():
        if word in clusters:
            for name, length in (("bits4", 4), ("bits6", 6), ("bits", None)):
                counts[name][clusters[word][:length]] += count
    return counts


def _by_frequency(counts: Mapping[str, int]) -> list[str]:
    return sorted(filter(None, counts), key=lambda value: (-counts[value], value))


CACHE_BYTES = 1 << 30
_CHUNK_KEYS = 1 << 23
_NOTHING = np.empty(0)
_NO_STARTS = np.empty((0, 0), dtype=np.int64)


class TreeFeatures:
    """The features that trees have, with the number of each.

    Parameters
    ----------
    templates : TemplateSet
        The templates.
    encoder : Encoder
        Numbers of words and tags.
    keys : ndarray of int64
        Key of each feature, rising; see `handful.kernels.tree_features`.
    order : {1, 2}
        Whether pairs have features.
    single_root : bool
        Whether the root has exactly one child.
    """

    def __init__(
        self, templates: TemplateSet, encoder: Encoder, keys: np.ndarray, *, order: int, single_root: bool
    ) -> None:
        self.templates = templates
        self.encoder = encoder
        self.keys = keys
        self.order = order
        self.single_root = single_root
        self.spec = templates.compile(encoder.n_codes)
        self._weighed: tuple[np.ndarray, KeyTable] | None = None

    @classmethod
    def learn(
        cls,
        sentences: Sequence[Sentence],
        heads: np.ndarray,
        templates: TemplateSet,
        encoder: Encoder,
        *,
        order: int,
        single_root: bool,
        min_count: int,
    ) -> TreeFeatures:
        """Give numbers to the features that the right trees have at least so often."""
        new = cls(templates, encoder, np.empty(0, dtype=np.int64), order=order, single_root=single_root)
        keys, counts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        for some in new.tree_keys(sentences, heads):
            more, more_counts = np.unique(some, return_counts=True)
            keys, places = np.unique(np.concatenate([keys, more]), return_inverse=True)
            both = np.concatenate([counts, more_counts])
            counts = np.bincount(places, weights=both, minlength=len(keys)).astype(np.int64)
        new.keys = keys[counts >= min_count]
        return new

    def tree_keys(self, sentences: Sequence[Sentence], heads: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the keys of everything that templates find in trees, some million at a time; heads of all in one array."""
        codes = self.encoder.encode(sentences)
        root, word, size = 2, 0, 0
        parts: list[np.ndarray] = []
        for sentence in sentences:
            n = len(sentence)
            own_heads = heads[word : word + n]
            keys, _ = keys_of_tree(codes, root, *self.spec, own_heads, siblings_of(own_heads), self.order == 2)
            parts.append(keys)
            root, word, size = root + n + 1, word + n, size + len(keys)
            if size > _CHUNK_KEYS:
                yield np.concatenate(parts)
                parts, size = [], 0
        if parts:
            yield np.concatenate(parts)

    @cached_property
    def table(self) -> KeyTable:
        """Hash table of the keys."""
        return make_key_table(self.keys)

    def weight_table(self, weights: np.ndarray) -> KeyTable:
        """Return the hash table from the keys to these weights; that of the last weights is kept."""
        if self._weighed is None or self._weighed[0] is not weights:
            self._weighed = weights, make_key_table(self.keys, weights.view(np.int64))
        return self._weighed[1]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.keys)

    @property
    def types(self) -> np.ndarray:
        """Type of each feature, as a number of `TemplateSet.types`."""
        types: np.ndarray = self.keys >> TYPE_SHIFT
        return types

    def keep(self, chosen: np.ndarray) -> TreeFeatures:
        """Return the same with some of the features."""
        return self.with_keys(self.keys[chosen])

    def with_keys(self, keys: np.ndarray) -> TreeFeatures:
        """Return the same with other features."""
        return TreeFeatures(self.templates, self.encoder, keys, order=self.order, single_root=self.single_root)

    def names(self, numbers: np.ndarray) -> list[str]:
        """Write features out as a person reads them."""
        values: Mapping[str, list[str]] = {name: [*SPECIAL, *strings] for name, strings in self.encoder.values.items()}
        return [show_key(int(key), self.templates, self.spec, values) for key in self.keys[numbers]]


class SentenceFeatures:
    """The features of the parts of some sentences, made when asked for.

    Parameters
    ----------
    features : TreeFeatures
        The features.
    sentences : sequence of Sentence
        The sentences.
    cache_bytes : int
        Results are kept for the next time as long as they fill no more than this.
    """

    def __init__(self, features: TreeFeatures, sentences: Sequence[Sentence], cache_bytes: int = 0) -> None:
        self.features = features
        self.codes = features.encoder.encode(sentences)
        self.offsets = np.concatenate([[0], np.cumsum([len(s) for s in sentences], dtype=np.int64)])
        self.cache_bytes = cache_bytes
        self._kept: dict[int, PartFeatures] = {}
        self._pairs: dict[int, tuple[np.ndarray, int]] = {}

    def scores(self, number: int, weights: np.ndarray, scale: float, least: float) -> np.ndarray:
        """Return the scores of the parts of one sentence, pairs only of likely arcs; see `handful.kernels.tree_features`."""
        features = self.features
        root, n, starts, n_pairs = self._place(number)
        pairs = starts, n_pairs, features.single_root
        scores: np.ndarray = part_scores(
            self.codes, root, n, features.spec, features.weight_table(weights), *pairs, scale, least
        )
        return scores

    def _place(self, number: int) -> tuple[int, int, np.ndarray, int]:
        """Return the row of the root of a sentence, its number of words, and the numbers of its pairs."""
        n = int(self.offsets[number + 1] - self.offsets[number])
        if n not in self._pairs:
            pairs = pair_starts(n, self.features.single_root) if self.features.order == 2 else (_NO_STARTS, 0)
            self._pairs[n] = pairs
        return (2 + int(self.offsets[number]) + number, n, *self._pairs[n])

    def __call__(self, number: int) -> PartFeatures:
        """Return the features of the parts of one sentence."""
        kept = self._kept.get(number)
        if kept is not None:
            return kept
        features = self.features
        root, n, starts, n_pairs = self._place(number)
        rules = features.order == 2, features.single_root
        ids, begins, ends = features_of_sentence(
            self.codes, root, n, *features.spec, features.table, starts, n_pairs, *rules
        )
        parts = PartFeatures(ids, _NOTHING, begins, ends)
        size = ids.nbytes + begins.nbytes + ends.nbytes
        if size <= self.cache_bytes:
            self.cache_bytes -= size
            parts = PartFeatures(ids.copy(), _NOTHING, begins, ends)
            self._kept[number] = parts
        return parts
