"""Small tables and corpora for `pins.py`, made with numpy alone and the same on every machine."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets


def rng_of(name: str) -> np.random.Generator:
    """Return a generator whose seed is the name of what is drawn."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))


# -- tables -----------------------------------------------------------------------------------------------------------


class TableInput(NamedTuple):
    """Columns as cells of text, the true labels, and which rows keep theirs."""

    columns: dict[str, list[str]]
    truth: list[str]
    labeled: np.ndarray


def _cells(values: np.ndarray, digits: int = 4) -> list[str]:
    return [f"{value:.{digits}g}" for value in values]


def _with_holes(cells: list[str], rng: np.random.Generator, rate: float) -> list[str]:
    return ["" if hidden else cell for cell, hidden in zip(cells, rng.random(len(cells)) < rate, strict=True)]


def _labeled(codes: np.ndarray, n_labels: int, rng: np.random.Generator) -> np.ndarray:
    """Choose rows to keep their label, two of each class first."""
    first = [row for code in np.unique(codes) for row in rng.permutation(np.flatnonzero(codes == code))[:2]]
    others = rng.permutation(np.setdiff1d(np.arange(len(codes)), first))
    mask = np.zeros(len(codes), dtype=bool)
    mask[np.array([*first, *others[: n_labels - len(first)]])] = True
    return mask


def _sklearn_table(name: str, n_rows: int, n_labels: int, n_classes: int = 10) -> TableInput:
    loaded = getattr(datasets, f"load_{name}")()
    rng = rng_of(name)
    rows = np.flatnonzero(loaded.target < n_classes)
    rows = np.sort(rng.permutation(rows)[:n_rows])
    X, codes = loaded.data[rows], loaded.target[rows]
    columns = {f"c{j}": _cells(X[:, j]) for j in range(X.shape[1])}
    return TableInput(columns, [f"class {code}" for code in codes], _labeled(codes, n_labels, rng))


COLORS = ["red", "green", "blue", "grey", "white"]
TOPICS = [
    ["dog", "cat", "fur", "paw", "tail", "bark"],
    ["boat", "wave", "salt", "sail", "harbor", "tide"],
    ["stock", "bank", "loan", "share", "profit", "rate"],
    ["ball", "goal", "team", "match", "coach", "score"],
    ["soup", "bread", "oven", "spoon", "salt", "recipe"],
]
FILLERS = ["the", "a", "of", "and", "with", "is", "very", "some", "near", "new"]


def _text(code: int, rng: np.random.Generator, purity: float = 0.35) -> str:
    pools = [TOPICS[code] if own else FILLERS for own in rng.random(int(rng.integers(5, 14))) < purity]
    return " ".join(str(rng.choice(pool)) for pool in pools)


def _generated_table(
    name: str, n_rows: int, n_labels: int, n_classes: int, kinds: str, *, holes: float = 0.0, noise: float = 0.0
) -> TableInput:
    """Draw a table; `kinds` has a letter for each column: n(umeric), c(ategory), t(ext), d(ate), i(dentifier)."""
    rng = rng_of(name)
    codes = rng.integers(0, n_classes, size=n_rows)
    columns: dict[str, list[str]] = {}
    for j, kind in enumerate(kinds):
        if kind == "n":
            shift = rng.permutation(n_classes)[codes] if j % 3 < 2 else 0.0
            cells = _cells(rng.normal(size=n_rows) + 1.3 * shift)
        elif kind == "c":
            shown = np.where(rng.random(n_rows) < 0.6, codes, rng.integers(0, 5, size=n_rows))
            cells = [COLORS[k] for k in shown]
        elif kind == "t":
            cells = [_text(int(code), rng) for code in codes]
        elif kind == "d":
            days = np.datetime64("2021-01-01") + (120 * codes + rng.integers(0, 200, size=n_rows)).astype(int)
            cells = [str(day) for day in days]
        else:
            cells = [f"R{number:05d}" for number in rng.permutation(n_rows)]
        columns[f"{kind}{j}"] = _with_holes(cells, rng, holes if kind in "ncd" else 0.0)
    wrong = rng.random(n_rows) < noise
    shown_codes = np.where(wrong, rng.integers(0, n_classes, size=n_rows), codes)
    names = ["ash", "birch", "cedar", "elm", "fir"]
    return TableInput(columns, [names[k] for k in shown_codes], _labeled(shown_codes, n_labels, rng))


def _skewed_table() -> TableInput:
    """Draw two classes, one of which has a tenth of the rows, with repeated rows of different labels."""
    rng = rng_of("skewed")
    codes = (rng.random(200) < 0.1).astype(int)
    X = np.round(rng.normal(size=(200, 3)) + 1.5 * codes[:, None], 1)
    X[100:110] = X[90:100]
    columns = {f"n{j}": _cells(X[:, j]) for j in range(3)}
    columns["c3"] = [("yes", "no")[k] for k in rng.integers(0, 2, size=200)]
    return TableInput(columns, [("rest", "rare")[code] for code in codes], _labeled(codes, 50, rng))


def make_tables() -> dict[str, TableInput]:
    """Return the twelve tables by name."""
    return {
        "wine": _sklearn_table("wine", 178, 30),
        "breast_cancer": _sklearn_table("breast_cancer", 200, 40),
        "digits": _sklearn_table("digits", 200, 60, n_classes=5),
        "iris": _sklearn_table("iris", 150, 20),
        "numbers": _generated_table("numbers", 120, 20, 2, "nnnnn"),
        "mixed": _generated_table("mixed", 150, 30, 3, "nncd", holes=0.1),
        "texts": _generated_table("texts", 120, 24, 2, "t"),
        "texts_and_numbers": _generated_table("texts_and_numbers", 160, 40, 4, "tncn", holes=0.05),
        "dates": _generated_table("dates", 140, 30, 2, "ddci", holes=0.05),
        "five_classes": _generated_table("five_classes", 200, 60, 5, "nnnnnn", holes=0.15, noise=0.05),
        "categories": _generated_table("categories", 150, 36, 3, "cccc", noise=0.1),
        "skewed": _skewed_table(),
    }


def write_table(path: Path, table: TableInput) -> None:
    """Write a CSV file with the column ``label``, empty where a row is unlabeled."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*table.columns, "label"])
        shown = [label if known else "" for label, known in zip(table.truth, table.labeled, strict=True)]
        writer.writerows(zip(*table.columns.values(), shown, strict=True))


# -- sentences, ads and senses ----------------------------------------------------------------------------------------

SYLLABLES = ["ba", "ro", "mi", "ten", "lo", "sar", "vi", "den", "ku", "fel"]
LEXICON_SIZES = {"NN": 60, "VBD": 40, "JJ": 30, "NNP": 50, "RB": 15}
ENDINGS = {"NN": "", "VBD": "ed", "JJ": "ic", "NNP": "", "RB": "ly"}
CLOSED = {"DT": ["the", "a", "this"], "IN": ["of", "in", "with", "near"], ".": ["."]}


class TreeInput(NamedTuple):
    """A sentence with tags, names, heads and labels of arcs."""

    tokens: list[str]
    tags: list[str]
    names: list[str]
    heads: list[int]
    labels: list[str]


def make_lexicon() -> dict[str, list[str]]:
    """Return words by tag."""
    rng = rng_of("lexicon")
    words = dict(CLOSED)
    for tag, size in LEXICON_SIZES.items():
        made = ["".join(rng.choice(SYLLABLES, int(rng.integers(2, 4)))) + ENDINGS[tag] for _ in range(size)]
        made = sorted(set(made))
        words[tag] = [word.capitalize() for word in made] if tag == "NNP" else made
    return words


class _Builder:
    """Puts the tokens of one sentence together."""

    def __init__(self, rng: np.random.Generator, lexicon: dict[str, list[str]]) -> None:
        self.rng, self.lexicon = rng, lexicon
        self.tree = TreeInput([], [], [], [], [])

    def add(self, tag: str, head: int, label: str, name: str = "O") -> int:
        words = self.lexicon[tag]
        rank = min(int(self.rng.exponential(len(words) / 3)), len(words) - 1)
        for cells, value in zip(self.tree, (words[rank], tag, name, head, label), strict=True):
            cells.append(value)
        return len(self.tree.tokens)

    def noun_phrase(self, label: str, head: int, depth: int = 0) -> int:
        """Add a phrase and return the place of its noun, whose head may be set later."""
        if self.rng.random() < 0.35:
            kind = "PER" if label == "subj" else "LOC"
            n = int(self.rng.integers(1, 3))
            places = [self.add("NNP", 0, "name", f"{'I' if k else 'B'}-{kind}") for k in range(n)]
            for place in places[:-1]:
                self.tree.heads[place - 1] = places[-1]
            noun = places[-1]
        else:
            before = [self.add("DT", 0, "det")]
            before += [self.add("JJ", 0, "mod") for _ in range(int(self.rng.integers(0, 3)))]
            noun = self.add("NN", head, label)
            for place in before:
                self.tree.heads[place - 1] = noun
        self.tree.heads[noun - 1], self.tree.labels[noun - 1] = head, label
        if depth < 1 and self.rng.random() < 0.3:
            self.noun_phrase("pobj", self.add("IN", noun, "prep"), depth + 1)
        return noun


def make_trees(name: str, n: int) -> list[TreeInput]:
    """Draw sentences from a tiny grammar."""
    rng, lexicon, trees = rng_of(name), make_lexicon(), []
    for _ in range(n):
        build = _Builder(rng, lexicon)
        subject = build.noun_phrase("subj", 0)
        verb = build.add("VBD", 0, "root")
        build.tree.heads[subject - 1] = verb
        if rng.random() < 0.7:
            build.noun_phrase("obj", verb)
        if rng.random() < 0.3:
            build.add("RB", verb, "adv")
        if rng.random() < 0.4:
            build.noun_phrase("pobj", build.add("IN", verb, "prep"))
        build.add(".", verb, "punct")
        trees.append(build.tree)
    return trees


FIELDS = {
    "SIZE": ["room", "rooms", "square", "feet", "large", "studio", "two", "three"],
    "RENT": ["rent", "month", "deposit", "dollars", "per", "900", "1200", "lease"],
    "PLACE": ["near", "park", "street", "downtown", "quiet", "blocks", "school", "shops"],
    "CONTACT": ["call", "email", "phone", "please", "evenings", "appointment", "ask", "visit"],
}


def make_ads(name: str, n: int) -> list[tuple[list[str], list[str]]]:
    """Draw ads: tokens and the field of each."""
    rng, ads = rng_of(name), []
    for _ in range(n):
        tokens: list[str] = []
        tags: list[str] = []
        for field in rng.permutation(list(FIELDS))[: int(rng.integers(2, 5))]:
            size = int(rng.integers(3, 8))
            tokens += [str(rng.choice(FIELDS[str(field)] if rng.random() < 0.7 else FILLERS)) for _ in range(size)]
            tokens.append(",")
            tags += [str(field)] * (size + 1)
        ads.append((tokens, tags))
    return ads


SENSES = {"bank.n": ["bank.n%1", "bank.n%2"], "pitch.n": ["pitch.n%1", "pitch.n%2", "pitch.n%3"]}


class SenseInput(NamedTuple):
    """A word in context; `sense` is the true one."""

    word: str
    tokens: list[str]
    target: int
    sense: str


def make_senses(name: str, n_each: int) -> list[SenseInput]:
    """Draw contexts of every word of `SENSES`."""
    rng, contexts = rng_of(name), []
    for word, senses in SENSES.items():
        for _ in range(n_each):
            code = int(rng.integers(0, len(senses)))
            before, after = _text(code, rng).split(), _text(code, rng).split()
            contexts.append(SenseInput(word, [*before, word[:-2], *after], len(before), senses[code]))
    return contexts


def write_corpora(folder: Path) -> None:
    """Write the files of the four corpora: sentences with tags and trees, names, ads, and senses."""
    trees = make_trees("trees", 260)
    train, new, raw = trees[:40], trees[40:60], trees[60:]
    _write_columns(folder / "pos.tsv", [(t.tokens, t.tags) for t in train])
    _write_columns(folder / "names.tsv", [(t.tokens, t.names) for t in train])
    _write_conllu(folder / "trees.conllu", train)
    _write_conllu(folder / "new.conllu", new)
    _write_text(folder / "new.txt", [t.tokens for t in new])
    _write_text(folder / "raw.txt", [t.tokens for t in raw])
    lexicon = make_lexicon()
    _write_lists(folder / "tags-list.tsv", {tag: words[:3] for tag, words in lexicon.items()})
    ads = make_ads("ads", 130)
    _write_columns(folder / "ads.tsv", ads[:30])
    _write_text(folder / "ads-new.txt", [tokens for tokens, _ in ads[30:50]])
    _write_text(folder / "ads-raw.txt", [tokens for tokens, _ in ads[50:]])
    _write_lists(folder / "fields-list.tsv", {field: words[:3] for field, words in FIELDS.items()})
    contexts = make_senses("senses", 40)
    _write_senses(folder / "senses.tsv", contexts[::2])
    _write_senses(folder / "senses-new.tsv", contexts[1::2])
    _write_text(folder / "senses-raw.txt", [context.tokens for context in make_senses("senses raw", 60)])


def _write_columns(path: Path, sentences: list[tuple[list[str], list[str]]]) -> None:
    blocks = ["".join(f"{a}\t{b}\n" for a, b in zip(*pair, strict=True)) for pair in sentences]
    path.write_text("\n".join(blocks), encoding="utf-8")


def _write_conllu(path: Path, trees: list[TreeInput]) -> None:
    blocks = []
    for tree in trees:
        rows = zip(tree.tokens, tree.tags, tree.heads, tree.labels, strict=True)
        blocks.append("".join(f"{k}\t{w}\t_\t_\t{t}\t_\t{h}\t{a}\t_\t_\n" for k, (w, t, h, a) in enumerate(rows, 1)))
    path.write_text("\n".join(blocks) + "\n", encoding="utf-8")


def _write_text(path: Path, sentences: list[list[str]]) -> None:
    path.write_text("".join(" ".join(tokens) + "\n" for tokens in sentences), encoding="utf-8")


def _write_lists(path: Path, lists: dict[str, list[str]]) -> None:
    path.write_text("".join(label + "\t" + " ".join(words) + "\n" for label, words in lists.items()), encoding="utf-8")


def _write_senses(path: Path, contexts: list[SenseInput]) -> None:
    rows = "".join(f"{' '.join(c.tokens)}\t{c.word}\t{c.target}\t{c.sense}\n" for c in contexts)
    path.write_text(f"text\tword\ttarget_index\tsense\n{rows}", encoding="utf-8")
