"""The manual: its examples and Python blocks run, its commands exist, and its links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from handful.cli import group

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
RUN_ELSEWHERE = {"howto-condensing.md", "howto-text.md"}  # tests/test_house.py, tests/cli/test_howto_text.py

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
for name in ("train.conllu", "test.conllu"):
    write_conllu(name, trees)
handful.save(DependencyParser(tags="xpos").fit(trees), "english.handful")
handful.save(CRF("pos").fit([t.sentence.tokens for t in trees], [["NNP", "VBD"]] * 12), "tags.handful")
open("news.txt", "w").write("Rome fell\\nTroy fell\\n" * 20)
""",
}


def python_blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def command_lines():
    for page in [ROOT / "README.md", *PAGES]:
        for block in re.findall(r"```\n(.*?)```", page.read_text(), re.DOTALL):
            for line in re.sub(r"\\\n\s*", " ", block).splitlines():
                if line.startswith("handful "):
                    yield page.name, line.split("  #")[0].strip()


@pytest.mark.parametrize("script", sorted((DOCS / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_of_the_gallery_run(script, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "page", [p for p in PAGES if python_blocks(p) and p.name not in RUN_ELSEWHERE], ids=lambda p: p.stem
)
def test_python_blocks_run_one_after_the_other(page, tmp_path):
    command = [sys.executable, "-c", "\n".join([GIVEN.get(page.name, ""), *python_blocks(page)])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


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


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda p: p.stem)
def test_links_lead_somewhere(page):
    made = {"methods", "gallery", "reference"}
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if not re.match(r"[a-z]+:", target) and target.split("/")[0] not in made:
            assert (page.parent / target).exists(), target
