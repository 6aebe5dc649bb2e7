"""Context features of a word: lemmas, tags, collocations, syntax."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from handful.data.records import Occurrence

_ENTITY = re.compile(r"\[([A-Za-z]+)\]")
_SIGNS = {
    "bquo": '"',
    "equo": '"',
    "ldquo": '"',
    "rdquo": '"',
    "quot": '"',
    "lsquo": "'",
    "rsquo": "'",
    "mdash": " -- ",
}
_SIGNS |= {
    "ndash": "-",
    "hellip": " ... ",
    "dash": "-",
    "pound": "#",
    "percnt": "%",
    "amp": "&",
    "lsqb": "(",
    "rsqb": ")",
}
_ACCENTED = re.compile(r"([A-Za-z])(acute|grave|uml|circ|cedil|tilde|ring|caron|slash)")
_PIECE = re.compile(
    r"--+|\.\.\.+|[A-Za-z]\.(?:[A-Za-z]\.)+|\d[\d.,:/]*\d|"
    r"[^\W_]+?(?=n't\b)|n't\b|'(?:s|re|ve|d|ll|m)\b|"
    r"[^\W_]+(?:[-&/_][^\W_]+)*|\S",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(r"(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Inc|Corp|Co|Ltd|Jr|Sr|No|vs|etc|Prof|Gen|Sen|Rep|Gov)\.")
_ENDS = frozenset(".!?")
_CLOSING = frozenset("\"')")


@lru_cache(maxsize=200_000)
def split_token(token: str) -> tuple[str, ...]:
    """Cut punctuation and clitics off a token that stood between spaces, and resolve entity names in brackets.

    Parameters
    ----------
    token : str
        A token without spaces.

    Returns
    -------
    tuple of str
        At least one token.

    Examples
    --------
    >>> split_token('rave.[equo]'), split_token("didn't"), split_token("Mr."), split_token("U.S.")
    (('rave', '.', '"'), ('did', "n't"), ('Mr.',), ('U.S.',))
    """
    if token.isalpha():
        return (token,)
    text = _ENTITY.sub(_resolved, token)
    if _ABBREVIATION.fullmatch(text):
        return (text,)
    return tuple(_PIECE.findall(text)) or (token,)


def _resolved(match: re.Match[str]) -> str:
    name = match.group(1)
    accented = _ACCENTED.fullmatch(name)
    if accented:
        return accented.group(1)
    return _SIGNS.get(name, f" {name} ")


def tokenize_context(occurrence: Occurrence) -> Occurrence:
    """Cut every token of a context further, keeping track of the word and its satellites.

    Parameters
    ----------
    occurrence : Occurrence
        A context whose tokens stood between spaces.

    Returns
    -------
    Occurrence
        The same with finer tokens. Of a target that is cut, the first piece made of letters is the target.

    Examples
    --------
    >>> o = tokenize_context(Occurrence("art.n", "1", ("(Modern", "art.)", "Yes!"), 1))
    >>> o.tokens, o.target
    (('(', 'Modern', 'art', '.', ')', 'Yes', '!'), 2)
    """
    pieces = [split_token(token) for token in occurrence.tokens]
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))

    def moved(old: int) -> int:
        inside = next((i for i, piece in enumerate(pieces[old]) if piece[:1].isalnum()), 0)
        return starts[old] + inside

    return Occurrence(
        occurrence.word,
        occurrence.id,
        tuple(piece for cut in pieces for piece in cut),
        moved(occurrence.target),
        occurrence.senses,
        tuple(moved(s) for s in occurrence.satellites),
        occurrence.source,
    )


def sentence_bounds(tokens: tuple[str, ...], position: int, limit: int = 60) -> tuple[int, int]:
    """Return start and end of the sentence around a token, at most `limit` tokens to either side.

    Examples
    --------
    >>> sentence_bounds(("Rome", "fell", ".", '"', "So", "what", "?"), 4)
    (3, 7)
    """
    start = position
    while start > max(0, position - limit) and tokens[start - 1] not in _ENDS:
        start -= 1
    end = position + 1
    while end < min(len(tokens), position + limit) and tokens[end - 1] not in _ENDS:
        end += 1
    while end < len(tokens) and tokens[end] in _CLOSING and tokens[end - 1] in _ENDS | _CLOSING:
        end += 1
    return start, end


# base: irregular forms
_VERBS = """
be am is are was were been being | have has had having | do does did done | go goes went gone | say said | get got gotten
make made | know knew known | think thought | take took taken | see saw seen | come came | find found | give gave given
tell told | feel felt | become became | leave left | put put | mean meant | keep kept | let let | begin began begun
show shown | hear heard | run ran | hold held | bring brought | write wrote written | sit sat | stand stood | lose lost
pay paid | meet met | set set | lead led | understand understood | speak spoke spoken | read read | spend spent
grow grew grown | win won | buy bought | send sent | build built | fall fell fallen | cut cut | sell sold | rise rose risen
drive drove driven | draw drew drawn | break broke broken | wear wore worn | choose chose chosen | seek sought
catch caught | deal dealt | fight fought | throw threw thrown | teach taught | eat ate eaten | drink drank drunk
sing sang sung | sleep slept | strike struck stricken | swim swam swum | ride rode ridden | shake shook shaken
steal stole stolen | stick stuck | tear tore torn | wake woke woken | beat beaten | bend bent | bind bound | bite bit bitten
blow blew blown | breed bred | burn burnt | cling clung | creep crept | dig dug | dream dreamt | feed fed | flee fled
fly flew flown | forbid forbade forbidden | forget forgot forgotten | forgive forgave forgiven | freeze froze frozen
grind ground | hang hung | hide hid hidden | hit hit | hurt hurt | lay laid | lean leant | leap leapt | learn learnt
lend lent | lie lay lain | light lit | ring rang rung | shine shone | shoot shot | shrink shrank shrunk | shut shut
sink sank sunk | slide slid | spin spun | split split | spread spread | spring sprang sprung | swear swore sworn
sweep swept | swing swung | weave wove woven | weep wept | wind wound | withdraw withdrew withdrawn
undergo undergoes underwent undergone | overcome overcame | arise arose arisen | awake awoke awoken | bear bore born borne
cast cast | cost cost | bid bid | bet bet | quit quit | rid rid | thrust thrust | burst burst | upset upset
"""
_NOUNS = """
man men | woman women | child children | foot feet | tooth teeth | mouse mice | goose geese | person people | life lives
wife wives | knife knives | half halves | leaf leaves | self selves | shelf shelves | thief thieves | wolf wolves
crisis crises | analysis analyses | basis bases | thesis theses | criterion criteria | phenomenon phenomena
datum data | medium media | index indices | ox oxen
"""
_ADJECTIVES = """
good better best | bad worse worst | far further furthest farther farthest | fine finer finest | simple simpler simplest
free freer freest | fit fitter fittest
"""
_ENDS_IN_E = re.compile(
    r"(?:(?<![eo])at|iz|iv|ov|uc|rc|rs|ns|nc|rg|dg|ng|bl|pl|tl|dl|gl|fl|kl|cl|zl|u|v|c|z|eas|aus|uir|her|hor)$"
)
_KEEPS_NG = re.compile(r"(?:[io]ng|lang|bang|(?<!c)hang)$")
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]$")
_DOUBLED = re.compile(r"([bdgklmnprt])\1$")
_PARTS = {"N": "n", "V": "v", "J": "a", "R": "r"}


def _table(text: str) -> dict[str, tuple[str, ...]]:
    entries = [entry.split() for line in text.strip().splitlines() for entry in line.split("|") if entry.strip()]
    return {entry[0]: tuple(entry[1:]) for entry in entries}


_IRREGULAR = {"v": _table(_VERBS), "n": _table(_NOUNS), "a": _table(_ADJECTIVES)}
_BASES = {part: {form: base for base, forms in table.items() for form in forms} for part, table in _IRREGULAR.items()}


@lru_cache(maxsize=200_000)
def lemma(word: str, tag: str = "") -> str:
    """Return the base form of a word in lower case.

    Parameters
    ----------
    word : str
        The word.
    tag : str, optional
        Its part of speech, of which the first letter counts: N, V, J or R, as in the Penn Treebank. Without it, the
        ending decides.

    Returns
    -------
    str
        The lemma; always something that all forms of a regular word share, if not always a word.

    Examples
    --------
    >>> lemma("Making", "VBG"), lemma("studies", "NNS"), lemma("stopped", "VBD"), lemma("bought", "VBD")
    ('make', 'study', 'stop', 'buy')
    """
    low = word.lower()
    part = _PARTS.get(tag[:1], "")
    irregular = _irregular(low, part)
    if irregular is not None or len(low) < 4 or not low.isalpha():
        return irregular or low
    if part == "v" or (not part and low.endswith(("ing", "ed"))):
        return _verb(low)
    if part == "n" or not part:
        return _noun(low)
    return low


def _irregular(low: str, part: str) -> str | None:
    bases = [_BASES.get(candidate, {}) for candidate in ((part,) if part else ("v", "n"))]
    return next((known[low] for known in bases if low in known), None)


def _noun(low: str) -> str:
    if low.endswith("ies"):
        return low[:-3] + "y"
    if low.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return low[:-2]
    if low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return low[:-1]
    return low


def _verb(low: str) -> str:
    if low.endswith("ing") and re.search("[aeiouy]", low[:-3]):
        return _stem(low[:-3])
    if low.endswith("eed"):
        return low[:-1]
    if low.endswith("ied"):
        return low[:-3] + "y"
    if low.endswith("ed") and re.search("[aeiouy]", low[:-2]):
        return _stem(low[:-2])
    return _noun(low) if low.endswith("s") else low


def _stem(stem: str) -> str:
    if _DOUBLED.search(stem) and not stem.endswith(("all", "ell", "ill", "oll", "ull")):
        return stem[:-1]
    if _ENDS_IN_E.search(stem) and not _KEEPS_NG.search(stem):
        return stem + "e"
    return stem + "e" if _SHORT.match(stem) else stem


def forms(base: str, part: str) -> frozenset[str]:
    """Return the inflected forms of a word, in lower case, itself included.

    Parameters
    ----------
    base : str
        The word in its base form.
    part : {"n", "v", "a"}
        Noun, verb or adjective.

    Returns
    -------
    frozenset of str
        All forms; forms that do not exist (``"runned"``) may be among them.

    Examples
    --------
    >>> sorted(forms("carry", "v"))
    ['carried', 'carries', 'carry', 'carrying']
    """
    forms = {base, *_IRREGULAR.get(part, {}).get(base, ())}
    consonant_y = base.endswith("y") and base[-2:-1] not in "aeiou"
    stem = base[:-1] if base.endswith("e") else base
    if base.endswith("ee"):
        forms.add(base + "ing")
    endings = {"a": ("er", "est"), "n": (), "v": ("ed", "ing")}[part]
    for ending in endings:
        if consonant_y and ending != "ing":
            forms.add(base[:-1] + "i" + ending)
        else:
            forms.add(stem + ending)
            if re.search(r"[^aeiou][aeiou][bdgklmnprt]$", base):
                forms.add(base + base[-1] + ending)
    if part != "a":
        forms.add(_with_s(base, consonant_y))
    return frozenset(forms)


def _with_s(base: str, consonant_y: bool) -> str:
    if consonant_y:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "z")) else "s")


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
        yield from _patterns_verb(tokens, tags, target)
    elif part == "n":
        yield from _patterns_noun(tokens, tags, target)
    else:
        yield from _adjective(tokens, tags, target)


def _patterns_verb(tokens: Sequence[str], tags: Sequence[str], target: int) -> Iterator[str]:
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


def _patterns_noun(tokens: Sequence[str], tags: Sequence[str], target: int) -> Iterator[str]:
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


Tagger = Callable[[Sequence[Sequence[str]]], Sequence[Sequence[str]]]

# Value of the features of each group. Chosen by five-fold cross-validation on the training part of Senseval-2, all words
# pooled: words at fixed positions are many and, one by one, tell little.
WEIGHTS: Mapping[str, float] = {
    "bag": 1.0,
    "colloc": 1.0,
    "syntax": 1.0,
    "case": 1.0,
    "satellite": 2.0,
    "form": 0.5,
    "next": 0.5,
    "near": 0.25,
    "tag": 0.5,
}
_WINDOW = 35  # words to either side that make up the bag, chosen likewise
_STOP_TEXT = """
a an the and or but of to in on at by for with from as is are was were be been being am it its he she they them his her
their we us our you your i me my this that these those there here not n't no so if than then too very can could will
would shall should may might must do does did done have has had having which who whom whose what when where why how
all any some such only own same other into over under up down out off again further once about between through during
before after above below both each few more most nor s 's 'd 'll 're 've 'm also just
"""
_STOP = frozenset(_STOP_TEXT.split())


@dataclass(frozen=True)
class Context:
    """A context made ready: finer tokens, and tags of the sentence around the word.

    Parameters
    ----------
    occurrence : Occurrence
        The word in its tokenized context.
    start, end : int
        Bounds of its sentence.
    tags : tuple of str
        Penn Treebank tags of that sentence; empty without a tagger.
    """

    occurrence: Occurrence
    start: int
    end: int
    tags: tuple[str, ...] = ()

    @property
    def part(self) -> str:
        """Part of speech that the word is filed under: ``"n"``, ``"v"``, ``"a"``, or empty."""
        return self.occurrence.word.rpartition(".")[2] if "." in self.occurrence.word else ""


def make_contexts(occurrences: Sequence[Occurrence], tagger: Tagger | None = None) -> list[Context]:
    """Tokenize contexts and tag the sentence around each word.

    Parameters
    ----------
    occurrences : sequence of Occurrence
        Words in context.
    tagger : callable or None
        From sentences (lists of tokens) to their Penn Treebank tags, such as the `predict` of a fitted tagger.

    Returns
    -------
    list of Context
        One for each occurrence.

    Examples
    --------
    >>> c = make_contexts([Occurrence("art.n", "1", ("It", "fell.", "Is", "it", "art?"), 4)])[0]
    >>> c.occurrence.tokens[c.start : c.end], c.part
    (('Is', 'it', 'art', '?'), 'n')
    """
    fine = [tokenize_context(occurrence) for occurrence in occurrences]
    bounds = [sentence_bounds(occurrence.tokens, occurrence.target) for occurrence in fine]
    if tagger is None:
        return [Context(o, start, end) for o, (start, end) in zip(fine, bounds, strict=True)]
    tagged = tagger([list(o.tokens[start:end]) for o, (start, end) in zip(fine, bounds, strict=True)])
    return [Context(o, start, end, tuple(tags)) for o, (start, end), tags in zip(fine, bounds, tagged, strict=True)]


def context_features(context: Context) -> dict[str, float]:
    """Return the features of a word in context.

    Parameters
    ----------
    context : Context
        See `make_contexts`.

    Returns
    -------
    dict of str to float
        Feature names, which start with the name of their group, and their values, see `WEIGHTS`.

    Examples
    --------
    >>> c = make_contexts([Occurrence("art.n", "1", ("Modern", "art", "galleries"), 1)])[0]
    >>> sorted(context_features(c))[:3]
    ['bag gallery', 'bag modern', 'colloc +1+2 gallery </s>']
    """
    return {name: WEIGHTS[name.partition(" ")[0]] for name in _names(context)}


def _names(context: Context) -> Iterator[str]:
    o = context.occurrence
    low = [token.lower() for token in o.tokens[context.start : context.end]]
    tags = context.tags
    target = o.target - context.start
    lemmas = [lemma(token, tags[i] if tags else "") for i, token in enumerate(low)]
    yield from _bag(context, lemmas)
    yield from _positions(low, lemmas, tags, target)
    yield from _collocations(lemmas, target)
    yield f"form {low[target]}"
    yield from _capitals(o, context.start)
    for satellite in o.satellites:
        yield f"satellite {o.tokens[satellite].lower()}"
    if o.satellites:
        yield "satellite"
    if tags and context.part:
        for name in patterns(o.tokens[context.start : context.end], tags, target, context.part):
            yield f"syntax {name}"


def _bag(context: Context, lemmas: list[str]) -> Iterator[str]:
    o = context.occurrence
    for i in range(max(0, o.target - _WINDOW), min(len(o.tokens), o.target + _WINDOW + 1)):
        if i == o.target:
            continue
        inside = context.start <= i < context.end
        name = lemmas[i - context.start] if inside else lemma(o.tokens[i])
        if name[:1].isalpha() and name not in _STOP and len(name) > 1:
            yield f"bag {name}"


def _positions(low: list[str], lemmas: list[str], tags: Sequence[str], target: int) -> Iterator[str]:
    for offset in (-3, -2, -1, 1, 2, 3):
        i = target + offset
        inside = 0 <= i < len(low)
        word = low[i] if inside else _edge(i)
        group = "next" if abs(offset) == 1 else "near"
        yield f"{group} {offset:+d} {word}"
        if inside and lemmas[i] != word:
            yield f"{group} {offset:+d} lemma {lemmas[i]}"
        if tags:
            yield f"tag {offset:+d} {tags[i] if inside else _edge(i)}"
    if tags:
        yield f"tag 0 {tags[target]}"


def _collocations(lemmas: list[str], target: int) -> Iterator[str]:
    def at(offset: int) -> str:
        i = target + offset
        return lemmas[i] if 0 <= i < len(lemmas) else _edge(i)

    for a, b in ((-2, -1), (-1, 1), (1, 2)):
        yield f"colloc {a:+d}{b:+d} {at(a)} {at(b)}"
    yield f"colloc -1..+1 {at(-1)} {lemmas[target]} {at(1)}"


def _capitals(o: Occurrence, start: int) -> Iterator[str]:
    if not o.tokens[o.target][:1].isupper():
        return
    yield "case first" if o.target == start else "case capital"
    if o.target + 1 < len(o.tokens) and o.tokens[o.target + 1][:1].isupper():
        yield "case capital next"
    if o.target > start and o.tokens[o.target - 1][:1].isupper():
        yield "case capital before"


def _edge(i: int) -> str:
    return "<s>" if i < 0 else "</s>"
