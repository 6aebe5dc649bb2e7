"""Tagged sentences that come back, added to those that are there; a sentence tagged in two ways is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handful.core.records import Sentence


@dataclass(frozen=True)
class MergedSentences:
    """What became of sentences that came back; see `merge_sentences`.

    Parameters
    ----------
    sentences : list of Sentence
        All sentences, the new ones behind the old ones.
    n_new, n_same : int
        Sentences that were added, and such that were there with the same tags.
    conflicts : list of (str, int, Sentence)
        Sentences tagged differently elsewhere, which were not added: file, number in it from 0, and the sentence.
    """

    sentences: list[Sentence]
    n_new: int
    n_same: int
    conflicts: list[tuple[str, int, Sentence]]


def merge_sentences(data: Sequence[Sentence], files: Mapping[str, Sequence[Sentence]], tag: str) -> MergedSentences:
    """Add tagged sentences to others.

    Parameters
    ----------
    data : sequence of Sentence
        Those that are there.
    files : mapping of str to sequence of Sentence
        Those that came back, by the name of the file.
    tag : str
        Column of tags.

    Returns
    -------
    MergedSentences
        A sentence that the data has with other tags is not added; of files that disagree, neither version is.

    Examples
    --------
    >>> a, b = Sentence(("Rome",), {"tag": ("LOC",)}), Sentence(("Rome",), {"tag": ("O",)})
    >>> merge_sentences([], {"one": [a], "two": [b]}, "tag").n_new
    0
    """
    versions: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for sentence in (*data, *(s for part in files.values() for s in part)):
        versions.setdefault(sentence.tokens, set()).add(sentence[tag])
    known = {(sentence.tokens, sentence[tag]) for sentence in data}
    merged, conflicts, n_same = list(data), [], 0
    for name, part in files.items():
        for number, sentence in enumerate(part):
            key = (sentence.tokens, sentence[tag])
            if key in known:
                n_same += 1
            elif len(versions[sentence.tokens]) > 1:
                conflicts.append((name, number, sentence))
            else:
                known.add(key)
                merged.append(sentence)
    return MergedSentences(merged, len(merged) - len(data), n_same, conflicts)
