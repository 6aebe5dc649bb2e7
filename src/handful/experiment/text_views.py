"""As what texts come to the methods of a comparison: words, directions, or vectors of an encoder."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handful.core.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from handful.experiment.problem import Problem
    from handful.features.vectors import Encoder

WITH_VECTORS = "@vectors"
"""Ending of the names of contenders that see vectors, where others do not."""

ON_VECTORS = ("team", "logistic-regression", "linear-svm", "k-nn", "self-training")
"""Methods that are tried with vectors and without, where an encoder is at hand."""

_PILOT_TEXTS = 32
_SHARE_OF_TIME = 0.5  # that encoding may take, unless vectors were asked for


@dataclass(frozen=True)
class TextView:
    """How text columns are read.

    Parameters
    ----------
    text : {"words", "lsa"} or Encoder
        What `handful.features.tables.TableEncoder.learn` is told.
    optional : bool
        Whether vectors are tried beside methods without them.
    note : str
        What people should know about it.
    """

    text: Any = "lsa"
    optional: bool = False
    note: str = ""

    @property
    def encoder(self) -> Encoder | None:
        """The encoder, if there is one."""
        return None if isinstance(self.text, str) else self.text

    def of(self, method: str) -> Any:
        """Return what a contender sees of texts."""
        return self.text if method.endswith(WITH_VECTORS) or not self.optional else "lsa"


def base_name(method: str) -> str:
    """Return the name of a contender's method.

    Examples
    --------
    >>> base_name("team@vectors"), base_name("team")
    ('team', 'team')
    """
    return method.removesuffix(WITH_VECTORS)


def choose_view(problem: Problem, text: Any = "auto", *, seconds: float | None = None) -> TextView:
    """Say how the texts of a table are read.

    Parameters
    ----------
    problem : Problem
        The table.
    text : {"auto", "words", "lsa", "vectors"}, path, name or encoder
        What was asked for. ``"auto"`` reads words and letters, and tries vectors beside them where an encoder is at hand;
        ``"vectors"`` takes that encoder for all methods, and a folder, a name or an object with ``encode`` another one.
    seconds : float, optional
        Time that is left. An encoder that would take more than half of it is left out, unless it was asked for.

    Returns
    -------
    TextView
        The way to read them.
    """
    if "text" not in problem.kinds.values():
        if not (isinstance(text, str) and text == "auto"):
            raise ParameterError(f"text: {problem.name} must have a column of texts for this choice, got none.")
        return TextView()
    if isinstance(text, str) and text == "auto":
        return _usual_view(problem, seconds)
    return TextView(text) if isinstance(text, str) and text in ("words", "lsa") else TextView(_asked_for(text))


def _asked_for(text: Any) -> Encoder:
    from handful.features.vectors import find_encoder

    if not isinstance(text, str | os.PathLike) and not hasattr(text, "encode"):
        raise ParameterError(
            f"text: must be 'auto', 'words', 'lsa', 'vectors', a folder, a name of the hub or an object with "
            f"encode(list of str), got {text!r}."
        )
    return find_encoder(None if isinstance(text, str) and text == "vectors" else text)


def _usual_view(problem: Problem, seconds: float | None) -> TextView:
    from handful.features.vectors import encoder_at_hand, find_encoder

    named = encoder_at_hand()
    if named is None:
        return TextView(
            note="Texts are read by their words and letters. Vectors of an encoder often do better: see "
            "'handful vectors --help'."
        )
    try:
        encoder = find_encoder(named)
    except MissingExtraError as error:
        return TextView(note=f"Texts are read by their words and letters, without vectors: {error}")
    needed = _encoding_seconds(problem, encoder)
    if seconds is not None and needed > _SHARE_OF_TIME * seconds:
        return TextView(
            note=f"Texts are read by their words and letters: encoding them by {encoder.name} would take about "
            f"{needed:.0f} of {seconds:.0f} seconds. Give more --minutes, or a faster encoder ('handful vectors distill')."
        )
    return TextView(encoder, optional=True)


def remember_texts(problem: Problem, encoder: Encoder) -> None:
    """Encode all texts of a table, once for all draws and processes."""
    from handful.features.tables import text_cells

    for name, kind in problem.kinds.items():
        if kind == "text":
            encoder.encode(text_cells(problem.frame[name]))


def _encoding_seconds(problem: Problem, encoder: Encoder) -> float:
    """Return a guess of the time that encoding all texts takes."""
    from handful.features.tables import text_cells

    total = 0.0
    for name, kind in problem.kinds.items():
        if kind == "text":
            texts = text_cells(problem.frame[name])
            first, *some = texts[:: max(len(texts) // _PILOT_TEXTS, 1)][: _PILOT_TEXTS + 1]
            encoder.encode([first])  # the first text is slower than those after it
            start = time.perf_counter()
            encoder.encode(some)
            total += (time.perf_counter() - start) * len(texts) / max(len(some), 1)
    return total
