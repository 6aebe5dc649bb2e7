"""Taggers one after another, and a parser behind them: each reads what those before it have found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from handful.data.records import Sentence, Tree
from handful.data.tagged import untied
from handful.errors import ParameterError
from handful.registry import spec_of
from handful.tagging.base import labels_written_as

BLANK = "_"
"""What replaces a tag whose confidence is too low."""


class Answer(NamedTuple):
    """A sentence with what was found.

    Parameters
    ----------
    tree : Tree
        The sentence as it came, with the tags as columns and, behind a parser, the heads. What the column of the last
        tagger held before is in the column ``given``.
    confidence : tuple of float
        How sure the last tagger is of each tag; not a number where it cannot tell, empty without a tagger.
    """

    tree: Tree
    confidence: tuple[float, ...]


class Pipeline:
    """Models that work on a sentence one after another.

    Parameters
    ----------
    models : sequence of models
        Fitted taggers, of which each may read the tags of those before it; the last may be a parser.

    Attributes
    ----------
    taggers : list
        The taggers.
    parser : DependencyParser or None
        The parser.
    columns : list of str
        For each tagger the column that its tags go to: the one that it was trained on (``upos``, ``xpos`` or another name;
        ``tag`` where the training file had none), or, where later models read another one and one only, that one.
    needed : list of str
        Columns that sentences must have, since some model reads them and none fills them.

    Examples
    --------
    >>> from handful.tagging import CRF
    >>> tagger = CRF(strength=0.1).fit([["the", "dog", "barks"]] * 2, [["D", "N", "V"]] * 2)
    >>> pipeline = Pipeline([tagger])
    >>> pipeline.annotate([Sentence(("the", "dog"))])[0].tree.sentence["tag"]
    ('D', 'N')
    """

    def __init__(self, models: Sequence[Any]) -> None:
        kinds = [getattr(spec_of(type(model)), "task", "others") for model in models]
        if not models or set(kinds[:-1]) - {"sentences"} or kinds[-1] not in ("sentences", "trees"):
            raise ParameterError(
                f"Pipeline: taggers are needed, and a parser at most at the end, got models of {', '.join(kinds) or 'nothing'}."
            )
        self.parser = models[-1] if kinds[-1] == "trees" else None
        self.taggers = list(models if self.parser is None else models[:-1])
        reads = [list(getattr(tagger, "columns_", ())[1:]) for tagger in self.taggers]
        reads += [list(self.parser.columns_)] if self.parser is not None else []
        self.columns = _filled_columns(list(map(trained_column, self.taggers)), reads)
        self.needed = _needed_columns(self.columns, reads)

    def annotate(self, sentences: Sequence[Sentence | Tree]) -> list[Answer]:
        """Tag and parse sentences.

        Parameters
        ----------
        sentences : list of Sentence or of Tree
            With the columns `needed`. Comments, extras and, without a parser, the heads of trees are kept.

        Returns
        -------
        list of Answer
            One a sentence.
        """
        trees = [item if isinstance(item, Tree) else untied(item) for item in sentences]
        sure: list[tuple[float, ...]] = [() for _ in trees]
        for tagger, column in zip(self.taggers, self.columns, strict=True):
            records = [tree.sentence for tree in trees]
            if tagger is self.taggers[-1]:
                answers, sure = with_confidence(tagger, records)
            else:
                answers = tagger.predict(records)
            trees = [_with_tags(tree, column, tags) for tree, tags in zip(trees, answers, strict=True)]
        if self.parser is not None:
            trees = self.parser.parse(trees)
        return [Answer(tree, proba) for tree, proba in zip(trees, sure, strict=True)]


def trained_column(tagger: Any) -> str:
    """Return the name of the column that a tagger was trained to fill, ``tag`` if it has none.

    Examples
    --------
    >>> trained_column(object())
    'tag'
    """
    return str(getattr(tagger, "training_", {}).get("tag") or "tag")


def with_confidence(tagger: Any, sentences: Sequence[Sentence]) -> tuple[list[list[str]], list[tuple[float, ...]]]:
    """Tag sentences and tell how sure the tagger is of each tag.

    Parameters
    ----------
    tagger : tagger
        The tagger.
    sentences : list of Sentence
        The sentences.

    Returns
    -------
    tags : list of lists of str
        One tag per token.
    sure : list of tuples of float
        One number per token; not a number where the tagger cannot tell.
    """
    if not hasattr(tagger, "predict_with_proba"):
        answers = tagger.predict(sentences)
        return answers, [(float("nan"),) * len(tags) for tags in answers]
    answers, proba = tagger.predict_with_proba(sentences)
    labels = tagger.classes_.tolist()
    scheme = getattr(tagger, "scheme_", None)
    spoken = {tag: labels_written_as(tag, labels, scheme) for tag in {tag for tags in answers for tag in tags}}
    sure = []
    for tags, rows in zip(answers, proba, strict=True):
        own = [rows[place, spoken[tag]].sum() for place, tag in enumerate(tags)]
        sure.append(tuple(min(float(value), 1.0) for value in own))
    return answers, sure


def _filled_columns(trained: Sequence[str], reads: Sequence[Sequence[str]]) -> list[str]:
    """Return which column the tags of each tagger go to."""
    filled: list[str] = []
    for number, name in enumerate(trained):
        later = {column for names in reads[number + 1 :] for column in names}
        if later and name not in later:
            left = later - set(trained) - set(filled)
            if len(left) != 1:
                raise ParameterError(
                    f"Pipeline: no later model reads the tags {name!r} of tagger {number + 1}; they read "
                    f"{' and '.join(sorted(later))}. Fit a tagger for each of these (--tag), or leave it out."
                )
            name = left.pop()
        if name in filled:
            raise ParameterError(f"Pipeline: two taggers fill the column {name!r}. Leave one out.")
        filled.append(name)
    return filled


def _needed_columns(filled: Sequence[str], reads: Sequence[Sequence[str]]) -> list[str]:
    """Return the columns that sentences must have, since no model before the one that reads them fills them."""
    needed: dict[str, None] = {}
    for number, names in enumerate(reads):
        needed |= dict.fromkeys(name for name in names if name not in filled[:number])
    return list(needed)


def _with_tags(tree: Tree, column: str, tags: Sequence[str]) -> Tree:
    sentence = tree.sentence
    former = {"given": sentence[column]} if column in sentence.columns else {}
    columns = {**sentence.columns, **former, column: tuple(tags)}
    return Tree(Sentence(sentence.tokens, columns, sentence.comments), tree.heads, tree.labels, tree.extras)
