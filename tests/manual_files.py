"""The commands of the README and the manual, and the files that they name, made small by the project's own generators."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import polars as pl
from plain_text import write_text
from sklearn.datasets import load_wine
from tiny_encoder import write_encoder

import handful
from handful.data.conll import write_conll, write_conllu
from handful.data.records import Sentence, Tree
from handful.parsing.parser import DependencyParser
from handful.tagging.crf import CRF
from papers.generated import make_two_moons
from papers.generated_english import make_sense_contexts, make_tagged_sentences

ROOT = Path(__file__).parents[1]
LANGUAGES = ("", "console", "sh")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# Pages whose Python finds what their commands have left; that for spaCy is run by tests/test_manual.py.
PYTHON_AFTER = ("howto-senses.md", "howto-deployment.md", "howto-parsing.md", "howto-text.md")

LIST = "DET\tthe a\nNOUN\tdog company cat\nVERB\tsaw sold met\nPUNCT\t. ,\n"
WORDS = {"DET": ["the", "a"], "NOUN": ["dog", "company", "cat", "shop", "boat"], "VERB": ["saw", "sold", "met", "kept"]}
TOPICS = {"good": ["fine", "great", "lovely", "superb"], "bad": ["awful", "poor", "dull", "sad"]}


def commands_of(page):
    """Return the commands of a page in their order, each once."""
    text = re.sub(r"\\\n\s*", " ", page.read_text())
    found = []
    pattern = r"^```([^\n]*)\n(.*?)^```$|(^\| )?`(handful [^`]+)`"
    for language, block, first_cell, inline in re.findall(pattern, text, re.DOTALL | re.MULTILINE):
        lines = [line.removeprefix("$ ") for line in block.splitlines() if language in LANGUAGES]
        found += [line.split("  #")[0].strip() for line in lines if line.startswith("handful ")]
        is_whole = first_cell or re.search(r"\.\w|--", inline)
        if inline and is_whole and not re.search(r"\b(NAME|KEY|FOLDER)\b", inline):
            found.append(" ".join(inline.split()))
    return [shlex.split(command)[1:] for command in dict.fromkeys(found)]


COMMANDS = {page.name: commands_of(page) for page in PAGES}


def write_all(folder: Path) -> None:
    """Write every file into a folder."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        _write_tables()
        _write_texts()
        _write_sentences()
        _write_senses()
    finally:
        os.chdir(here)


def arrange(folder: Path, page: str, text: str) -> None:
    """Name files as a page does, where pages use one name for different things."""
    if "--target kind" in text:
        for path in (folder / "data.csv", folder / "new.csv"):
            path.write_text(path.read_text().replace("label", "kind", 1))
    if "--target Churn" in text:
        table = pl.read_csv(folder / "data.csv", infer_schema=False).rename({"label": "Churn"})
        table = table.with_columns(pl.col("Churn").replace({"good": "yes", "bad": "no"}))
        for name, cells in (("churn.csv", table), ("new.csv", pl.read_csv(folder / "new.csv"))):
            number = pl.int_range(pl.len())
            more = {
                "zip": pl.format("1{}", number % 7),
                "note": pl.format("customer of the year {}", number),
                "id": pl.format("C{}", number),
            }
            cells.with_columns(**more).write_csv(folder / name)
    if "--target segment" in text:
        cells = (folder / "data.csv").read_text().replace("label", "segment", 1)
        (folder / "customers.csv").write_text(cells)
    if page in ("tutorial.md", "README.md"):
        wine = load_wine(as_frame=True).frame
        labels = np.where(np.arange(len(wine)) % 10 == 0, "cultivar " + wine.pop("target").astype(str), None)
        pl.from_pandas(wine).with_columns(cultivar=pl.Series(labels.tolist())).write_csv(folder / "wine.csv")
    if page == "howto-texts.md":
        shutil.copy(folder / "new-texts.csv", folder / "new.csv")
    if page == "howto-senses.md":
        shutil.copy(folder / "contexts.tsv", folder / "train.tsv")
        shutil.copy(folder / "contexts.tsv", folder / "new.tsv")
    if page in ("howto-witnesses.md", "commands.md"):
        shutil.copy(folder / "train.tsv", folder / "llm.tsv")
    if page in ("howto-prototypes.md", "README.md", "commands.md", "index.md", "results.md", "howto-studio.md"):
        shutil.copy(folder / "plain.txt", folder / "text.txt")


def label_by_hand(path: Path) -> None:
    """Fill in what the reader was asked to fill in."""
    cells = pl.read_csv(path, infer_schema=False)
    column = next(name for name in ("kind", "label", "segment", "cultivar") if name in cells.columns)
    classes = ("cultivar 0", "cultivar 1") if column == "cultivar" else ("good", "bad")
    answers = pl.Series([classes[row % 2] for row in range(cells.height)])
    cells.with_columns(answers.alias(column)).write_csv(path)


def write_wrong_labels(path: Path, column: str) -> None:
    """Write two clusters of rows, two of which have the label of the other cluster."""
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 2
    points = 6.0 * codes[:, None] + rng.normal(size=(60, 2))
    labels = np.array(["good", "bad"])[np.where(np.arange(60) < 2, 1 - codes, codes)]
    table = pl.DataFrame(points.round(3), schema=["width", "height"])
    table.with_columns(pl.Series(column, labels.tolist())).write_csv(path)


def _write_tables() -> None:
    X, _, truth = make_two_moons(random_state=0)
    named = np.array(["good", "bad"])[truth]
    kept = np.where(np.arange(len(named)) % 3 == 0, named, None)
    table = pl.DataFrame(X, schema=["width", "height"]).with_columns(label=pl.Series(kept.tolist(), dtype=pl.String))
    for name in ("data", "table"):
        table.write_csv(f"{name}.csv")
    table.drop("label").head(9).write_csv("new.csv")
    cheap = {name: np.where(np.arange(len(named)) % n, named, "good") for name, n in (("llm_label", 7), ("rules", 3))}
    table.with_columns(**{name: pl.Series(cells.tolist()) for name, cells in cheap.items()}).write_csv("messages.csv")
    for name in ("table", "data", "model"):
        handful.save(handful.fit(table, "label", method="kernel-ridge"), f"{name}.handful")


def _write_texts() -> None:
    rng = np.random.default_rng(0)
    lines = []
    for number in range(120):
        label = "good" if number % 2 else "bad"
        text = f"a {rng.choice(TOPICS[label])} and {rng.choice(TOPICS[label])} thing number {number}"
        lines.append(f"{text},{label if number < 20 else ''}")
    Path("texts.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    Path("new-texts.csv").write_text("text\na great and superb thing\n")
    write_encoder("encoder", [*TOPICS["good"], *TOPICS["bad"], "a", "and", "thing"])


def _write_sentences() -> None:
    made = list(make_tagged_sentences(80, random_state=0))
    trees, others = made[:40], [tree.sentence for tree in made[40:]]
    sentences = [tree.sentence for tree in trees]
    both = [Sentence(s.tokens, {"xpos": s["pos"], "upos": s["pos"]}) for s in sentences]
    trees = [Tree(s, t.heads, t.labels) for s, t in zip(both, trees, strict=True)]
    for name in ("trees", "train", "dev", "tagged", "test"):
        write_conllu(f"{name}.conllu", trees)
    for name in ("train", "dev"):
        write_conll(f"{name}.tsv", sentences, ("token", "ner"))
    write_text("raw.txt", others)
    packed = Path("raw.txt").read_bytes()
    for name in ("news.txt", "wiki.txt", "new.txt"):
        Path(name).write_bytes(packed)
    Path("news.txt.gz").write_bytes(gzip.compress(packed))
    Path("news.txt.xz").write_bytes(lzma.compress(packed))
    Path("text.txt").write_text("The old dog, which barks, sleeps. Mr. Low didn't see it!\n")

    words = [list(s.tokens) for s in sentences]
    entities = CRF("ner", max_iter=20).fit(words, [list(s["ner"]) for s in sentences])
    for name in ("ner", "names"):
        handful.save(entities, f"{name}.handful")
    handful.save(CRF("pos", max_iter=20).fit(words, [list(s["pos"]) for s in sentences]), "tagger.handful")
    for name in ("english", "parser"):
        handful.save(DependencyParser(tags="xpos").fit(trees), f"{name}.handful")
    handful.save(CRF("pos", max_iter=20).fit(words, [list(s["xpos"]) for s in both]), "tags.handful")

    rng = np.random.default_rng(0)
    order = ("DET", "NOUN", "VERB", "DET", "NOUN")
    plain = [[*(str(rng.choice(WORDS[tag])) for tag in order), "."] for _ in range(200)]
    Path("list.tsv").write_text(LIST)
    write_text("plain.txt", plain)
    by_hand = [Sentence(tuple(words), {"tag": (*order, "PUNCT")}) for words in plain[:20]]
    write_conll("tagged-by-hand.tsv", by_hand, ("token", "tag"))


def _write_senses() -> None:
    made = [o for o in make_sense_contexts(n_labeled=30, n_unlabeled=0, random_state=0) if o.word.endswith(".n")]
    rows = [{"id": o.id, "text": " ".join(o.tokens), "word": o.word, "sense": o.senses[0]} for o in made]
    pl.DataFrame(rows).write_csv("contexts.tsv", separator="\t")
    instances = []
    for o in made:
        words = [f"<head>{word}</head>" if place == o.target else word for place, word in enumerate(o.tokens)]
        answer = f'<answer instance="{o.id}" senseid="{o.senses[0]}"/>'
        instances.append((o.word, f'<instance id="{o.id}">{answer}<context>{" ".join(words)}</context></instance>'))
    entries = [
        f'<lexelt item="{word}">' + "".join(text for other, text in instances if other == word) + "</lexelt>"
        for word in sorted({word for word, _ in instances})
    ]
    Path("train.xml").write_text("\n".join(["<corpus lang='english'>", *entries, "</corpus>"]))
    key = "".join(f"{o.word} {o.id} {o.senses[0]}\n" for o in made)
    Path("gold.key").write_text(key)
    Path("answers.key").write_text(key)
    senses = sorted({o.senses[0] for o in made})
    Path("sensemap").write_text("".join(f"{sense} 1 {sense.split('%')[0]}\n" for sense in senses))
