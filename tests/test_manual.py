"""The manual: its examples and Python blocks run, its commands exist, and its links lead somewhere."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from handful.cli import group, main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
# Commands that take minutes, or a cluster (tests/cli/test_shards.py).
OPTIONS_ONLY = {"howto-condensing.md", "scale.md"}
# tests/test_house.py, tests/cli/test_howto_text.py, and below with spaCy
RUN_ELSEWHERE = {"howto-condensing.md", "howto-text.md", "howto-from-spacy.md"}

# What the reader of a page has at hand: made sentences, trees and models in place of their own.
GIVEN = {
    "howto-sklearn-crfsuite.md": """
from handful.corpora.make import make_tagged_sentences
made = [tree.sentence for tree in make_tagged_sentences(30, random_state=0)]
sentences, tags = [s.tokens for s in made], [list(s["ner"]) for s in made]
much_raw_text = sentences * 3
""",
    "howto-prototypes.md": """
sentences = [[d, n, v] for d in ("the", "a") for n in ("dog", "cat", "cow") for v in ("sat", "ran", "ate")] * 9
tags = [None] * len(sentences)
""",
    "howto-parsing.md": """
import handful
from handful.core.records import Sentence, Tree
from handful.corpora.formats import write_conllu
from handful.parsing import DependencyParser
from handful.tagging import CRF
columns = {"upos": ("PROPN", "VERB"), "xpos": ("NNP", "VBD")}
trees = [Tree(Sentence((name, "fell"), columns), (2, 0), ("nsubj", "root")) for name in ("Rome", "Troy", "Ur") * 4]
for name in ("train.conllu", "dev.conllu", "tagged.conllu", "test.conllu"):
    write_conllu(name, trees)
handful.save(DependencyParser(tags="xpos").fit(trees), "english.handful")
handful.save(CRF("pos").fit([t.sentence.tokens for t in trees], [["NNP", "VBD"]] * 12), "tags.handful")
open("news.txt", "w").write("Rome fell\\nTroy fell\\n" * 20)
""",
}

# The files that the commands of a page find, and that its Python finds after them.
FILES = {
    "howto-senses.md": """
import itertools
lines = ["id\ttext\tword\tsense"]
for number, (sense, word, end) in enumerate(
    itertools.product(("money", "river"), ("old", "new", "small", "large", "good"), ("today", "again", "there"))
):
    around = "lent loans and money" if sense == "money" else "of the muddy stream"
    lines.append(f"{number}\tthe {word} bank {around} {end}\tbank.n\t{sense}")
for name in ("train.tsv", "new.tsv"):
    open(name, "w").write("\\n".join(lines) + "\\n")
open("raw.txt", "w").write("the bank lent loans .\\nfish near the bank of a stream .\\n" * 20)
""",
    "howto-deployment.md": """
import handful
import polars as pl
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
table = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(kind=pl.Series([f"kind {c}" for c in y]))
handful.save(handful.fit(table, "kind", methods=["shrunk-bayes"], trials=2), "table.handful")
table.drop("kind").head(9).write_csv("new.csv")
""",
}

FILES["howto-parsing.md"] = GIVEN["howto-parsing.md"]


def blocks(page, *languages):
    found = re.findall(r"^```([^\n]*)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)  # {image} is one, too
    return [text for language, text in found if language in languages]


def python_blocks(page):
    return blocks(page, "python")


def command_lines():
    for page in [ROOT / "README.md", *PAGES]:
        for block in blocks(page, "", "console"):
            for line in re.sub(r"\\\n\s*", " ", block).splitlines():
                if line.removeprefix("$ ").startswith("handful "):
                    yield page.name, line.removeprefix("$ ").split("  #")[0].strip()


@pytest.mark.parametrize("script", sorted((DOCS / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_of_the_gallery_run(script, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def run_python(code, folder):
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [p for p in PAGES if p.name in FILES], ids=lambda p: p.stem)
def test_commands_and_python_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_python(FILES[page.name], tmp_path)
    commands = re.findall(r"^\$ handful (.*)$", re.sub(r"\\\n\s*", " ", page.read_text()), re.MULTILINE)
    assert commands
    for command in commands:
        with pytest.raises(SystemExit) as done:
            main(shlex.split(command))
        assert done.value.code == 0, (command, capsys.readouterr().err)
    run_python("\n".join([GIVEN.get(page.name, ""), *python_blocks(page)]), tmp_path)


def test_the_page_on_spacy_runs(tmp_path):
    pytest.importorskip("spacy")
    made = (
        "import handful\nfrom handful.tagging import CRF\n"
        "handful.save(CRF('pos').fit([['Rome', 'fell', '.']] * 3, [['B-LOC', 'O', 'O']] * 3), 'names.handful')"
    )
    run_python("\n".join([made, *python_blocks(DOCS / "howto-from-spacy.md")]), tmp_path)


def test_blocks_that_show_commands_to_type_are_run():
    shown = {p.name for p in PAGES if "```console" in p.read_text()}
    assert shown <= {*FILES, *RUN_ELSEWHERE, *OPTIONS_ONLY}


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if p.name not in FILES and python_blocks(p) and p.name not in RUN_ELSEWHERE],
    ids=lambda p: p.stem,
)
def test_python_blocks_run_one_after_the_other(page, tmp_path):
    run_python("\n".join([GIVEN.get(page.name, ""), *python_blocks(page)]), tmp_path)


@pytest.mark.parametrize(("page", "line"), sorted(set(command_lines())))
def test_commands_of_the_manual_have_these_options(page, line):
    words = shlex.split(re.sub(r"\[[^\]]*\]|\.\.\.|[|>].*$", "", line))[1:]
    command, context = group, click.Context(group)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None or command is not group, f"{page}: handful {words[0]} is no command"
        if found is None:
            break
        command, context = found, click.Context(found, parent=context)
        words = words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"--help", "-h", "--version"}
    if isinstance(command, click.Group):  # `fit` hands what follows to `fit table`
        table = command.get_command(context, "table")
        known |= {o for p in (table.params if table else ()) for o in (*p.opts, *p.secondary_opts)}
    used = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    assert set(used) <= known, f"{page}: {line}"


ROOMS = (
    "neighbors",
    "tagging",
    "parsing",
    "senses",
    "representations",
    "corpora",
    "evaluation",
    "labeling",
    "experiment",
)
# Elsewhere: handful.compare, .load and .save; no page of their own: a dictionary, and a name for two types.
ALSO = {"experiment.compare", "methods.load", "methods.save", "methods.CATALOGUE", "compute.Engine"}


@pytest.mark.parametrize("room", [*ROOMS, "linear", "features", "compute", "methods"])
def test_every_public_name_stands_in_the_reference(room):
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text(), re.MULTILINE))
    public = {f"{room}.{name}" for name in importlib.import_module(f"handful.{room}").__all__}
    assert public - ALSO <= listed
    assert {name for name in listed if name.startswith(f"{room}.")} <= public


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda p: p.stem)
def test_links_lead_somewhere(page):
    made = {"methods", "gallery", "reference"}
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if not re.match(r"[a-z]+:", target) and target.split("/")[0] not in made:
            assert (page.parent / target).exists(), target
