"""Why a model gave an answer, in one form for all models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WHOLE = " (whole text)"
"""How evidence ends that tells of a text, not of one of its words."""


@dataclass(frozen=True)
class Evidence:
    """One thing that speaks for an answer, or against it.

    Parameters
    ----------
    what : str
        A cell, a word, or an observation.
    weight : float
        How much it speaks for the answer; below 0 against it.
    """

    what: str
    weight: float


@dataclass(frozen=True)
class NearRow:
    """A training row that decided, or took part in deciding.

    Parameters
    ----------
    row : int or None
        Its number in the table of the fit, if the model kept it.
    label : object
        Its label.
    distance : float
        How far it is.
    cells : mapping of str to value
        What it holds, as far as the model kept it.
    lineage : tuple of int
        Rows that its label was passed on from, up to one whose label was given; empty for a given label.
    """

    row: int | None
    label: Any
    distance: float
    cells: Mapping[str, Any]
    lineage: tuple[int, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """Why a row, or a token, got its label.

    Parameters
    ----------
    label : object
        The answer.
    confidence : float or None
        How sure the model is.
    runner_up : object
        The second best answer; None where the model tells none.
    evidence : tuple of Evidence
        What speaks for the answer rather than the runner-up, the strongest first.
    how : str
        What the weights of the evidence mean.
    near : tuple of NearRow
        Deciding rows, of models that vote by nearness.
    subject : str
        What was asked about: a token of a sentence; empty for a row.
    links : tuple of str
        Prototypes that the token is linked to.
    prototype_of : tuple of str
        Labels that the token is itself a prototype of.

    Examples
    --------
    >>> Explanation("a", 0.9, "b", (Evidence("size = 3", 0.4),), "change of probability").evidence[0].what
    'size = 3'
    """

    label: Any
    confidence: float | None
    runner_up: Any
    evidence: tuple[Evidence, ...]
    how: str
    near: tuple[NearRow, ...] = ()
    subject: str = ""
    links: tuple[str, ...] = field(default=())
    prototype_of: tuple[str, ...] = ()
