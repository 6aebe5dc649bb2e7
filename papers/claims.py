"""Claims of the papers, rerun and compared with the printed values."""

from __future__ import annotations

import difflib
import json
import re
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, TypeVar

from handful.data.files import atomic_writer
from handful.errors import FormatError, ParameterError, Progress
from handful.parallel import Checkpoint
from handful.persistence.arrays import pack_arrays
from handful.version import __version__
from papers.corpora import data_folder
from papers.stand_ins import allow_stand_ins

T = TypeVar("T")
_LINE = re.compile(r"wsj_(\d\d)\d\d\S*\s+(\d+)")


def cut_sections(corpus: str, sentences: Sequence[T], wanted: range) -> list[T] | None:
    r"""Return the sentences of some sections, where a list next to the corpus names their files.

    Parameters
    ----------
    corpus : str
        Its name. The list is ``<corpus>.files.txt`` in the data folder: a line for each file of the treebank, in the order of
        the corpus, with its name and its number of sentences, such as ``wsj_1900 12``.
    sentences : sequence
        All sentences of the corpus.
    wanted : range
        The sections.

    Returns
    -------
    list or None
        None where there is no list.

    Raises
    ------
    FormatError
        If a line is not of this form, or the numbers do not add up to those of the corpus.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from unittest.mock import patch
    >>> with tempfile.TemporaryDirectory() as folder, patch.dict("os.environ", HANDFUL_DATA=folder):
    ...     _ = (pathlib.Path(folder) / "mine.files.txt").write_text("wsj_1900 2\nwsj_2000 1\n")
    ...     cut_sections("mine", ["a", "b", "c"], range(19, 20))
    ['a', 'b']
    """
    path = data_folder() / f"{corpus}.files.txt"
    if not path.exists():
        return None
    section_of: list[int] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise FormatError(path, number, f"must be a file and its sentences, such as 'wsj_1900 12', got {line!r}.")
        section_of += [int(match[1])] * int(match[2])
    if len(section_of) != len(sentences):
        raise FormatError(
            path, None, f"must list the {len(sentences):,} sentences of {corpus}, got {len(section_of):,}."
        )
    return [sentence for sentence, section in zip(sentences, section_of, strict=True) if section in wanted]


def save_picture(figure: Any, path: Path, **options: Any) -> Path:
    """Write a picture, the same bytes for the same picture, and forget it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    path : Path
        File to write, whose ending says the format. An old one stays whole until the new one is, and links are not followed.
    **options
        For `savefig`.

    Returns
    -------
    Path
        The file.
    """
    import matplotlib.pyplot as plt

    with atomic_writer(path) as file, plt.rc_context({"svg.hashsalt": "handful"}):
        figure.savefig(file, format=path.suffix[1:], metadata={"Date": None}, **options)
    plt.close(figure)
    return path


def save_animation(figure: Any, animation: Any, path: Path, frames_per_second: int) -> Path:
    """Write moving pictures as a GIF, as safely as `save_picture`, and forget them.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Where they are drawn.
    animation : matplotlib.animation.Animation
        The pictures.
    path : Path
        File to write.
    frames_per_second : int
        How many pictures are shown in a second.

    Returns
    -------
    Path
        The file.
    """
    import matplotlib.pyplot as plt
    from matplotlib.animation import PillowWriter

    with tempfile.TemporaryDirectory() as folder:  # matplotlib writes animations to names, not to open files
        whole = Path(folder) / path.name
        animation.save(whole, writer=PillowWriter(fps=frames_per_second))
        plt.close(figure)
        with atomic_writer(path) as file:
            file.write(whole.read_bytes())
    return path


Numbers = TypeVar("Numbers")

# Papers whose experiments can be run.
KEYS = ("liu2013", "su2004", "sogaard2011", "haghighi2006", "suzuki2011")

State = Literal["reproduced", "close", "not reproduced", "stand-in", "not run"]


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
    is_stand_in: bool = False

    @property
    def state(self) -> State:
        """The verdict; numbers of generated data are not judged."""
        return "stand-in" if self.is_stand_in else self.claim.judge(self.ours)

    def as_dict(self) -> dict[str, Any]:
        """Return the row that ``python -m papers KEY --json`` prints."""
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
    return Path(__file__).parent / key


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
    plans = import_module(f"papers.{key}.plans")
    with allow_stand_ins() if settings.quick else nullcontext(set()) as used:
        findings: Findings = plans.run(settings)
    corpora_of: Callable[[str], set[str]] = getattr(plans, "corpora_of", lambda _: used)
    outcomes = []
    for claim in paper.claims:
        ours = findings.values.get(claim.id)
        if ours is None:
            because = findings.not_run.get(claim.id, "not part of this run")
        else:
            because = findings.because.get(claim.id, claim.because)
        if settings.quick:
            because = f"quick run, reduced: {because}" if because else "quick run, reduced"
        made = ours is not None and bool(used & corpora_of(claim.id))
        if made:
            because = "generated data instead of " + ", ".join(sorted(used & corpora_of(claim.id)))
        outcomes.append(Outcome(claim, ours, because, made))
    return outcomes


def render_readme(paper: Paper, because: Mapping[str, str] | None = None) -> str:
    """Return the README as Markdown.

    Parameters
    ----------
    paper : Paper
        Claims and pinned numbers.
    because : mapping of str to str, optional
        Why numbers differ from print, by claim, where it is not what ``paper.toml`` says.

    Returns
    -------
    str
        Title, notes and the table of claims.
    """
    outcomes = [
        Outcome(claim, paper.measured.get(claim.id), (because or {}).get(claim.id, claim.because))
        for claim in paper.claims
    ]
    lines = [
        f"# {paper.title}",
        "",
        f"{paper.authors}, {paper.year}. Rerun with `python -m papers {paper.key}`; this page is made from `paper.toml` and",
        f"`measured.json` by `python -m papers {paper.key} --pin`.",
        "",
        paper.notes.strip(),
        "",
        "| claim | metric | paper | ours | state | because |",
        "|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        claim = outcome.claim
        bound = ">= " if claim.rule == "at least" else ""
        ours = "-" if outcome.ours is None else f"{outcome.ours:.4g}"
        cells = (claim.says, claim.metric, f"{bound}{claim.paper:.4g}", ours, outcome.state, outcome.because)
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
