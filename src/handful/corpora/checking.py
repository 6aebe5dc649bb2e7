"""Whether the corpora in the data folder are whole: checksums of the files, counts of what they load as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from handful.core.errors import HandfulError
from handful.corpora.catalog import Corpus, corpus
from handful.corpora.fetch import supply_again
from handful.corpora.folder import State, data_folder, file_state, how_to_get
from handful.corpora.loading import load


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the check of one corpus found.

    Parameters
    ----------
    name : str
        The corpus.
    state : {"here", "missing", "damaged"}
        The outcome; a corpus is damaged too if its counts are not those of the catalogue.
    files : mapping of str to str
        State of each file.
    counts : mapping of str to int
        What was counted; empty if nothing was.
    problem : str
        One sentence that says what is wrong and what to do; empty if nothing is.
    """

    name: str
    state: State
    files: Mapping[str, State]
    counts: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""


def check(name: str, *, counting: bool = True) -> CheckReport:
    """Check a corpus: the checksum of each file, then the counts of what it loads as.

    Parameters
    ----------
    name : str
        Name of the corpus.
    counting : bool, default=True
        Whether to load it and count. Without that only checksums are compared.

    Returns
    -------
    CheckReport
        What was found; trouble with files is reported, not raised.

    Raises
    ------
    ParameterError
        If the catalogue has no such corpus.

    Examples
    --------
    >>> check("bnc").state
    'missing'
    """
    entry = corpus(name)
    by_files = _check_files(entry)
    return _check_counts(entry, by_files) if counting and by_files.state == "here" else by_files


def _check_files(entry: Corpus) -> CheckReport:
    states = {file: file_state(file) for file in entry.files}
    files = {file.path: state for file, state in states.items()}
    for file, state in states.items():
        if state == "damaged":
            problem = f"{data_folder() / file.path}: the checksum is not that of the catalogue. {supply_again(entry)}"
            return CheckReport(entry.name, "damaged", files, problem=problem)
    absent = [file for file, state in states.items() if state == "missing" and file.role != "notes"]
    if absent or not states:
        return CheckReport(entry.name, "missing", files, problem=how_to_get(entry, *absent[:1]))
    return CheckReport(entry.name, "here", files)


def _check_counts(entry: Corpus, by_files: CheckReport) -> CheckReport:
    files = by_files.files
    try:
        counts = count(entry)
    except HandfulError as error:
        return CheckReport(entry.name, "damaged", files, problem=str(error))
    wrong = [f"{what} {want:,}, got {counts[what]:,}" for what, want in entry.counts.items() if counts[what] != want]
    if wrong:
        path = data_folder() / entry.files[0].path
        problem = f"{path}: expected {' and '.join(wrong)}. {supply_again(entry)}"
        return CheckReport(entry.name, "damaged", files, counts, problem)
    return CheckReport(entry.name, "here", files, counts)


def count(entry: Corpus) -> dict[str, int]:
    r"""Load a corpus and count what it holds.

    Parameters
    ----------
    entry : Corpus
        The corpus; it must be in the data folder.

    Returns
    -------
    dict of str to int
        By its format: sentences, tokens and labels; rows, features and classes; instances, words and answers;
        senses; words and clusters.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from unittest.mock import patch
    >>> folder = tempfile.mkdtemp()
    >>> _ = (pathlib.Path(folder) / "ptb-wsj-pos-dev.tsv.gz").write_text("Rome\tNNP\nfell\tVBD\n\n")
    >>> with patch.dict("os.environ", HANDFUL_DATA=folder):
    ...     count(corpus("ptb-wsj-pos-dev"))
    {'sentences': 1, 'tokens': 2, 'labels': 2}
    """
    records = load(entry.name)
    match entry.format:
        case "conll" | "conllu" | "text":
            return _count_sentences(records, entry.target)
        case "senseval":
            words: Counter[str] = Counter()
            answers = 0
            for occurrence in records:
                words[occurrence.word] += 1
                answers += len(occurrence.senses)
            return {"instances": words.total(), "words": len(words), "answers": answers}
        case "clusters":
            paths = Counter(row.path for row in records)
            return {"words": paths.total(), "clusters": len(paths)}
        case "table":
            classes = {label for label in records.labels if label is not None}
            return {"rows": records.n_rows, "features": len(records.features), "classes": len(classes)}
        case _:
            return {"senses": len(records)}


def _count_sentences(records: Iterable[Any], target: str | None) -> dict[str, int]:
    sentences = tokens = 0
    labels: set[str] = set()
    for record in records:
        sentences += 1
        tokens += len(record)
        if target is not None:
            labels.update(record[target])
    counts = {"sentences": sentences, "tokens": tokens}
    return counts if target is None else {**counts, "labels": len(labels)}
