"""Tagged sentences that come back, added to those that are there; a sentence tagged in two ways is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handful.core.records import Sentence

NO_TAG = "?"  # of a token that nobody has tagged yet


@dataclass(frozen=True)
class MergedSentences:
    """What became of sentences that came back; see `merge_sentences`.

    Parameters
    ----------
    sentences : list of Sentence
        All sentences, the new ones behind the old ones.
    n_new, n_same, n_replaced, n_empty : int
        Sentences that were added, such that were there with the same tags, such that got the tags that came back, and
        such that came back with a token still without a tag, which were left out.
    conflicts : list of (str, int, Sentence)
        Sentences tagged differently elsewhere, which were not added: file, number in it from 0, and the sentence.
    """

    sentences: list[Sentence]
    n_new: int
    n_same: int
    conflicts: list[tuple[str, int, Sentence]]
    n_replaced: int = 0
    n_empty: int = 0


def merge_sentences(
    data: Sequence[Sentence], files: Mapping[str, Sequence[Sentence]], tag: str, *, prefer_new: bool = False
) -> MergedSentences:
    """Add tagged sentences to others.

    Parameters
    ----------
    data : sequence of Sentence
        Those that are there.
    files : mapping of str to sequence of Sentence
        Those that came back, by the name of the file.
    tag : str
        Column of tags.
    prefer_new : bool, default=False
        Whether tags that came back replace different ones in the data. Files that disagree are never decided here.

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
    is_tag = any(NO_TAG in sentence[tag] for sentence in data)  # then it is one like others
    done = [s for part in files.values() for s in part if is_tag or NO_TAG not in s[tag]]
    versions: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for sentence in done:
        versions.setdefault(sentence.tokens, set()).add(sentence[tag])
    there: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for sentence in data:
        there.setdefault(sentence.tokens, set()).add(sentence[tag])
    came = {s.tokens: s for s in done if len(versions[s.tokens]) == 1}
    merged, replaced = list(data), set[int]()
    if prefer_new:
        for at, sentence in enumerate(data):
            new = came.get(sentence.tokens)
            if new is not None and new[tag] != sentence[tag]:
                merged[at] = new
                there[sentence.tokens] = {new[tag]}
                replaced.add(at)
    changed = {data[at].tokens for at in replaced}
    conflicts, n_same, n_empty = [], 0, 0
    for name, part in files.items():
        for number, sentence in enumerate(part):
            known = there.get(sentence.tokens, set())
            if NO_TAG in sentence[tag] and not is_tag:
                n_empty += 1
            elif sentence[tag] in known:
                n_same += sentence.tokens not in changed
            elif known or len(versions[sentence.tokens]) > 1:
                conflicts.append((name, number, sentence))
            else:
                there[sentence.tokens] = {sentence[tag]}
                merged.append(sentence)
    return MergedSentences(merged, len(merged) - len(data), n_same, conflicts, len(replaced), n_empty)
