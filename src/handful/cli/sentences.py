"""Taggers from files, where text is cut, and word models fitted to text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful.cli.console import say
from handful.core.errors import ModelFileError

if TYPE_CHECKING:
    from handful.core.progress import Progress
    from handful.corpora.opening import Source
    from handful.corpora.token_style import Cut, TokenStyle


def load_tagger(path: Path) -> Any:
    """Load a model that tags sentences.

    Parameters
    ----------
    path : Path
        A file of 'handful fit tagger' or 'handful fit prototypes'.

    Returns
    -------
    tagger
        The model.
    """
    from handful.core.registry import card_of
    from handful.methods import load

    model = load(path)
    card = card_of(type(model))
    if card is None or card.takes != "sentences":
        raise ModelFileError(f"{path}: must be a tagger, got {card.name if card else 'a table model'}.")
    return model


def cut_of(source: Source, given: Cut | None, trained: TokenStyle | None) -> Cut | None:
    """Return where raw text is cut, and tell if the training tokens say other than its own look.

    Parameters
    ----------
    source : Source
        The text.
    given : {"blanks", "words"} or None
        What --tokens says.
    trained : TokenStyle or None
        Of the training tokens, if they are known.

    Returns
    -------
    {"blanks", "words"} or None
        None where the look of the text tells.
    """
    from handful.corpora.raw_text import tokenize
    from handful.corpora.token_style import cut_as_trained, cuts_more, first_cut_apart

    cut = given or cut_as_trained(source, trained)
    if cut != given:
        say(
            f"{source}: is cut at blanks alone, as the training tokens are (--tokens words cuts marks off).",
            stderr=True,
        )
    elif cut is None and trained is not None and cuts_more(source, trained):
        say(
            f"{source}: is cut into words and marks, as it looks, but {trained.cut_again:.0%} of the training tokens would be "
            "cut so too, and are whole there (--tokens blanks cuts at blanks alone).",
            stderr=True,
        )
    elif cut is None and (token := first_cut_apart(source, trained)) is not None:
        pieces = " ".join(piece.text for piece in tokenize(token))
        say(
            f'{source}: tokens such as "{token}" are cut ({pieces}), though the training data have such whole. Write the text '
            "with blanks between all tokens, and add --tokens blanks.",
            stderr=True,
        )
    return cut


def fit_text(
    model: Any, path: Path, progress: Progress, *, engine: str | None = None, checkpoint: Path | None = None
) -> None:
    """Fit word clusters or similarity to a file: plain text in parts that workers read, else in one stream.

    Parameters
    ----------
    model : BrownClusters or ContextSimilarity
        The model.
    path : Path
        The text.
    progress : callable
        Told how far it is.
    engine, checkpoint
        See `handful.compute.map_reduce`.
    """
    from handful.corpora.formats import format_of
    from handful.corpora.opening import Source
    from handful.corpora.sentences import read_sentences
    from handful.representations import text_parts

    source = Source(path)
    if format_of(source).name == "text" and not source.is_packed and not source.is_stream:
        model.fit_parts(text_parts(path), engine=engine, checkpoint=checkpoint, progress=progress)
    else:
        model.fit(read_sentences(source), engine=engine, checkpoint=checkpoint, progress=progress)
