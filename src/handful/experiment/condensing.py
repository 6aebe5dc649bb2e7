"""What condensing a model file needs besides the model: its labeled data, scores, tags for raw text, and which way to go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from handful.core.errors import DataError, ParameterError
from handful.core.progress import Progress
from handful.core.registry import name_of
from handful.corpora.opening import FilePath
from handful.corpora.tagged import check_columns, read_tagged
from handful.corpora.treebank import read_treebank
from handful.evaluation.chunks import score_tags
from handful.experiment.tagger_condensing import Condensed, Way, bins_of, condense_tagger
from handful.parsing import DependencyParser
from handful.representations.condensed.condensing import Condensing
from handful.tagging import CRF, TagColumn

HELD_OUT = 3
"""One in so many sentences is held out, where nothing else is said."""


@dataclass(frozen=True)
class LabeledData:
    """The data a model was fitted to.

    Parameters
    ----------
    inputs : list
        Sentences or trees.
    outputs : list of lists of str, or None
        Tags; None for trees.
    score : callable
        From a model to its scores on the development data, or on the labeled data where there is none.
    """

    inputs: list[Any]
    outputs: list[list[str]] | None
    score: Callable[[Any], dict[str, float]]


def read_labeled(model: Any, labeled: FilePath, dev: FilePath | None = None) -> LabeledData:
    """Read the labeled data of a tagger or parser.

    Parameters
    ----------
    model : CRF or DependencyParser
        The model; it says which columns are read.
    labeled : path-like
        The file that it was fitted to.
    dev : path-like, optional
        Data to score on.

    Returns
    -------
    LabeledData
        Inputs, outputs and how to score.
    """
    if isinstance(model, DependencyParser):
        train = read_treebank(labeled, model.columns_)
        held = train if dev is None else read_treebank(dev, model.columns_)
        return LabeledData(train, None, lambda other: dict(other.score(held).as_dict()))
    if not isinstance(model, CRF):
        raise DataError(
            f"condense: the model must be one of 'handful fit tagger' or 'handful fit parser', got {name_of(model)}."
        )
    told: dict[str, Any] = getattr(model, "training_", {})
    layout, tag = tuple(told.get("layout", ())), told.get("tag")
    tagged = read_tagged(labeled, layout, tag)
    test = tagged if dev is None else read_tagged(dev, layout, tag)
    for path, data in ((labeled, tagged), (dev or labeled, test)):
        check_columns(path, data.sentences[0], model.columns_[1:])

    def score(other: Any) -> dict[str, float]:
        return score_tags(test.tags, other.predict(list(test.sentences)), tagged.has_spans)

    return LabeledData(list(tagged.sentences), [list(row) for row in tagged.tags], score)


def tag_columns(model: Any, taggers: Sequence[Any]) -> list[TagColumn]:
    """Return what adds to raw text the columns that a model reads beside the words.

    Parameters
    ----------
    model : CRF or DependencyParser
        The model.
    taggers : sequence of taggers
        One per column. A tagger that was fitted to a column of that name is taken for it, others in their order.

    Returns
    -------
    list of TagColumn
        To be applied one after the other.
    """
    columns = [column for column in model.columns_ if column != "word"]
    named = " and ".join(columns)
    if len(taggers) != len(columns):
        wanted = "is missing: name" if not taggers else "must name" if columns else "is not needed: the model reads"
        what = f"a tagger for each column of tags that the model reads ({named})" if columns else "words alone"
        hint = f" Or fit the parser with --tag {columns[0]}." if len(columns) == 2 else ""
        raise ParameterError(f"--pos {wanted} {what}.{hint}")
    of_column: dict[str, Any] = {}
    for tagger, column in zip(taggers, columns, strict=True):
        told: Any = getattr(tagger, "training_", {}).get("tag")
        of_column[told if told in columns else column] = tagger
    if len(of_column) != len(columns):
        raise ParameterError(f"--pos must name one tagger for {' and one for '.join(columns)}, in this order.")
    return [TagColumn(tagger, column) for column, tagger in of_column.items()]


def choose_way(way: Way | Literal["auto"], held_out: int | None, *, is_tagger: bool) -> tuple[Way | None, int | None]:
    """Settle in which way a model is condensed, and whether inputs are held out for that.

    Parameters
    ----------
    way : {"auto", "bins", "kept", "rounded"}
        What was asked for; see `condense_tagger`.
    held_out : int or None
        One in so many labeled inputs, if that was asked for.
    is_tagger : bool
        Or a parser, which has no tags that could be compared.

    Returns
    -------
    way : {"bins", "kept", "rounded"} or None
        None is still to be chosen, on held-out inputs.
    held_out : int or None
        One in so many, or none.

    Examples
    --------
    >>> choose_way("auto", None, is_tagger=True), choose_way("auto", None, is_tagger=False)
    ((None, 3), ('bins', None))
    >>> choose_way("auto", 5, is_tagger=True)
    ('kept', 5)
    """
    if way == "auto" and (held_out or not is_tagger):
        way = "kept" if held_out else "bins"
    if not is_tagger and (way == "rounded" or (way == "bins" and held_out)):
        why = "is for taggers" if way == "rounded" else "holds no trees out"
        raise ParameterError(f"condense: way={way!r} {why}.")
    if way == "bins" and not held_out:
        return way, None
    return None if way == "auto" else way, held_out or HELD_OUT


def condense(condensing: Condensing, way: Way | None = None, *, progress: Progress | None = None) -> Condensed:
    """Condense a tagger or a parser.

    Parameters
    ----------
    condensing : Condensing
        With raw text counted, and inputs held out unless bins alone are to carry weights.
    way : {"bins", "kept", "rounded"}, optional
        See `condense_tagger`; for a parser bins or kept.
    progress : callable, optional
        Told of trainings.

    Returns
    -------
    Condensed
        The small model, without what only further condensing would need.
    """
    settings = condensing.settings
    if settings.held_out is None or condensing.labeled[1] is None:
        gone: Way = "bins" if settings.held_out is None else "kept"
        result = Condensed(condensing.train(progress=progress), gone, {}, bins_of(condensing.features[0]))
    else:
        drop = None if settings.drop == "auto" else settings.drop
        result = condense_tagger(condensing, way, drop, progress=progress)
    # what was learned of bins is folded into the weights, and would only make the file larger
    for name in ("condensed_weights_", "tied_weights_"):
        result.model.__dict__.pop(name, None)
    return result
