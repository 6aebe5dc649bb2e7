"""Tagged sentences that come back, added to those that are there; a sentence tagged in two ways is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

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
    came = [(name, number, sentence) for name, part in files.items() for number, sentence in enumerate(part)]
    done = [one for one in came if is_tag or NO_TAG not in one[2][tag]]
    versions = _versions(map(itemgetter(2), done), tag)
    merged = list(data)
    if prefer_new:
        agreed = {sentence.tokens: sentence for _, _, sentence in done if len(versions[sentence.tokens]) == 1}
        merged = _renewed(data, agreed, tag)
    replaced = [new.tokens for old, new in zip(data, merged, strict=True) if new is not old]
    conflicts, n_same = _add(merged, done, versions, set(replaced), tag)
    n_new = len(merged) - len(data)
    n_empty = len({sentence.tokens for _, _, sentence in came} - versions.keys())
    return MergedSentences(merged, n_new, n_same, conflicts, len(replaced), n_empty)


def _add(
    merged: list[Sentence],
    done: Sequence[tuple[str, int, Sentence]],
    versions: Mapping[tuple[str, ...], set[tuple[str, ...]]],
    changed: set[tuple[str, ...]],
    tag: str,
) -> tuple[list[tuple[str, int, Sentence]], int]:
    """Add the sentences that are new; return those in conflict, and how many are there already."""
    there = _versions(merged, tag)
    conflicts, n_same = [], 0
    for name, number, sentence in done:
        known = there.get(sentence.tokens, set())
        if sentence[tag] in known:
            n_same += sentence.tokens not in changed
        elif known or len(versions[sentence.tokens]) > 1:
            conflicts.append((name, number, sentence))
        else:
            there[sentence.tokens] = {sentence[tag]}
            merged.append(sentence)
    return conflicts, n_same


def _versions(sentences: Iterable[Sentence], tag: str) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Return the ways in which sentences of the same tokens are tagged."""
    versions: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for sentence in sentences:
        versions.setdefault(sentence.tokens, set()).add(sentence[tag])
    return versions


def _renewed(data: Sequence[Sentence], agreed: Mapping[tuple[str, ...], Sentence], tag: str) -> list[Sentence]:
    """Put sentences that came back in the place of those that are tagged differently."""
    pairs = [(old, agreed.get(old.tokens, old)) for old in data]
    return [old if new[tag] == old[tag] else new for old, new in pairs]
