"""The one list of methods: which module registers the card of which name.

A new method joins by adding its line. The list holds names of modules alone, so that naming one method imports one
module, and rooms below can ask for methods of their own kind.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from importlib import import_module

from handful.core.errors import ParameterError
from handful.core.registry import Card, Takes, card_named

_NEAR = 0.7  # how alike a name must be to one that may have been meant
_BEGINS_NEAR = 0.8  # and to the first word of one

CATALOGUE: dict[Takes, dict[str, str]] = {
    "table": {
        "k-nn": "handful.methods.plain.k_nn",
        "logistic-regression": "handful.methods.plain.logistic_regression",
        "self-training": "handful.methods.plain.self_training",
        "label-propagation": "handful.methods.label_graphs",
        "label-spreading": "handful.methods.label_graphs",
        "extra-trees": "handful.methods.plain.trees",
        "random-forest": "handful.methods.plain.trees",
        "shrunk-lda": "handful.methods.plain.shrunk_lda",
        "svm-rbf": "handful.methods.margins",
        "linear-svm": "handful.methods.margins",
        "nearest-centroid": "handful.methods.margins",
        "complement-nb": "handful.methods.margins",
        "kernel-ridge": "handful.methods.kernel_ridge",
        "shrunk-bayes": "handful.methods.shrunk_bayes",
        "team": "handful.methods.team",
        "text-team": "handful.methods.text_team",
        "condensed-nn": "handful.neighbors.condensed",
        "semi-supervised-condensed-nn": "handful.neighbors.semi_supervised_condensed",
        "ordinal-knn": "handful.neighbors.ordinal",
        "kernel-pca": "handful.neighbors.kernel_pca",
        "composite-kernel-pca": "handful.neighbors.composite_kernel_pca",
        "tri-training": "handful.neighbors.tri_training",
        "condensed-feature-classifier": "handful.representations.condensed.classifier",
    },
    "sentences": {
        "frequent-tag": "handful.tagging.frequent",
        "crf": "handful.tagging.crf",
        "crf+clusters": "handful.tagging.recipes",
        "crf+condensed-features": "handful.tagging.recipes",
        "prototypes": "handful.tagging.prototypes",
        "prototype-team": "handful.tagging.prototypes",
        "crf+stacked-condensed-nn": "handful.tagging.recipes",
        "stacked-tagger": "handful.tagging.stacked",
        "two-pass-tagger": "handful.tagging.two_pass",
    },
    "trees": {"dependency-parser": "handful.parsing.dependency"},
    "text": {
        "brown-clusters": "handful.representations.brown",
        "context-similarity": "handful.representations.similarity",
    },
    "occurrences": {
        "most-frequent": "handful.senses.models.most_frequent",
        "naive-bayes": "handful.senses.models.naive_bayes",
        "maximum-entropy": "handful.senses.models.maximum_entropy",
        "linear-svm": "handful.senses.models.linear_svm",
        "kernel-pca": "handful.senses.models.kernel_pca",
        "semi-supervised-kernel-pca": "handful.senses.models.kernel_pca",
        "composite-kernel-pca": "handful.senses.models.kernel_pca",
    },
    "model": {
        "condensed-features": "handful.representations.condensed",
        "senses": "handful.senses.classifier",
        "table-model": "handful.methods.table_model",
        "with-shares": "handful.methods.classifiers",
        "hashed-table": "handful.features.hashed_table",
    },
}

AROUND = {"self-training": "handful.methods.classifiers", "tri-training": "handful.methods.classifiers"}
"""Methods for tables that can go around another one, as in ``tri-training(extra-trees)``."""


def names(takes: Takes | None = None) -> list[str]:
    """Return the names of all methods, or of those for one kind of data, without importing any.

    Examples
    --------
    >>> names("trees")
    ['dependency-parser']
    """
    kinds = CATALOGUE if takes is None else [takes]
    return [name for kind in kinds for name in CATALOGUE[kind]]


def get_card(name: str, takes: Takes | None = None) -> Card:
    """Return the card of a method, or say which one may have been meant.

    Parameters
    ----------
    name : str
        Name of a method; for tables also ``self-training(NAME)`` and ``tri-training(NAME)``, around another one.
    takes : str, optional
        Kind of data that the method is for.

    Returns
    -------
    Card
        Its card.

    Examples
    --------
    >>> get_card("k-nn").make(2, params={"n_neighbors": 3}).n_neighbors
    3
    """
    for kind in CATALOGUE if takes is None else [takes]:
        if name in CATALOGUE[kind]:
            import_module(CATALOGUE[kind][name])
            card = card_named(name, kind)
            if card is not None:
                return card
    outer, parenthesis, inner = name.partition("(")
    if outer in AROUND and parenthesis and inner.endswith(")") and takes in (None, "table"):
        around: Card = import_module(AROUND[outer]).around_card(outer, get_card(inner[:-1], "table"))
        return around
    raise _unknown(name, takes)


def _unknown(name: str, takes: Takes | None) -> ParameterError:
    near = difflib.get_close_matches(name, names(takes), n=1, cutoff=_NEAR)
    begun = [known for known in dict.fromkeys(names(takes)) if name and known.startswith(name.lower())]
    if not near and not begun:
        firsts = difflib.get_close_matches(
            name.lower(), {known.partition("-")[0] for known in names(takes)}, 1, _BEGINS_NEAR
        )
        begun = [known for known in dict.fromkeys(names(takes)) if known.partition("-")[0] in firsts]
    meant = " or ".join(map(repr, begun[:3] or near))
    hint = f" Did you mean {meant}?" if meant else " Run 'handful methods' to see all."
    kinds = {"table": " for tables", "sentences": " for sentences", "occurrences": " for word senses"}
    return ParameterError(f"methods: there is no method{kinds.get(takes or '', '')} named {name!r}.{hint}")


def cards(takes: Takes | None = None) -> Iterator[Card]:
    """Yield the cards of all methods, or of those for one kind of data, in the order of the catalogue."""
    for kind in CATALOGUE if takes is None else [takes]:
        for name in CATALOGUE[kind]:
            yield get_card(name, kind)


def find_class(name: str) -> type | None:
    """Return the class of a method of the catalogue, or None for any other name.

    Examples
    --------
    >>> find_class("os") is None
    True
    """
    for kind, modules in CATALOGUE.items():
        if name in modules:
            cls = get_card(name, kind).cls
            if cls is not None:
                return cls
    return None
