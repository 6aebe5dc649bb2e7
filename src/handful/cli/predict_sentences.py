"""Tags and trees for sentences, some hundred at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from handful.cli.console import answers_to, say
from handful.core.counted import counted

if TYPE_CHECKING:
    from handful.cli.options import Run
    from handful.core.records import Tree
    from handful.corpora.annotated import Form
    from handful.corpora.token_style import Cut
    from handful.methods.pipeline import Pipeline

_BATCH = 500
_Shard = list[tuple[Any, tuple[str, ...]]]


def predict_sentences(
    models: Sequence[Any], data: Path, run: Run, abstain: float | None, tokens: Cut | None = None
) -> None:
    """Write sentences with the answers of taggers, and of a parser behind them.

    Parameters
    ----------
    models : sequence of models
        Taggers, at the end perhaps a parser.
    data : Path
        Text, columns, CoNLL-U or annotated texts; packed or not, read as a stream.
    run : Run
        Where to (stdout by default), and the workers. The output has the order of the input in any case. JSON lines where
        the name of the file or `as_json` asks for it; CoNLL-U where there are trees, before or after; else columns.
    abstain : float or None
        Tags less sure than this become ``_``.
    tokens : {"blanks", "words"} or None
        Where text is cut; by default as the training tokens of the first tagger are.
    """
    from handful.compute import map_parts
    from handful.core.errors import HandfulError, ParameterError, PartError
    from handful.methods.pipeline import Pipeline

    form: Any = "jsonl" if run.as_json else _form(run.output)
    pipeline = Pipeline(models)
    if abstain is not None and pipeline.parser is not None:
        raise ParameterError("--abstain: is for taggers alone, since a parser needs all tags. Leave it out.")
    sentences = _read(pipeline, data, tokens)
    first = next(sentences, None)
    if first is None:
        return
    # Columns cannot hold a tree, so a parser is not asked by the name of the file.
    if form == "columns" and (_has_place(first[0]) or pipeline.parser is not None):
        form = "conllu"
    tally = _Tally()
    rows = chain([first], sentences)
    shards = iter(lambda: list(islice(rows, _BATCH)), [])
    answer = partial(_answered, pipeline, form, abstain)
    try:
        with closing(map_parts(answer, shards, n_jobs=run.jobs, engine=run.engine)) as parts:
            _write(run.output, form, tally.counted(parts))
    except PartError as error:
        if isinstance(error.__cause__, HandfulError):
            raise error.__cause__ from None
        raise
    say(_told(tally, pipeline, abstain, run.output), stderr=True)


@dataclass
class _Answers:
    """What came of some sentences; of those that have heads or tags already, these beside the answers."""

    header: str
    text: str
    n_sentences: int
    n_words: int
    n_blank: int
    tags: Counter[str]
    trees: list[tuple[Tree, Tree]]
    tagged: list[tuple[Sequence[str], Sequence[str]]]
    documents: list[Tree]


@dataclass
class _Tally:
    n_sentences: int = 0
    n_words: int = 0
    n_blank: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    trees: list[tuple[Tree, Tree]] = field(default_factory=list)
    tagged: list[tuple[Sequence[str], Sequence[str]]] = field(default_factory=list)

    def add(self, part: _Answers) -> None:
        """Count further sentences."""
        self.n_sentences += part.n_sentences
        self.n_words += part.n_words
        self.n_blank += part.n_blank
        self.tags += part.tags
        self.trees += part.trees
        self.tagged += part.tagged

    def counted(self, parts: Iterable[_Answers]) -> Iterator[_Answers]:
        """Count what passes."""
        for part in parts:
            yield part
            self.add(part)


def _write(output: Path | None, form: str, parts: Iterator[_Answers]) -> None:
    if form == "docbin":
        from handful.corpora.formats.docbin import write_docbin

        assert output is not None  # its name asked for documents
        write_docbin(output, (tree for part in parts for tree in part.documents))
        return
    with answers_to(output) as file:
        for number, part in enumerate(parts):
            file.write(part.text if number else part.header + part.text)


def _read(pipeline: Pipeline, data: Path, tokens: Cut | None) -> Iterator[tuple[Tree, tuple[str, ...]]]:
    from handful.cli.sentences import cut_of
    from handful.core.errors import ParameterError
    from handful.corpora.formats import format_of
    from handful.corpora.formats.brat import is_standoff_folder
    from handful.corpora.opening import Source
    from handful.corpora.tagged import read_untagged_trees
    from handful.corpora.token_style import TokenStyle
    from handful.corpora.treebank import read_tagged_trees

    if not pipeline.taggers:
        return ((tree, ("token",)) for tree in read_tagged_trees(data, pipeline.needed))
    training = getattr(pipeline.taggers[0], "training_", {})
    layout, tag = training.get("layout", ("token",)), training.get("tag", "tag")
    if is_standoff_folder(data):
        if tokens is not None:
            raise ParameterError(f"--tokens: is for plain text, got {data}, a folder of annotated texts. Leave it out.")
        return read_untagged_trees(data, layout, tag, pipeline.needed)
    source = Source(data)
    if source.suffix == ".csv" and format_of(source).yields == "text":
        say(f"{data}: is read as text, every line of it, for it does not look like a table.", stderr=True)
    style = TokenStyle.remembered(pipeline.taggers[0])
    cut = cut_of(source, tokens, style)
    return read_untagged_trees(source, layout, tag, pipeline.needed, cut, () if style is None else style.abbreviations)


def _has_place(tree: Tree) -> bool:
    """Tell whether a sentence came from CoNLL-U."""
    return {"lemma", "upos", "xpos", "feats", "deps", "misc"} <= set(tree.sentence.columns)


def _form(output: Path | None) -> Any:
    """Return what the name of the file asks for, and refuse what cannot be written."""
    from handful.core.errors import ParameterError
    from handful.corpora.annotated import ENDINGS
    from handful.corpora.opening import bare_suffix

    suffix = bare_suffix(output) if output is not None else ""
    if suffix not in ENDINGS:
        raise ParameterError(
            f"{output}: sentences are written as columns (.tsv, .txt, .conll, .bio, .iob), CoNLL-U (.conllu), JSON lines (.jsonl) "
            f"or documents of spaCy (.spacy), got the ending {suffix}."
        )
    return ENDINGS[suffix]


def _document(tree: Tree, filled: Sequence[str]) -> Tree:
    """Return a sentence with its tags in the columns that become entities, fine tags and coarse tags of spaCy."""
    from handful.core.records import Sentence

    old = tree.sentence
    names = {name: {"upos": "upos", "xpos": "xpos", "pos": "xpos"}.get(name, "tag") for name in filled}
    columns = {name: cells for name, cells in old.columns.items() if name != "tag"}
    columns |= {names[name]: old[name] for name in filled}
    return replace(tree, sentence=Sentence(old.tokens, columns, old.comments))


def _answered(pipeline: Pipeline, form: Form | Literal["docbin"], abstain: float | None, shard: _Shard) -> _Answers:
    from handful.corpora.annotated import header_text, sentence_text
    from handful.methods.pipeline import BLANK

    filled = pipeline.columns
    last = filled[-1] if filled else ""
    done = _Answers("", "", len(shard), 0, 0, Counter(), [], [], [])
    texts = []
    for (before, names), (tree, sure) in zip(shard, pipeline.annotate([tree for tree, _ in shard]), strict=True):
        # Tags that stand beside a confidence are answers themselves.
        if last in before.sentence.columns and "confidence" not in names:
            done.tagged.append((before.sentence[last], tree.sentence[last]))
        if abstain is not None:
            tree = _blanked(tree, last, sure, abstain)
            done.n_blank += tree.sentence[last].count(BLANK)
        written = _written(names, filled, with_confidence=bool(sure))
        if form == "docbin":
            done.documents.append(_document(tree, filled))
        else:
            done.header = done.header or header_text(form, written)
            texts.append(sentence_text(form, tree, written, filled, sure))
        done.n_words += len(tree)
        if pipeline.parser is not None:
            done.tags.update(tree.sentence.columns.get(pipeline.parser.columns_[0], ()))
            if -1 not in before.heads:
                done.trees.append((before, tree))
    done.text = "".join(texts)
    return done


def _blanked(tree: Tree, column: str, sure: Sequence[float], abstain: float) -> Tree:
    """Leave out the tags that a tagger is not sure of."""
    from handful.core.records import Sentence
    from handful.methods.pipeline import BLANK

    old = tree.sentence
    tags = [tag if share >= abstain else BLANK for tag, share in zip(old[column], sure, strict=True)]
    return replace(tree, sentence=Sentence(old.tokens, {**old.columns, column: tuple(tags)}, old.comments))


def _written(names: Sequence[str], filled: Sequence[str], *, with_confidence: bool) -> list[str]:
    """Return the columns to write: those of the file, a given one of the same name under another, then the new ones.

    Of answers that are answered once more, the confidence and what had been given before them make room for the new ones.
    """
    again = bool(filled) and filled[-1] in names
    replaced = {"given"} if again else set()
    replaced |= {"confidence"} if with_confidence else set()
    old = ["given" if again and name == filled[-1] else name for name in names if name not in replaced]
    return [*old, *(name for name in filled if name not in old), *(["confidence"] if with_confidence else [])]


def _told(tally: _Tally, pipeline: Pipeline, abstain: float | None, output: Path | None) -> str:
    left = (
        f", {counted(tally.n_blank, 'tag')} left blank below a confidence of {abstain:g}" if abstain is not None else ""
    )
    where = f" in {output}" if output is not None else ""
    sentences = counted(tally.n_sentences, "sentence")
    if pipeline.parser is None:
        return f"{counted(tally.n_words, 'token')} of {sentences} tagged{left}{where}." + _tag_scores(tally, pipeline)
    how = "tagged and parsed" if pipeline.taggers else "parsed"
    note = f"{counted(tally.n_words, 'word')} of {sentences} {how}{where}."
    return note + _scores(tally) + _unseen(tally, set(pipeline.parser.values_["pos"].tolist()))


def _tag_scores(tally: _Tally, pipeline: Pipeline) -> str:
    """Tell how good the tags are, those left blank too, if the file has tags of their kind."""
    from handful.evaluation.given_tags import score_given

    given, found = [right for right, _ in tally.tagged], [answers for _, answers in tally.tagged]
    known = getattr(pipeline.taggers[-1], "classes_", None)
    tags = {tag for answers in found for tag in answers} if known is None else set(known)
    scores, n_scored = score_given(given, found, tags)
    if not scores:
        return ""
    which = "the file"
    if n_scored < tally.n_sentences:
        some = f"{counted(n_scored, 'sentence')} that {'has' if n_scored == 1 else 'have'}"
        which = f"the {some} them in the file"
    return f" Against the tags of {which}: {', '.join(f'{name} {share:.2%}' for name, share in scores.items())}."


def _scores(tally: _Tally) -> str:
    """Tell how many heads are right, if the file has them all."""
    from handful.parsing import score_trees

    if not tally.trees or len(tally.trees) < tally.n_sentences:
        return ""
    answered = [tree for _, tree in tally.trees]
    gold = [tree for tree, _ in tally.trees]
    scores = score_trees(gold, [t.heads for t in answered], [t.labels for t in answered]).as_dict()
    return f" Against the heads of the file: {', '.join(f'{name} {share:.2%}' for name, share in scores.items())}."


def _unseen(tally: _Tally, known: set[str]) -> str:
    """Tell that the tags are of another kind than those of the training trees."""
    strange = Counter({tag: n for tag, n in tally.tags.items() if tag not in known})
    if 2 * strange.total() < tally.tags.total() or not strange:
        return ""
    which = (
        "None of its tags was" if strange == tally.tags else f"The tags of {counted(strange.total(), 'word')} were not"
    )
    return (
        f" {which} seen in training: the file has {', '.join(sorted(strange)[:3])}, training had "
        f"{', '.join(sorted(known)[:3])}. The trees are guesses; give the same kind of tags."
    )
