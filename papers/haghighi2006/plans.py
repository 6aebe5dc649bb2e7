"""The texts of the experiments, from the data folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from handful.data.records import Sentence
from handful.errors import MissingDataError, require
from handful.representations.similarity import ContextSimilarity
from handful.tagging.prototypes.lists import extract_prototypes
from handful.tagging.prototypes.tagger import PrototypeTagger
from papers.claims import Findings, Settings, cut_sections, save_picture
from papers.corpora import load
from papers.generated import APARTMENT_FIELDS, APARTMENT_PROTOTYPES, make_apartment_ads

Tagged = tuple[list[tuple[str, ...]], list[tuple[str, ...]]]

# Smith and Eisner's 17 coarse tags.
COARSE = {
    "ADJ": "$ # CD JJ JJR JJS PRP$",
    "ADV": "RB RBR RBS",
    "DET": "DT PDT",
    "INPUNC": ", : SYM",
    "LPUNC": "`` -LRB-",
    "RPUNC": "'' -RRB-",
    "N": "EX FW LS NN NNP NNPS NNS PRP UH",
    "V": "MD VB VBD VBP VBZ",
    "W": "WDT WP WP$ WRB",
    "PREP": "IN",
    "PRT": "RP",
    "CONJ": "CC",
    "ENDPUNC": ".",
}
_COARSE_OF = {fine: coarse for coarse, several in COARSE.items() for fine in several.split()}
_NEWS = ("unlabeled-news-reuters21578", "unlabeled-news-abc", "unlabeled-news-bbc")
_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "{": "-LCB-", "}": "-RCB-"}


def wsj_sample() -> Tagged:
    """Return words and tags of the WSJ sample."""
    return _columns(load("wsj-sample-pos"), "pos")


def wsj_sections(n_sentences: int) -> Tagged:
    """Return words and tags from section 2 of the WSJ on, where the user has put the treebank.

    A list of files defines where section 2 begins (see `papers.claims`); without one, after 3,914 sentences,
    which sections 00 and 01 hold.
    """
    sentences = list(load("ptb-wsj-pos-train"))
    later = cut_sections("ptb-wsj-pos-train", sentences, range(2, 25))
    words, tags = _columns((sentences[3914:] if later is None else later)[:n_sentences], "pos")
    if len(words) < n_sentences:
        raise MissingDataError(
            f"ptb-wsj-pos-train: {n_sentences} sentences from section 2 on are needed, got {len(words)}."
        )
    return words, tags


def coarse(tags: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return coarse tags for fine ones.

    Examples
    --------
    >>> coarse([["DT", "NN", "VBG", "."]])
    [('DET', 'N', 'VBG', 'ENDPUNC')]
    """
    return [tuple(_COARSE_OF.get(tag, tag) for tag in row) for row in tags]


def news() -> list[list[str]]:
    """Return all installed news text, with quotes and brackets as the treebank writes them."""
    sentences = []
    for name in _NEWS:
        try:
            sentences += [treebank_marks(sentence.tokens) for sentence in load(name)]
        except MissingDataError:
            continue
    return sentences


def treebank_marks(words: Iterable[str]) -> list[str]:
    """Write quotes and brackets as the treebank does; quotes open and close in turn.

    Examples
    --------
    >>> treebank_marks(['"', 'Yes', '"', '(', 'no', ')'])
    ['``', 'Yes', "''", '-LRB-', 'no', '-RRB-']
    """
    result, opens = [], True
    for word in words:
        if word == '"':
            result.append("``" if opens else "''")
            opens = not opens
        else:
            result.append(_BRACKETS.get(word, word))
    return result


def chinese(n_tokens: int) -> tuple[Tagged, list[tuple[str, ...]]]:
    """Return the first sentences of UD Chinese GSD with their tags, and the words of the whole treebank."""
    sentences = [tree.sentence for part in ("train", "dev", "test") for tree in load(f"zh_gsd-ud1-{part}")]
    ends = accumulate(map(len, sentences))
    n_sentences = next((n for n, end in enumerate(ends, start=1) if end >= n_tokens), len(sentences))
    return _columns(sentences[:n_sentences], "xpos"), [s.tokens for s in sentences]


def confusions(
    gold: Sequence[Sequence[str | None]], predicted: Sequence[Sequence[str]], top: int = 10
) -> list[tuple[str, str, int, float]]:
    """Return the most frequent mistakes.

    Parameters
    ----------
    gold, predicted : sequence of sequences of str
        Correct and predicted labels; tokens whose correct label is None do not count.
    top : int, default=10
        How many.

    Returns
    -------
    list of (str, str, int, float)
        Correct label, predicted label, count, and fraction of all mistakes.

    Examples
    --------
    >>> confusions([["N", "N", "V"]], [["V", "V", "N"]])
    [('N', 'V', 2, 0.6666666666666666), ('V', 'N', 1, 0.3333333333333333)]
    """
    pairs = zip(chain.from_iterable(gold), chain.from_iterable(predicted), strict=True)
    wrong = Counter((true, tag) for true, tag in pairs if true is not None and true != tag)
    total = wrong.total()
    ranked = sorted(wrong.items(), key=lambda item: (-item[1], item[0]))
    return [(true, tag, count, count / total) for (true, tag), count in ranked[:top]]


def mapped_accuracy(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """Return the accuracy after mapping each predicted label to the correct label that it has most often.

    Greedy, on the evaluated data itself, as the paper does for its unsupervised baseline.

    Examples
    --------
    >>> mapped_accuracy([["N", "V", "N", "N"]], [["1", "2", "1", "2"]])
    0.75
    """
    counts: dict[str, Counter[str]] = {}
    for true, label in zip(chain.from_iterable(gold), chain.from_iterable(predicted), strict=True):
        counts.setdefault(label, Counter())[true] += 1
    return sum(max(of_label.values()) for of_label in counts.values()) / sum(map(len, gold))


def citations(part: str) -> Tagged:
    """Return words and fields of one part of the citations; every digit is written as 0."""
    sentences = list(load(f"citations-{part}"))
    words = [tuple(re.sub("[0-9]", "0", word) for word in s.tokens) for s in sentences]
    return words, [s.columns.get("field", ()) for s in sentences]


def _columns(sentences: Iterable[Sentence], name: str) -> Tagged:
    pairs = [(s.tokens, s[name]) for s in sentences]
    return [words for words, _ in pairs], [tags for _, tags in pairs]


def transition_shares(tags: Sequence[Sequence[str]], labels: Sequence[str]) -> np.ndarray:
    """Return how often each label (row) is followed by each (column): rows that sum to 1, or 0 for a label without successor.

    Examples
    --------
    >>> transition_shares([["D", "N", "D"]], ["D", "N"]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    codes = {label: code for code, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)))
    for row in tags:
        for before, after in pairwise(row):
            counts[codes[before], codes[after]] += 1
    totals = counts.sum(axis=1, keepdims=True)
    return counts / np.where(totals > 0, totals, 1.0)


def draw_transitions(path: Path, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> Path:
    """Draw the two transition matrices; darker is more frequent.

    Parameters
    ----------
    path : Path
        The file to write.
    gold, predicted : sequence of sequences of str
        Correct and found labels.

    Returns
    -------
    Path
        The file.
    """
    require("matplotlib", extra="plots", why="python -m papers KEY --figures").use("Agg")
    import matplotlib.pyplot as plt

    labels = sorted({tag for tags in (gold, predicted) for row in tags for tag in row})
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
    for axis, tags, title in zip(axes, (gold, predicted), ("gold", "PROTO+SIM"), strict=True):
        axis.imshow(transition_shares(tags, labels), cmap="Greys", vmin=0, vmax=1)
        axis.set_xticks(range(len(labels)), labels, rotation=90, fontsize=7)
        axis.set_yticks(range(len(labels)), labels, fontsize=7)
        axis.set_title(title)
        axis.set_xlabel("next label")
        axis.set_ylabel("label")
    return save_picture(figure, path)


_CONFUSIONS = (("CD", "DT"), ("NN", "JJ"), ("JJ", "NN"), ("VBD", "VBN"), ("NNS", "NN"))
_MARKS = {"citations": [".", ",", ";"], "made-ads": [";", ".", "!"]}
_WORDS_A_FIELD = 5  # chosen on the development part of the citations

Text = Sequence[Sequence[str]]


@dataclass
class _Bench:
    """What all experiments share: how long to train, how many threads, how many seeds; and what they found."""

    settings: Settings
    values: dict[str, float] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)

    def tagger(self, prototypes: Mapping[str, Sequence[str]] | None, **options: Any) -> PrototypeTagger:
        quick = {"max_iter": 30} if self.settings.quick else {}
        return PrototypeTagger(prototypes, n_jobs=self.settings.n_jobs, **{"max_iter": 100, **options, **quick})

    def fit(self, tagger: PrototypeTagger, text: Text, tags: Any = None) -> PrototypeTagger:
        return tagger.fit(text, tags, progress=self.settings.progress)

    def base(self, text: Text, gold: Text, labels: Sequence[str], **options: Any) -> float:
        """Accuracy in percent without prototypes: many-to-one mapping, mean over seeds, on the first sentences."""
        seeds = self.settings.seeds or (1 if self.settings.quick else 10)
        scores = []
        for seed in range(seeds):
            tagger = self.fit(self.tagger(None, labels=labels, random_state=seed, **options), text)
            scores.append(100 * mapped_accuracy(gold, tagger.predict(text[: len(gold)])))
        return float(np.mean(scores))

    def attempt(self, ids: Sequence[str], experiment: Callable[[], Mapping[str, float]]) -> None:
        """Run an experiment; if its data is missing, report so for each of its claims."""
        try:
            self.values.update(self.settings.kept(f"haghighi2006 {ids[0]}", experiment))
        except MissingDataError as error:
            self.not_run.update(dict.fromkeys(ids, str(error)))


def run(settings: Settings) -> Findings:
    """Measure every claim of ``paper.toml``.

    Parameters
    ----------
    settings : Settings
        ``seeds`` runs of BASE (10 by default, 1 in a quick run); ``quick`` takes 30 iterations, fewer sentences and no
        news text; ``n_jobs`` is the number of threads.

    Returns
    -------
    Findings
        Numbers by claim.
    """
    bench = _Bench(settings)
    kinds = ("base", "proto", "sim")
    english = (*kinds, "gain", "proto-others", "sim-others", *(f"confusion-{a}-{b}".lower() for a, b in _CONFUSIONS))
    sample = [*(f"english-48k-{k}" for k in english), "english-24k-projected", "english-24k-coarse"]
    bench.attempt(sample, lambda: _english_sample(bench))
    bench.attempt([f"english-193k-{k}" for k in english], lambda: _english_sections(bench))
    bench.attempt([f"chinese-{k}" for k in (*kinds, "order")], lambda: _chinese(bench))
    bench.not_run.update({f"ads-{k}": "the classified ads are not to be had" for k in (*kinds, "bound")})
    names = ("proto-over-base", "sim-over-proto", "bound-over-sim", "labels-for-bound")
    bench.attempt([f"citations-{n}" for n in names], lambda: _citations(bench))
    bench.values.update(_made_ads(bench))
    return Findings(bench.values, bench.not_run)


def accuracy(gold: Text, predicted: Text, skip: frozenset[str] = frozenset(), words: Text = ()) -> float:
    """Return the accuracy in percent, over all tokens or those whose word is not to be skipped.

    Examples
    --------
    >>> accuracy([["D", "N"]], [["D", "V"]]), accuracy([["D", "N"]], [["D", "V"]], frozenset(["the"]), [["the", "dog"]])
    (50.0, 0.0)
    """
    right = [a == b for true, answers in zip(gold, predicted, strict=True) for a, b in zip(true, answers, strict=True)]
    if skip:
        counted = [word not in skip for sentence in words for word in sentence]
        right = [r for r, c in zip(right, counted, strict=True) if c]
    return 100 * float(np.mean(right))


def _english(
    bench: _Bench, words: Text, tags: Text, similarity: ContextSimilarity, name: str
) -> tuple[dict[str, float], Text]:
    labels = sorted({tag for row in tags for tag in row})
    prototypes = extract_prototypes(words, tags)
    typical = frozenset(word for row in prototypes.values() for word in row)
    values = {f"{name}-base": bench.base(words, tags, labels)}
    predicted: Text = []
    for kind, links in (("proto", None), ("sim", similarity)):
        tagger = bench.fit(bench.tagger(prototypes, similarity=links), words)
        predicted = tagger.predict(words)
        values[f"{name}-{kind}"] = accuracy(tags, predicted)
        values[f"{name}-{kind}-others"] = accuracy(tags, predicted, typical, words)
    values[f"{name}-gain"] = values[f"{name}-sim"] - values[f"{name}-proto"]
    rates = {(a, b): 100 * rate for a, b, _, rate in confusions(tags, predicted, top=len(labels) ** 2)}
    values.update({f"{name}-confusion-{a}-{b}".lower(): rates.get((a, b), 0.0) for a, b in _CONFUSIONS})
    return values, predicted


def _english_sample(bench: _Bench) -> dict[str, float]:
    all_words, all_tags = wsj_sample()
    n, n_coarse = (500, 500) if bench.settings.quick else (2000, 1000)
    similarity = _news_similarity(bench, all_words)
    words, tags = all_words[:n], all_tags[:n]
    values, predicted = _english(bench, words, tags, similarity, "english-48k")
    if bench.settings.figures is not None:
        draw_transitions(bench.settings.figures / "figure6.svg", coarse(tags), coarse(predicted))
    return values | _english_coarse(bench, all_words[:n_coarse], all_tags[:n_coarse], similarity)


def _english_coarse(bench: _Bench, words: Text, fine: Text, similarity: ContextSimilarity) -> dict[str, float]:
    """Compare on coarse tags, in the two ways of reading the paper's "projected"."""
    gold = coarse(fine)
    values = {}
    for name, tags in (("projected", fine), ("coarse", gold)):
        tagger = bench.fit(bench.tagger(extract_prototypes(words, tags), similarity=similarity), words)
        values[f"english-24k-{name}"] = accuracy(gold, coarse(tagger.predict(words)))
    return values


def _english_sections(bench: _Bench) -> dict[str, float]:
    words, tags = wsj_sections(8000)
    if bench.settings.quick:
        words, tags = words[:500], tags[:500]
    return _english(bench, words, tags, _news_similarity(bench, words), "english-193k")[0]


def _news_similarity(bench: _Bench, words: Text) -> ContextSimilarity:
    more = [] if bench.settings.quick else news()
    return ContextSimilarity().fit([*words, *more])


def _chinese(bench: _Bench) -> dict[str, float]:
    (words, tags), context = chinese(10_000 if bench.settings.quick else 60_000)
    prototypes = extract_prototypes(words, tags)
    options = {"suffix_length": 0}
    # Chosen on the rest of the treebank: in so little text contexts of rarer words and small singular values are chance.
    similarity = ContextSimilarity(n_components=None, power=0.5, min_count=20).fit(context)
    values = {"chinese-base": bench.base(words, tags, sorted(prototypes), **options)}
    for kind, links in (("proto", None), ("sim", similarity)):
        tagger = bench.tagger(prototypes, similarity=links, threshold=0.45, **options)
        tagger = bench.fit(tagger, words)
        values[f"chinese-{kind}"] = accuracy(tags, tagger.predict(words))
    steps = np.diff([values[f"chinese-{kind}"] for kind in ("base", "proto", "sim")])
    return {**values, "chinese-order": float(steps.min())}


def _citations(bench: _Bench) -> dict[str, float]:
    parts = {name: citations(name) for name in ("test", "dev", "train", "unlabeled")}
    words = [w for name in ("test", "dev", "train") for w in parts[name][0]]
    gold, (train_words, train_tags) = parts["test"][1], parts["train"]
    labels = sorted({tag for row in train_tags for tag in row})
    prototypes = extract_prototypes(train_words, train_tags, _WORDS_A_FIELD)
    similarity = _topic_similarity([*words, *parts["unlabeled"][0]])
    values = _fields(bench, "citations", words, gold, prototypes, labels, similarity)
    # supervised with part of the labels, on the test citations and the labeled ones
    for rate in (25, 100):
        n = len(train_words) * rate // 100
        text = [*parts["test"][0], *train_words[:n]]
        tagger = bench.tagger(None, order=1, labels=labels, spelling=False)
        tagger = bench.fit(tagger, text, [*[None] * len(gold), *train_tags[:n]])
        values[f"citations-labels-{rate}"] = accuracy(gold, tagger.predict(parts["test"][0]))
    values["citations-labels-for-bound"] = values["citations-bound"] - values["citations-labels-25"]
    return values


def _made_ads(bench: _Bench) -> dict[str, float]:
    """Average over several samples of generated ads, since single ones depend on where the optimizer ends."""
    n_samples, n_ads = (1, 200) if bench.settings.quick else (5, 400)
    scores = [
        bench.settings.kept(f"haghighi2006 made-ads {sample}", partial(_made_sample, bench, n_ads, sample))
        for sample in range(n_samples)
    ]
    return {name: float(np.mean([values[name] for values in scores])) for name in scores[0]}


def _made_sample(bench: _Bench, n_ads: int, seed: int) -> dict[str, float]:
    prototypes = {label: typical for label, typical in APARTMENT_PROTOTYPES.items() if label in APARTMENT_FIELDS}
    ads = make_apartment_ads(n_ads, random_state=seed)
    words, tags = [ad.tokens for ad in ads], [ad["field"] for ad in ads]
    return _fields(bench, "made-ads", words, tags[:100], prototypes, APARTMENT_FIELDS, _topic_similarity(words))


def _topic_similarity(words: Text) -> ContextSimilarity:
    """Similarity for fields: what stands near, whatever the direction."""
    return ContextSimilarity(window=3, directional=False, n_components=50).fit(words)


def _fields(
    bench: _Bench,
    name: str,
    words: Text,
    gold: Text,
    prototypes: Mapping[str, Sequence[str]],
    labels: Sequence[str],
    similarity: ContextSimilarity,
) -> dict[str, float]:
    """Segment documents into fields; the first ones are those with gold labels."""
    options: dict[str, Any] = {"order": 1, "spelling": False, "labels": labels, "max_iter": 200}
    values = {f"{name}-base": bench.base(words, gold, **options)}
    with_marks = {**prototypes, "BOUNDARY": _MARKS[name]}
    kinds: dict[str, dict[str, Any]] = {
        "proto": {"prototypes": prototypes},
        "sim": {"prototypes": prototypes, "similarity": similarity},
        "bound": {"prototypes": with_marks, "similarity": similarity, "boundary": "BOUNDARY"},
    }
    for kind, more in kinds.items():
        tagger = bench.fit(bench.tagger(**more, **options), words)
        values[f"{name}-{kind}"] = accuracy(gold, tagger.predict(words[: len(gold)]))
    order = ("base", "proto", "sim", "bound")
    for before, after in pairwise(order):
        values[f"{name}-{after}-over-{before}"] = values[f"{name}-{after}"] - values[f"{name}-{before}"]
    return values
