"""The manual: its examples and Python blocks run, its commands have their options, and its links lead somewhere."""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path

import click
import pytest
from manual_files import COMMANDS, PYTHON_AFTER
from quick_start import run

from handful.cli import group

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
# tests/test_manual_commands.py, below with spaCy, tests of active and of tagging
RUN_ELSEWHERE = {*PYTHON_AFTER, "howto-from-spacy.md", "howto-labeling.md", "howto-prototypes.md"}

# What the reader of a page has at hand: made sentences, trees and models in place of their own.
GIVEN = {
    "howto-sklearn-crfsuite.md": """
from papers.generated_english import make_tagged_sentences
made = [tree.sentence for tree in make_tagged_sentences(30, random_state=0)]
sentences, tags = [s.tokens for s in made], [list(s["ner"]) for s in made]
much_raw_text = sentences * 3
""",
}

# What no page is about: how good the results are.
QUICK = """
from handful.comparison.trials import Limits
from handful.models.ensemble import Ensemble
Limits.__init__.__defaults__ = (2.0, None, 3, *Limits.__init__.__defaults__[3:])  # 3 splits in place of 30
Ensemble.__init__.__kwdefaults__["n_trees"] = 10
"""


def blocks(page, *languages):
    found = re.findall(r"^```([^\n]*)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)  # {image} is one, too
    return [text for language, text in found if language in languages]


def python_blocks(page):
    return blocks(page, "python")


@pytest.mark.parametrize("script", sorted((DOCS / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_of_the_gallery_run(script, tmp_path):
    run_python(script.read_text(), tmp_path)


def run_python(code, folder):
    done = run(code=QUICK + code, cwd=folder, env={**os.environ, "MPLBACKEND": "agg"})
    assert done.returncode == 0, done.stderr


def test_the_page_on_spacy_runs(tmp_path):
    pytest.importorskip("spacy")
    made = (
        "import handful\nfrom handful.tagging import CRF\n"
        "handful.save(CRF('pos').fit([['Rome', 'fell', '.']] * 3, [['B-LOC', 'O', 'O']] * 3), 'names.handful')\n"
        "import spacy\nspacy.tokens.DocBin(docs=[spacy.blank('en')('Rome fell.')]).to_disk('train.spacy')"
    )
    run_python("\n".join([made, *python_blocks(DOCS / "howto-from-spacy.md")]), tmp_path)


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if python_blocks(p) and p.name not in RUN_ELSEWHERE],
    ids=lambda p: p.stem,
)
def test_python_blocks_run_one_after_the_other(page, tmp_path):
    run_python("\n".join([GIVEN.get(page.name, ""), *python_blocks(page)]), tmp_path)


EVERY = [(page, tuple(words)) for page, commands in COMMANDS.items() for words in commands]


@pytest.mark.parametrize(("page", "words"), EVERY, ids=[f"{page}: {' '.join(words)}" for page, words in EVERY])
def test_commands_of_the_manual_have_these_options(page, words):
    line = " ".join(words)
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


PACKAGES = ("active", "comparison", "neighbors", "parsing", "representations", "senses", "tagging")


def listed_names():
    return re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text(), re.MULTILINE)


def named(name):
    module, _, attribute = f"handful.{name}".rpartition(".")
    return getattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package):
    listed = [named(name) for name in listed_names()]
    for name in importlib.import_module(f"handful.{package}").__all__:
        assert any(named(f"{package}.{name}") is item for item in listed), name


def test_every_name_of_the_reference_is_public():
    for name in listed_names():
        module, _, attribute = f"handful.{name}".rpartition(".")
        loaded = importlib.import_module(module)
        assert attribute in getattr(loaded, "__all__", dir(loaded)), name


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda p: p.stem)
def test_links_lead_somewhere(page):
    made = {"methods", "gallery", "reference"}
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if not re.match(r"[a-z]+:", target) and target.split("/")[0] not in made:
            assert (page.parent / target).exists(), target
