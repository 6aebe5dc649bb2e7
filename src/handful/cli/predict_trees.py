"""Trees for tagged sentences, some hundred at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
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


def read_tagged_trees(path: Path, columns: Sequence[str]) -> Iterator[Tree]:
    """Read sentences to be parsed: CoNLL-U as it stands, or columns: word and tag, or word, upos and xpos.

    Parameters
    ----------
    path : Path
        The file.
    columns : sequence of str
        Columns of tags that the parser reads.

    Yields
    ------
    Tree
        Without heads if the file has none.
    """
    from handful.core.errors import ParameterError
    from handful.core.records import Sentence, Tree
    from handful.corpora.formats import detect, read_conll, read_conllu

    kind = detect(path)
    if kind == "conllu":
        yield from read_conllu(path)
        return
    # A single sentence without a blank line after it looks like a table between tabs.
    names = _columns_of(path, ("\t", None)) if kind == "conll" else _columns_of(path, ("\t",))
    if kind not in ("conll", "table") or not names:
        raise ParameterError(
            f"{path}: tagged sentences are needed (CoNLL-U, or a word and its tag, or word, upos and xpos, on each line), "
            f"got a {kind}. "
            "Tag them first, with a model of 'handful fit tagger'."
        )
    for sentence in read_conll(path, names):
        n = len(sentence)
        record = sentence
        if "pos" in names and len(columns) == 1:
            # Into the column of CoNLL-U that the parser knows them from, so that they are written as well.
            tags = sentence["pos"]
            name = "xpos" if columns[0] == "pos" else columns[0]
            record = Sentence(sentence.tokens, {"pos": tags, name: tags}, sentence.comments)
        yield Tree(record, (-1,) * n, ("_",) * n)


def _columns_of(path: Path, separators: Sequence[str | None]) -> tuple[str, ...]:
    """Return the names of two or three columns, or nothing."""
    from handful.corpora.opening import read_lines

    first = next((line for _, line in read_lines(path) if line.strip() and not line.startswith("-DOCSTART-")), "")
    widths = [len(first.split(separator)) for separator in separators]
    return {2: ("token", "pos"), 3: ("token", "upos", "xpos")}.get(next((n for n in widths if n > 1), 0), ())
