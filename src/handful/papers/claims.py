"""What a paper claims, what we measured, and the verdict.

Each paper has a folder with ``paper.toml`` (its claims, with the printed numbers, written by hand and never edited to
fit), ``measured.json`` (our pinned numbers, written by ``handful paper KEY --pin``), ``plans.py`` (a function ``run`` that
measures) and a ``README.md`` made from the three.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, TypeVar

from handful.compute.checkpoint import Checkpoint
from handful.core.errors import ParameterError
from handful.core.packed_arrays import pack_arrays
from handful.core.progress import Progress
from handful.core.version import __version__

Numbers = TypeVar("Numbers")

# Papers whose experiments can be run.
KEYS = ("liu2013", "su2004", "sogaard2011", "haghighi2006", "suzuki2011")

State = Literal["reproduced", "close", "not reproduced", "not run"]


@dataclass(frozen=True)
class Claim:
    """One printed number, or one printed statement that a number decides.

    Parameters
    ----------
    id : str
        Short name, unique within its paper.
    says : str
        The claim in words.
    metric : str
        What the number is, such as ``"accuracy %"``.
    paper : float
        The printed number, or the bound that the statement sets.
    tolerance : float
        Farthest distance that still counts as reproduced.
    close : float
        Farthest distance that still counts as close.
    rule : {"equal", "at least"}
        Whether our number must agree with `paper` or only reach it.
    because : str
        Why ours differs, where it does.
    """

    id: str
    says: str
    metric: str
    paper: float
    tolerance: float
    close: float
    rule: Literal["equal", "at least"] = "equal"
    because: str = ""

    def judge(self, ours: float | None) -> State:
        """Give the verdict on our number; None is "not run"."""
        if ours is None:
            return "not run"
        distance = self.paper - ours if self.rule == "at least" else abs(self.paper - ours)
        if distance <= self.tolerance + 1e-9:
            return "reproduced"
        return "close" if distance <= self.close + 1e-9 else "not reproduced"


@dataclass(frozen=True)
class Settings:
    """How to run a paper's experiments; `checkpoint` is a folder for the numbers of those that are done."""

    quick: bool = False
    seeds: int | None = None
    n_jobs: int | None = None
    figures: Path | None = None
    progress: Progress | None = None
    checkpoint: Path | None = None

    def kept(self, name: str, experiment: Callable[[], Numbers]) -> Numbers:
        """Run an experiment, or take its numbers from the checkpoint if an earlier run came to its end.

        Parameters
        ----------
        name : str
            Of the experiment, with its paper.
        experiment : callable
            Gives what JSON can hold.

        Returns
        -------
        numbers
            What the experiment gave; found again only under the same settings and version of handful.

        Examples
        --------
        >>> import tempfile
        >>> settings = Settings(checkpoint=Path(tempfile.mkdtemp()))
        >>> settings.kept("a sum", lambda: {"sum": 1 + 1}), settings.kept("a sum", lambda: {"sum": 0})
        ({'sum': 2}, {'sum': 2})
        """
        if self.checkpoint is None:
            return experiment()
        done = Checkpoint(self.checkpoint, f"paper {__version__} {self.quick} {self.seeds} {self.figures}")
        key = done.key(name)
        kept = done.load(key)
        if kept is None:
            kept = {"numbers": json.dumps(experiment(), default=float)}  # numpy's integers are no JSON
            done.save(key, pack_arrays(kept))
        numbers: Numbers = json.loads(kept["numbers"])  # a first run has them from there too: the same to the bit
        return numbers


@dataclass(frozen=True)
class Findings:
    """What a run measured: numbers by claim, and the reason where there is none.

    Parameters
    ----------
    values : mapping of str to float
        Numbers by claim.
    not_run : mapping of str to str
        Reasons by claim that has no number.
    because : mapping of str to str
        Why numbers differ from print, by claim, where the run used other data than the pinned one; it takes the place of the
        sentence in ``paper.toml``.
    """

    values: Mapping[str, float]
    not_run: Mapping[str, str] = field(default_factory=dict)
    because: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """A claim with our number and the verdict."""

    claim: Claim
    ours: float | None
    because: str

    @property
    def state(self) -> State:
        """The verdict."""
        return self.claim.judge(self.ours)

    def as_dict(self) -> dict[str, Any]:
        """Return the row that ``handful paper --json`` prints."""
        return {
            "id": self.claim.id,
            "says": self.claim.says,
            "metric": self.claim.metric,
            "paper": self.claim.paper,
            "ours": self.ours,
            "state": self.state,
            "because": self.because,
        }


@dataclass(frozen=True)
class Paper:
    """A paper: who, what, and its claims."""

    key: str
    title: str
    authors: str
    year: int
    notes: str
    claims: tuple[Claim, ...]
    measured: Mapping[str, float]


def load_paper(key: str) -> Paper:
    """Read a paper's claims and our pinned numbers.

    Parameters
    ----------
    key : str
        Such as ``"liu2013"``.

    Returns
    -------
    Paper
        Its claims.

    Examples
    --------
    >>> load_paper("liu2013").year
    2013
    """
    if key not in KEYS:
        near = difflib.get_close_matches(key, KEYS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else f" The papers are: {', '.join(KEYS)}."
        raise ParameterError(f"paper: there is no paper {key!r}.{hint}")
    folder = paper_folder(key)
    text = tomllib.loads((folder / "paper.toml").read_text(encoding="utf-8"))
    pinned = folder / "measured.json"
    measured = json.loads(pinned.read_text(encoding="utf-8")) if pinned.is_file() else {}
    claims = tuple(Claim(**claim) for claim in text.pop("claim"))
    return Paper(claims=claims, measured=measured, **text)


def paper_folder(key: str) -> Traversable:
    """Return the folder of a paper inside the package."""
    return resources.files("handful.papers") / key


def run_paper(key: str, settings: Settings) -> list[Outcome]:
    """Run a paper's experiments and judge every claim.

    Parameters
    ----------
    key : str
        The paper.
    settings : Settings
        How to run them.

    Returns
    -------
    list of Outcome
        One for each claim, in the order of ``paper.toml``.
    """
    paper = load_paper(key)
    findings: Findings = import_module(f"handful.papers.{key}.plans").run(settings)
    outcomes = []
    for claim in paper.claims:
        ours = findings.values.get(claim.id)
        if ours is None:
            because = findings.not_run.get(claim.id, "not part of this run")
        else:
            because = findings.because.get(claim.id, claim.because)
        if settings.quick:
            because = f"quick run, reduced: {because}" if because else "quick run, reduced"
        outcomes.append(Outcome(claim, ours, because))
    return outcomes
