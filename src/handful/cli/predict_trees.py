"""Trees for tagged sentences, some hundred at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from handful.cli.console import console

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
    from handful.corpora.treebank import read_tagged_trees
    from handful.parsing import score_trees

    given: list[Tree] = []
    found: list[Tree] = []
    counts = [0, 0]
    known, tags = set(model.values_["pos"].tolist()), set[str]()

    def parsed() -> Iterator[Tree]:
        trees = read_tagged_trees(data, model.columns_)
        while batch := list(islice(trees, _BATCH)):
            for before, after in zip(batch, model.parse(batch), strict=True):
                counts[0] += 1
                counts[1] += len(after)
                tags.update(after.sentence[model.columns_[0]] if len(after) else ())
                if -1 not in before.heads:
                    given.append(before)
                    found.append(after)
                yield after

    if output is None:
        with TemporaryDirectory() as folder:
            whole = Path(folder) / "parsed.conllu"
            write_conllu(whole, parsed())
            with whole.open(encoding="utf-8") as file:
                copyfileobj(file, sys.stdout)
    else:
        write_conllu(output, parsed())
    where = f" in {output}" if output is not None else ""
    note = f"{counts[1]:,} words of {counts[0]:,} sentences parsed{where}."
    if given and len(given) == counts[0]:
        scores = score_trees(given, [t.heads for t in found], [t.labels for t in found]).as_dict()
        note += " Against the heads of the file: " + ", ".join(f"{k} {v:.2%}" for k, v in scores.items()) + "."
    if tags and tags.isdisjoint(known):
        note += (
            f" None of its tags was seen in training: the file has {', '.join(sorted(tags)[:3])}, training had "
            f"{', '.join(sorted(known)[:3])}. The trees are guesses; give the same kind of tags."
        )
    console(stderr=True).print(note, style="dim", soft_wrap=True, markup=False)
