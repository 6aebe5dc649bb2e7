"""Feature templates of arcs and siblings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from handful.errors import DataError
from handful.kernels import tree_features as kernel
from handful.kernels.tree_features import Templates
from handful.persistence.schema import ListOf, Record, Text, stored

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
    "punctuation": kernel.FIRST_FLAG + 1,
    "conjunctions": kernel.FIRST_FLAG + 2,
    "tops": kernel.TOPS,
    "climb": kernel.CLIMB,
    "pair": kernel.PAIR,
}
# What a core may fill below the number of its type, after direction and distance.
CORE_BITS = kernel.TYPE_SHIFT - 1 - kernel.PART_BITS


def _texts(table: str) -> tuple[str, ...]:
    """Return the templates of a table: one or several a line, with | between them."""
    return tuple(text.strip() for line in table.strip().splitlines() for text in line.split("|"))


# h is the head, m the child, s the sibling between them, b each token between, g the head of the head, l and r the first
# and last child of m; h-1 is the token before the head. "verbs", "punctuation" and "conjunctions" count tokens between.
_ARCS = _texts(
    """
    h.word h.pos | h.word | h.pos | m.word m.pos | m.word | m.pos | h.word h.pos m.word m.pos
    h.pos m.word m.pos | h.word m.word m.pos | h.word h.pos m.pos | h.word h.pos m.word | h.word m.word
    h.pos m.pos | h.word m.pos | h.pos m.word | h.prefix h.pos m.prefix m.pos | h.pos m.prefix m.pos
    h.prefix h.pos m.pos | h.coarse m.coarse | b.pos h.pos m.pos | h.pos h+1.pos m-1.pos m.pos
    h-1.pos h.pos m-1.pos m.pos | h.pos h+1.pos m.pos m+1.pos | h-1.pos h.pos m.pos m+1.pos | h.pos h+1.pos m.pos
    h-1.pos h.pos m.pos | h.pos m-1.pos m.pos | h.pos m.pos m+1.pos | h.pos m.pos verbs | h.pos m.pos punctuation
    h.pos m.pos conjunctions
    """
)
_WIDE_ARCS = _texts(
    """
    b.coarse h.coarse m.coarse | h.coarse m.coarse m+1.coarse m+2.coarse
    h.coarse m-2.coarse m-1.coarse m.coarse | h-2.coarse h-1.coarse h.coarse m.coarse
    h.coarse h+1.coarse h+2.coarse m.coarse | h.coarse m.word m+1.word | h.coarse m-1.word m.coarse
    h.coarse m.coarse m+1.word | h-1.word h.coarse m.coarse | h.coarse h+1.word m.coarse
    """
)
_PAIRS = _texts(
    """
    h.pos s.pos m.pos | s.pos m.pos | s.word m.word | s.word m.pos | s.pos m.word | h.word s.pos m.pos
    h.pos s.word m.pos | h.pos s.pos m.word | h.coarse s.coarse m.coarse | s.pos m.pos reach
    h.pos s.pos m.pos reach | h.pos s.pos m-1.pos m.pos | h.pos s.pos s+1.pos m.pos
    """
)
_CLUSTER_ARCS = _texts(
    """
    h.bits m.bits | h.bits4 m.bits4 | h.bits6 m.bits6 | h.bits4 m.pos | h.pos m.bits4 | h.bits6 m.pos
    h.pos m.bits6 | h.bits m.pos | h.pos m.bits | h.bits | m.bits | h.bits4 h.pos m.bits4 m.pos
    h.bits4 h+1.bits4 m-1.bits4 m.bits4
    """
)
_CLUSTER_PAIRS = _texts(
    """
    h.bits4 s.bits4 m.bits4 | h.bits6 s.bits6 m.bits6 | s.bits m.bits | s.bits6 m.bits6 | h.pos s.bits4 m.bits4
    """
)
_FEATS_ARCS = _texts(
    """
    h.feats m.feats | h.pos m.feats | h.feats m.pos | h.coarse m.coarse m.form | h.form h.coarse m.form m.coarse
    h.word m.form | m.word h.form | h.coarse m.coarse m.form m+1.form | h.coarse m.coarse m-1.form m.form
    m.feats
    """
)
_FEATS_PAIRS = _texts("h.coarse s.form m.form | s.form m.form | s.feats m.feats")
_LABEL_ARCS = _texts(
    """
    h.word h.pos m.word m.pos | h.word m.word | h.word h.pos m.pos | h.pos m.word m.pos | h.pos m.pos
    h.word m.pos | m.word m.pos | m.word | m.pos | h.word h.pos | h.coarse m.coarse | m.prefix m.pos
    h.pos m.prefix | m-1.pos m.pos m+1.pos | h-1.pos h.pos h+1.pos m.pos | h.pos m-1.pos m.pos
    h.pos m.pos m+1.pos | b.pos h.pos m.pos | h.pos m.pos punctuation | h.pos m.pos verbs
    """
)
_LABEL_PAIRS = _texts(
    """
    h.pos s.pos m.pos | h.word s.pos m.pos | s.word m.pos | g.pos h.pos m.pos | h.pos m.pos l.word
    h.word m.pos l.word | h.pos m.pos l.pos r.pos | h.pos m.pos r.word | m.word l.word | m.pos l.word
    """
)
_WIDE_LABEL_ARCS = _texts("b.coarse h.coarse m.coarse")
_WIDE_LABEL_PAIRS = _texts("h.coarse m.coarse l.pos | m.pos r.word")
_LABEL_CLUSTERS = _texts("h.bits6 m.bits6 | h.pos m.bits | h.bits m.pos | m.bits | h.bits")
_LABEL_FEATS = _texts(
    """
    m.feats | m.pos m.feats | h.pos m.feats | h.feats m.feats | h.word m.form | h.coarse h.form m.coarse m.form
    m.word m.form
    """
)
_LABEL_FEATS_PAIRS = _texts(
    """
    h.coarse s.form m.form | g.form h.form m.form | m.form l.word | m.form l.form r.form
    """
)
_PUNCTUATION = _texts(
    """
    tops climb | m.word tops climb | m.word m+1.coarse tops climb | m.word tops climb pair | m.word climb pair
    h.coarse m.word tops climb | h.coarse g.coarse m.word tops climb | h.pos g.pos tops climb
    h.pos g.pos m.word tops climb | h.pos m-1.pos m.word climb | h.pos m.word m+1.pos climb | h.word m.word climb
    """
)
# Types of these grow with the tags between; the distance is known by their number already.
_WITHOUT_DISTANCE = frozenset({"b.pos h.pos m.pos", "b.coarse h.coarse m.coarse"})
_RENAMED = {"marks": "punctuation", "joins": "conjunctions"}  # atoms in files of earlier versions


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
        """Return the usual templates of an order, with or without clusters, morphology and a wide context."""
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
    def for_punctuation(cls) -> TemplateSet:
        """Return the templates for the heads of punctuation."""
        return cls((), _PUNCTUATION)

    STATE = Record(stored(arcs=ListOf(Text()), pairs=ListOf(Text())))

    def state(self) -> dict[str, list[str]]:
        """Return what a model file needs."""
        return {"arcs": list(self.arcs), "pairs": list(self.pairs)}

    @classmethod
    def from_state(cls, state: Mapping[str, Sequence[str]]) -> TemplateSet:
        """Return the templates of a model file."""
        arcs, pairs = (tuple(map(_current, state[name])) for name in ("arcs", "pairs"))
        for atom in chain.from_iterable(text.split() for text in (*arcs, *pairs)):
            place, _, attribute = atom.partition(".")
            if atom not in _WHOLE and (place not in _PLACES or attribute not in ATTRIBUTES):
                raise DataError(
                    f"DependencyParser: the stored template {atom[:60]!r} is damaged. Train the parser again."
                )
        if not all(text.split() for text in (*arcs, *pairs)):
            raise DataError("DependencyParser: a stored template is damaged. Train the parser again.")
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
        """Templates of pairs that ignore the head."""
        return tuple(t for t in self.pairs if all((a[0] in "sm" and "." in a) or a == "reach" for a in t.split()))

    @property
    def headed(self) -> tuple[str, ...]:
        """Templates of pairs that include the head."""
        return tuple(t for t in self.pairs if t not in self.near)

    def compile(self, n_codes: Mapping[str, int]) -> Spec:
        """Turn the templates into arrays.

        Parameters
        ----------
        n_codes : mapping of str to int
            Number of codes of each attribute.

        Returns
        -------
        tuple of three Templates
            Those of arcs, of pairs with the head, and of pairs without it; for `handful.kernels.tree_features`.
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
    """Return the bits that hold some number of codes.

    Examples
    --------
    >>> bits_of(5), bits_of(8), bits_of(9)
    (3, 3, 4)
    """
    return max(n_codes - 1, 1).bit_length()


def word_bits(texts: Sequence[str], n_codes: Mapping[str, int], name: str) -> int:
    """Return the most bits that the codes of one attribute may have so that every template fits into its key.

    Parameters
    ----------
    texts : sequence of str
        All templates.
    n_codes : mapping of str to int
        Number of codes of each other attribute.
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
    """Return a key as readable text.

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
                    raise DataError(
                        f"DependencyParser: a stored feature names no {name} of training. Train the parser again."
                    )
                shown.append(f"{atom}={values[name][code] if name else code}")
                core >>= width
            return " ".join(reversed(shown)) + end
    raise DataError("DependencyParser: a stored feature has no template. Train the parser again.")


def _current(text: str) -> str:
    """Return a template of a file with the present names of atoms."""
    return " ".join(_RENAMED.get(atom, atom) for atom in text.split(" "))
