"""Tagged sentences that came back, added to a file of such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from handful.cli.console import COUNTED_FROM, console, emit_json
from handful.cli.options import shell_name
from handful.core.counted import counted
from handful.core.errors import ParameterError

if TYPE_CHECKING:
    from handful.core.records import Sentence, Tree

    # The column of tags, the sentences that are there and that came, and what writes the merged ones.
    _Read = tuple[str, list[Sentence], dict[str, list[Sentence]], Callable[[list[Sentence]], None]]


def add_sentences(data: Path, files: tuple[Path, ...], where: Path, *, prefer_new: bool, as_json: bool) -> None:
    """Write the sentences of all files to one, and tell which were left out.

    Parameters
    ----------
    data : Path
        Tagged sentences: columns, annotated texts, or CoNLL-U.
    files : tuple of Path
        Sentences to add, in the same columns, or CoNLL-U, too.
    where : Path
        File to write.
    prefer_new : bool
        Let tags that came back replace different ones.
    as_json : bool
        Print JSON.
    """
    from handful.corpora.formats import format_of
    from handful.labeling.tagged_merging import merge_sentences

    read = _treebanks if format_of(data).yields == "trees" else _columns
    tag, there, came, write = read(data, files, where)
    merged = merge_sentences(there, came, tag, prefer_new=prefer_new)
    write(merged.sentences)
    if as_json:
        conflicts = [
            {"file": name, "sentence": number, "tokens": s.tokens, "tags": s[tag]}
            for name, number, s in merged.conflicts
        ]
        counts = {
            "new": merged.n_new,
            "same": merged.n_same,
            "replaced": merged.n_replaced,
            "left empty": merged.n_empty,
        }
        emit_json({"output": str(where), **COUNTED_FROM, **counts, "conflicts": conflicts})
        return
    same = f", {merged.n_same:,} that were there already" if merged.n_same else ""
    replaced = f", {merged.n_replaced:,} with new tags" if merged.n_replaced else ""
    new = counted(merged.n_new, "new sentence")
    empty = f", {merged.n_empty:,} not tagged to the end" if merged.n_empty else ""
    console().print(
        f"{where}: {new}{same}{replaced}{empty}.",
        markup=False,
        soft_wrap=True,
    )
    for name, number, sentence in merged.conflicts:
        console(stderr=True).print(
            f"{name}: sentence {number + 1} is tagged differently elsewhere and was left out: {' '.join(sentence.tokens)}",
            style="yellow",
            markup=False,
            soft_wrap=True,
        )


def _columns(data: Path, files: tuple[Path, ...], where: Path) -> _Read:
    from handful.corpora.formats import read_conll, write_conll
    from handful.corpora.formats.columns import guess_columns
    from handful.corpora.opening import Source

    layout, there = _read(data)
    came: dict[str, list[Sentence]] = {}
    for file in files:
        _refuse_annotated(data, file)
        if len(guess_columns(file)) != len(layout):
            raise ParameterError(
                f"{file}: must have the {counted(len(layout), 'column')} of {data}, got {len(guess_columns(file))}."
            )
        came[str(file)] = list(read_conll(file, layout))
    line_end = Source(data).line_end
    return layout[-1], there, came, lambda sentences: write_conll(where, sentences, layout, line_end=line_end)


def _treebanks(data: Path, files: tuple[Path, ...], where: Path) -> _Read:
    """Read CoNLL-U; a tree that is there keeps all but its tags, whatever comes back."""
    from handful.corpora.formats import format_of, read_conllu, write_conllu
    from handful.corpora.formats.columns import IN_DOUBT

    other = next((file for file in files if format_of(file).yields != "trees"), None)
    if other is not None:
        raise ParameterError(f"{other}: must be CoNLL-U, as {data} is, got another kind of file.")
    trees = list(read_conllu(data))
    came = {str(file): list(read_conllu(file)) for file in files}
    whole = {id(tree.sentence): tree for part in came.values() for tree in part}

    def write(sentences: list[Sentence]) -> None:
        old = [
            replace(tree, sentence=replace(tree.sentence, columns={**tree.sentence.columns, "upos": sentence["upos"]}))
            for tree, sentence in zip(trees, sentences, strict=False)
        ]
        new = [whole[id(sentence)] for sentence in sentences[len(trees) :]]
        write_conllu(where, [*old, *(_without_lines(tree, IN_DOUBT) for tree in new)])

    there = [tree.sentence for tree in trees]
    return "upos", there, {name: [tree.sentence for tree in part] for name, part in came.items()}, write


def _without_lines(tree: Tree, start: str) -> Tree:
    comments = tuple(line for line in tree.sentence.comments if not line.startswith(start))
    return replace(tree, sentence=replace(tree.sentence, comments=comments))


def _refuse_annotated(data: Path, file: Path) -> None:
    """Raise if a file to be added is not in columns; as the first one it might be."""
    from handful.corpora.formats import format_of
    from handful.corpora.opening import Source

    source = Source(file)
    format = format_of(source)
    is_json = source.head.lstrip()[:1] in (b"{", b"[")
    is_text = format.yields == "text" and b"\t" not in source.head
    if is_json or is_text or format.yields == "trees" or (format.yields == "sentences" and format.name != "conll"):
        kind = "text" if is_text else format.name
        turned = (
            f" Name it first: handful merge {shell_name(file)} {shell_name(data)}"
            if format.yields == "sentences"
            else ""
        )
        raise ParameterError(f"{file}: must be columns of tokens and tags, got another kind of file ({kind}).{turned}")


def _read(data: Path) -> tuple[tuple[str, ...], list[Sentence]]:
    """Return the columns of a file and its sentences; of annotated texts, the token and the tag."""
    from handful.core.records import Sentence
    from handful.corpora.formats import format_of, read_conll
    from handful.corpora.formats.columns import guess_columns
    from handful.corpora.tagged import read_tagged

    if format_of(data).name == "conll":
        layout = guess_columns(data)
        return layout, list(read_conll(data, layout))
    tagged = read_tagged(data)
    pairs = zip(tagged.sentences, tagged.tags, strict=True)
    return ("token", "tag"), [Sentence(sentence.tokens, {"tag": tags}) for sentence, tags in pairs]
