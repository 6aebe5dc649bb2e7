"""Syntactic neighbors of a word by part-of-speech patterns: object, subject, particle, preposition, modified noun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handful.senses.lemmas import lemma

_BEFORE_NOUN = ("DT", "JJ", "CD", "PRP$", "PDT", "POS", "VBG", "VBN", "$", "``", '"', "RBR", "RBS", "RB")
_BE = frozenset({"be", "get"})
_REACH = 8


def patterns(tokens: Sequence[str], tags: Sequence[str], target: int, part: str) -> Iterator[str]:
    """Yield the syntactic features of a word.

    Parameters
    ----------
    tokens, tags : sequence of str
        The sentence with Penn Treebank tags.
    target : int
        Position of the word.
    part : str
        ``"v"``, ``"n"`` or ``"a"``.

    Yields
    ------
    str
        ``role=lemma``, so that the same word in two roles stays distinct.

    Examples
    --------
    >>> list(patterns(["They", "carried", "the", "plan", "out"], ["PRP", "VBD", "DT", "NN", "RP"], 1, "v"))
    ['subj=they', 'obj=plan', 'prt=out', 'frame=obj+out']
    """
    if part == "v":
        yield from _verb(tokens, tags, target)
    elif part == "n":
        yield from _noun(tokens, tags, target)
    else:
        yield from _adjective(tokens, tags, target)


def _verb(tokens: Sequence[str], tags: Sequence[str], target: int) -> Iterator[str]:
    passive = _is_passive(tokens, tags, target)
    subject = _subject(tokens, tags, target)
    if subject:
        yield f"{'obj' if passive else 'subj'}={subject}"
    if passive:
        yield "passive"
    frame: list[str] = []
    position = _skip(tags, target + 1, ("RB", "RBR"))
    if _tag(tags, position) == "RP":
        yield f"prt={tokens[position].lower()}"
        frame.append(tokens[position].lower())
        position += 1
    head = -1 if passive else noun_head(tags, position)
    if head >= 0:
        yield f"obj={_name(tokens, tags, head)}"
        frame.append("obj")
        position = head + 1
        if _tag(tags, position) == "RP":
            yield f"prt={tokens[position].lower()}"
            frame.append(tokens[position].lower())
            position += 1
    yield from _complement(tokens, tags, position, frame)
    yield f"frame={'+'.join(frame)}"


def _complement(tokens: Sequence[str], tags: Sequence[str], position: int, frame: list[str]) -> Iterator[str]:
    """Yield what follows a verb and its object, and add it to the frame."""
    if _tag(tags, position) not in ("IN", "TO"):
        frame.extend(tag[:2] for tag in tags[position : position + 1])
        return
    word = tokens[position].lower()
    frame.append(word)
    yield f"prep={word}"
    after = noun_head(tags, position + 1)
    if after >= 0:
        yield f"prep={word}+{_name(tokens, tags, after)}"
        yield f"pobj={_name(tokens, tags, after)}"
    elif _tag(tags, position + 1).startswith("VB"):
        frame.append("verb")
        yield f"comp={lemma(tokens[position + 1], 'V')}"


def _tag(tags: Sequence[str], position: int) -> str:
    """Return the tag at a position, nothing behind the end."""
    return tags[position] if position < len(tags) else ""


def _skip(tags: Sequence[str], position: int, passed: tuple[str, ...]) -> int:
    """Return the first position from this one on that has another tag than these."""
    while position < len(tags) and tags[position] in passed:
        position += 1
    return position


def _noun(tokens: Sequence[str], tags: Sequence[str], target: int) -> Iterator[str]:
    yield from _before_noun(tokens, tags, target)
    yield from _after_noun(tokens, tags, target + 1)
    yield f"number={tags[target]}"


def _before_noun(tokens: Sequence[str], tags: Sequence[str], target: int) -> Iterator[str]:
    position = target - 1
    while (
        position >= 0 and target - position < _REACH and tags[position] in _BEFORE_NOUN + ("NN", "NNS", "NNP", "NNPS")
    ):
        if tags[position].startswith(("NN", "JJ", "VB")):
            yield f"mod={_name(tokens, tags, position)}"
        position -= 1
    if position < 0:
        return
    if tags[position].startswith("V"):
        yield f"objof={lemma(tokens[position], 'V')}"
    elif tags[position] in ("IN", "TO"):
        yield f"pobjof={tokens[position].lower()}"
        if position > 0:
            yield f"pobjof={lemma(tokens[position - 1], tags[position - 1])}+{tokens[position].lower()}"


def _after_noun(tokens: Sequence[str], tags: Sequence[str], after: int) -> Iterator[str]:
    tag = _tag(tags, after)
    if tag.startswith("NN"):
        yield f"modof={_name(tokens, tags, noun_head(tags, after))}"
    elif tag in ("IN", "TO"):
        head = noun_head(tags, after + 1)
        yield f"npp={tokens[after].lower()}"
        if head >= 0:
            yield f"npp={tokens[after].lower()}+{_name(tokens, tags, head)}"
    else:
        verb = _skip(tags, after, ("RB", "MD"))
        if _tag(tags, verb).startswith("V"):
            yield f"subjof={lemma(tokens[verb], 'V')}"


def _adjective(tokens: Sequence[str], tags: Sequence[str], target: int) -> Iterator[str]:
    head = noun_head(tags, target + 1)
    if head >= 0:
        yield f"modof={_name(tokens, tags, head)}"
    else:
        subject = _subject(tokens, tags, target)
        if subject:
            yield f"pred={subject}"
    after = target + 1
    if after < len(tags) and tags[after] in ("IN", "TO"):
        yield f"npp={tokens[after].lower()}"
    before = target - 1
    while before >= 0 and tags[before] in ("RB", "RBR", "CC", "JJ", ","):
        before -= 1
    if before >= 0 and tags[before].startswith("V"):
        yield f"after={lemma(tokens[before], 'V')}"


def noun_head(tags: Sequence[str], start: int) -> int:
    """Return the position of the head of the noun phrase that starts at a position, or -1 if none does.

    Examples
    --------
    >>> noun_head(["DT", "JJ", "NN", "NN", "IN"], 0), noun_head(["IN", "NN"], 0)
    (3, -1)
    """
    position = start
    while position < len(tags) and position - start < _REACH and tags[position] in _BEFORE_NOUN:
        position += 1
    if position < len(tags) and tags[position] in ("PRP", "WP", "EX"):
        return position
    head = -1
    while position < len(tags) and tags[position].startswith(("NN", "POS", "CD")):
        if tags[position].startswith("NN"):
            head = position
        position += 1
    return head


def _is_passive(tokens: Sequence[str], tags: Sequence[str], target: int) -> bool:
    if tags[target] not in ("VBN", "VBD"):
        return False
    before = target - 1
    while before >= 0 and tags[before].startswith("RB"):
        before -= 1
    return before >= 0 and lemma(tokens[before], "V") in _BE


def _subject(tokens: Sequence[str], tags: Sequence[str], target: int) -> str:
    for before in range(target - 1, max(-1, target - 1 - _REACH), -1):
        if tags[before].startswith("NN") or tags[before] in ("PRP", "WP", "WDT", "EX"):
            return _name(tokens, tags, before)
        if tags[before] in (".", ":", "``", "''"):
            break
    return ""


def _name(tokens: Sequence[str], tags: Sequence[str], position: int) -> str:
    # Names and numbers are too many to learn one by one.
    if tags[position].startswith("NNP"):
        return "NAME"
    return "NUMBER" if tags[position] == "CD" else lemma(tokens[position], tags[position])
