"""Progress of long work: one callback, which the command line turns into a bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Step:
    """One report of progress.

    Parameters
    ----------
    stage : str
        What is being done, such as ``"train"``.
    done : int
        Units finished so far.
    total : int or None
        Units in all, if known.
    figures : mapping of str to float
        Numbers worth showing, such as the objective.

    Examples
    --------
    >>> Step("train", 3, 10, {"objective": 1.5}).done
    3
    """

    stage: str
    done: int
    total: int | None = None
    figures: Mapping[str, float] = field(default_factory=dict)


Progress = Callable[[Step], None]
