"""Trees for tagged sentences, some hundred at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from handful.cli.console import answers_to, say

if TYPE_CHECKING:
    from handful.core.records import Tree

_BATCH = 500


def predict_trees(model: Any, data: Path, output: Path | None) -> None:
    """Write sentences with heads and labels as CoNLL-U; where the file has all heads, tell how many are right.

    Parameters
    ----------
    model : DependencyParser
        The model.
    data : Path
        CoNLL-U, or columns: word and tag, or word, upos and xpos.
    output : Path or None
        Where to; None is stdout.
    """
    from handful.corpora.formats import write_conllu

    tally = _Tally()
    if output is not None:
        write_conllu(output, _parsed(model, data, tally))
    else:
        with TemporaryDirectory() as folder:
            whole = Path(folder) / "parsed.conllu"
            write_conllu(whole, _parsed(model, data, tally))
            with whole.open(encoding="utf-8") as trees, answers_to(None) as file:
                copyfileobj(trees, file)
    where = f" in {output}" if output is not None else ""
    note = f"{tally.n_words:,} words of {tally.n_sentences:,} sentences parsed{where}."
    say(note + _scores(tally) + _unseen(tally, set(model.values_["pos"].tolist())), stderr=True)


@dataclass
class _Tally:
    """What went through: how much of it, which tags, and the trees that can be scored."""

    n_sentences: int = 0
    n_words: int = 0
    tags: set[str] = field(default_factory=set)
    gold: list[Tree] = field(default_factory=list)
    answered: list[Tree] = field(default_factory=list)


def _parsed(model: Any, data: Path, tally: _Tally) -> Iterator[Tree]:
    from handful.corpora.treebank import read_tagged_trees

    trees = read_tagged_trees(data, model.columns_)
    while batch := list(islice(trees, _BATCH)):
        for before, after in zip(batch, model.parse(batch), strict=True):
            tally.n_sentences += 1
            tally.n_words += len(after)
            tally.tags.update(after.sentence[model.columns_[0]] if len(after) else ())
            if -1 not in before.heads:
                tally.gold.append(before)
                tally.answered.append(after)
            yield after


def _scores(tally: _Tally) -> str:
    """Tell how many heads are right, if the file has them all."""
    from handful.parsing import score_trees

    if not tally.gold or len(tally.gold) < tally.n_sentences:
        return ""
    scores = score_trees(tally.gold, [t.heads for t in tally.answered], [t.labels for t in tally.answered]).as_dict()
    return f" Against the heads of the file: {', '.join(f'{name} {share:.2%}' for name, share in scores.items())}."


def _unseen(tally: _Tally, known: set[str]) -> str:
    """Tell that the tags are of another kind than those of the training trees."""
    if not tally.tags or not tally.tags.isdisjoint(known):
        return ""
    return (
        f" None of its tags was seen in training: the file has {', '.join(sorted(tally.tags)[:3])}, training had "
        f"{', '.join(sorted(known)[:3])}. The trees are guesses; give the same kind of tags."
    )
