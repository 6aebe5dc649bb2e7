"""``handful prototypes``: lists of a few example words for each label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handful.cli.console import cell, echo, emit_json, make_table, notice, open_output, percent
from handful.cli.options import INPUT, Run, number_option, run_option, run_options
from handful.cli.outputs import check_outputs
from handful.errors import DataError, ModelFileError, ParameterError, counted
from handful.registry import method_name_of

if TYPE_CHECKING:
    from handful.data.records import Sentence
    from handful.tagging.prototypes.features import Kind
    from handful.tagging.prototypes.lists import Coverage

_NOTHING_SIMILAR = "No word is similar to a prototype. Try --similarity nearby-roots, or more text: --similarity-text."


@dataclass(frozen=True)
class _Likeness:
    """How similarity of words is learned."""

    similarity_text: Path | None
    kind: Kind

    def learn(self, sentences: list[Sentence]) -> tuple[Any, float]:
        """Learn similarity from sentences and a further file; return it and the least that counts as similar."""
        from handful.tagging.prototypes.features import learn_similarity, usual_threshold

        text = [*sentences, *([] if self.similarity_text is None else _read(self.similarity_text))]
        return learn_similarity(self.kind, text, sum(map(len, text))), usual_threshold(self.kind)


def _likeness_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `_Likeness`; it gets them together as ``likeness``."""

    @wraps(command)
    def collected(*args: Any, similarity_text: Any, similarity: Any, **values: Any) -> Any:
        return command(*args, likeness=_Likeness(similarity_text, similarity), **values)

    text = click.option("--similarity-text", type=INPUT, help="More raw text to learn word similarity from.")
    kinds = click.Choice(["place-roots", "nearby-roots", "places", "nearby"])
    similarity = click.option(
        "--similarity", type=kinds, default="place-roots", show_default=True, help="Word similarity."
    )
    return text(similarity(collected))


def _read(text: Path) -> list[Sentence]:
    from handful.data.tagged import read_sentences

    return list(read_sentences(text))


def _labels(path: Path, sentences: list[Sentence], column: str | None) -> list[tuple[str, ...]]:
    """Return one column of every sentence: by number, by name, or the last."""
    names = list(sentences[0].columns)
    by_name = {**{str(number): name for number, name in enumerate(names, start=1)}, **{name: name for name in names}}
    wanted = column if column is not None else str(len(names))
    if wanted not in by_name:
        raise ParameterError(f"{path}: no column {column or 'of labels'}. It has {', '.join(names) or 'tokens only'}.")
    return [sentence[by_name[wanted]] for sentence in sentences]


@click.group("prototypes")
def prototypes_command() -> None:
    """Make, extend and check lists of prototypes (a few example words per label).

    A list is a TSV file with 'label TAB word word ...' on each line (or JSON).
    """


@prototypes_command.command("extract")
@click.argument("tagged", type=INPUT)
@click.option("--column", metavar="COLUMN", help="Column of the labels, by number or name. Default: the last.")
@number_option("Words of each label.", 3)
@run_options("output")
def extract_command(tagged: Path, column: str | None, n: int, run: Run) -> None:
    """Take the most frequent words of each label from TAGGED, a column or CoNLL-U file.

    \b
    Example:
      handful prototypes extract train.tsv -n 5 -o prototypes.tsv
    """
    from handful.data.word_lists import write_prototypes
    from handful.tagging.prototypes.lists import extract_prototypes

    check_outputs(run.output, inputs=[tagged], force=run.force)
    sentences = _read(tagged)
    lists = extract_prototypes(sentences, _labels(tagged, sentences, column), n)
    if run.output is not None:
        write_prototypes(run.output, lists)
        return
    with open_output(None) as file:
        file.writelines(f"{label}\t{' '.join(words)}\n" for label, words in lists.items())


@prototypes_command.command("suggest")
@click.argument("prototypes", type=INPUT)
@click.argument("text", type=INPUT)
@_likeness_options
@number_option("Words to list.", 10)
@run_option("as_json")
def suggest_words_command(prototypes: Path, text: Path, likeness: _Likeness, n: int, as_json: bool) -> None:
    """Suggest more words for each label of PROTOTYPES, and frequent words of TEXT without a label.

    \b
    Example:
      handful prototypes suggest prototypes.tsv raw.txt
    """
    from handful.data.word_lists import read_prototypes
    from handful.tagging.prototypes.lists import suggest_prototypes

    lists, sentences = read_prototypes(prototypes), _read(text)
    learned, threshold = likeness.learn(sentences)
    suggestions = suggest_prototypes(sentences, lists, learned, n_words=n, threshold=threshold)
    if not any(suggestions.near.values()):
        notice(_NOTHING_SIMILAR)
    if as_json:
        emit_json({"near": suggestions.near, "uncovered": suggestions.uncovered})
        return
    table = make_table("label", "similar words: similarity (tokens)")
    for label, near in suggestions.near.items():
        table.add_row(
            cell(label), cell("  ".join(f"{word} {similarity:.2f} ({n:,})" for word, similarity, n in near) or "-")
        )
    echo(table)
    _list("Frequent words without a label (tokens)", (f"{word} ({n:,})" for word, n in suggestions.uncovered))


@prototypes_command.command("check")
@click.argument("prototypes", type=INPUT)
@click.argument("text", type=INPUT)
@_likeness_options
@click.option("--tagger", "tagger_file", type=INPUT, help="Model of 'fit prototypes': adds words it is unsure of.")
@click.option("--gold", metavar="COLUMN", help="Column of TEXT with true labels, by number or name: adds mistakes.")
@number_option("Words to list.", 10)
@run_option("as_json")
def check_list_command(
    prototypes: Path,
    text: Path,
    likeness: _Likeness,
    tagger_file: Path | None,
    gold: str | None,
    n: int,
    as_json: bool,
) -> None:
    """Show how much of TEXT the list PROTOTYPES covers, and where it is weak.

    \b
    Examples:
      handful prototypes check prototypes.tsv raw.txt
      handful prototypes check prototypes.tsv test.tsv --tagger raw.handful --gold tag
    """
    from handful.data.word_lists import read_prototypes
    from handful.persistence.model_file import load
    from handful.tagging.evaluation import confusions
    from handful.tagging.prototypes.ensemble import PrototypeEnsemble
    from handful.tagging.prototypes.lists import check_prototypes
    from handful.tagging.prototypes.tagger import PrototypeTagger

    lists, sentences = read_prototypes(prototypes), _read(text)
    correct = None if gold is None else _labels(text, sentences, gold)
    if correct is not None and not {label for labels in correct for label in labels} & set(lists):
        raise DataError(
            f"{text}: column {gold} has none of the labels of {prototypes}. Rename the labels of one of them."
        )
    tagger = None if tagger_file is None else load(tagger_file)
    if tagger is not None and not isinstance(tagger, PrototypeTagger | PrototypeEnsemble):
        raise ModelFileError(f"{tagger_file}: {method_name_of(tagger)}, not a model of 'handful fit prototypes'.")
    learned, threshold = likeness.learn(sentences)
    coverage = check_prototypes(sentences, lists, learned, tagger=tagger, gold=correct, n_words=n, threshold=threshold)
    facts = {**asdict(coverage), "settings": getattr(tagger, "settings_", [])}
    if tagger is not None and correct is not None:
        # A boundary takes the label of the field before it, so its own label cannot be predicted.
        fields = [[None if label == tagger.boundary else label for label in labels] for labels in correct]
        facts["accuracy"] = tagger.score(sentences, fields)
        facts["confusions"] = confusions(fields, tagger.predict(sentences), top=n)
        facts["boundary"], facts["boundaries"] = tagger.boundary, sum(labels.count(None) for labels in fields)
    if not coverage.linked_share:
        notice(_NOTHING_SIMILAR)
    if as_json:
        emit_json(facts)
        return
    _show_coverage(coverage, likeness.kind)
    if "accuracy" in facts:
        _show_mistakes(facts)


def _show_coverage(coverage: Coverage, kind: str) -> None:
    """Print how far a list reaches and where it is weak."""
    rest = max(0.0, 1 - coverage.prototype_share - coverage.linked_share)
    echo(
        f"{counted(coverage.n_tokens, 'token')}: {percent(coverage.prototype_share)} are prototypes, "
        f"{percent(coverage.linked_share)} are similar to one ({kind}), {percent(rest)} are neither\n"
    )
    table = make_table(
        "label", "prototypes (tokens)", "% of tokens", "% similar", "similar words", right=("% of tokens", "% similar")
    )
    for reach in coverage.labels:
        table.add_row(
            cell(reach.label),
            cell("  ".join(f"{word} ({n:,})" for word, n in reach.prototypes)),
            f"{100 * reach.prototype_share:.1f}",
            f"{100 * reach.linked_share:.1f}",
            cell("  ".join(reach.like) or "-"),
        )
    echo(table)
    for title, lists in (("Not in the text", coverage.missing), ("Under several labels", coverage.ambiguous)):
        _list(title, (f"{key}: {' '.join(words)}" for key, words in lists.items()))
    _list("Frequent words without a label (tokens)", (f"{word} ({n:,})" for word, n in coverage.uncovered))
    disputed = (f"{word}: {n:,} of {total:,} tokens are {label}" for word, label, n, total in coverage.disputed)
    _list("Prototypes that mostly have another label", disputed)
    if coverage.unsure:
        table = make_table("uncertain word", "tokens", "bits", "labels", right=("tokens", "bits"))
        for word in coverage.unsure:
            labels = "  ".join(f"{label} {probability:.0%}" for label, probability in word.labels)
            table.add_row(cell(word.word), f"{word.count:,}", f"{word.bits:.1f}", cell(labels))
        echo()
        echo(table)


def _show_mistakes(facts: Mapping[str, Any]) -> None:
    """Print the accuracy of a tagger and its most frequent mistakes."""
    left_out = f", {facts['boundaries']:,} boundaries left out" if facts["boundaries"] else ""
    echo(f"\nAccuracy {percent(facts['accuracy'])} of tokens{left_out}", style="bold")
    table = make_table("true label", "predicted", "tokens", "% of mistakes", right=("tokens", "% of mistakes"))
    for true, predicted, count, rate in facts["confusions"]:
        table.add_row(cell(true), cell(predicted), f"{count:,}", f"{100 * rate:.1f}")
    if facts["confusions"]:
        echo(table)


def _list(title: str, entries: Iterable[str]) -> None:
    listed = list(entries)
    if listed:
        echo(f"\n{title}: {'   '.join(listed)}")
