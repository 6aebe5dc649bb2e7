"""The commands and the Python of docs/howto-text.md, run as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from handful.cli import main
from handful.core.records import Sentence, Tree
from handful.corpora.formats import write_conll, write_conllu, write_text
from handful.corpora.make import make_tagged_sentences

HOWTO = (Path(__file__).parents[2] / "docs" / "howto-text.md").read_text()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with the files of the page."""
    trees = list(make_tagged_sentences(60, random_state=0))
    sentences = [tree.sentence for tree in trees]
    tagged = [Sentence(s.tokens, {"xpos": s["pos"], "upos": s["pos"]}) for s in sentences]
    write_conllu(tmp_path / "trees.conllu", [Tree(s, t.heads, t.labels) for s, t in zip(tagged, trees, strict=True)])
    write_conll(tmp_path / "train.tsv", sentences, ("token", "pos"))
    write_text(tmp_path / "raw.txt", sentences)
    (tmp_path / "text.txt").write_text("The old dog, which barks, sleeps. Mr. Low didn't see it!\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_runs(folder, capsys):
    commands = re.findall(r"^\$ handful (.*)$", HOWTO, re.MULTILINE)
    assert len(commands) == 9
    for command in commands:
        with pytest.raises(SystemExit) as done:
            main([*shlex.split(command), *(["--jobs", "1"] if "fit tagger" in command else [])])
        told = capsys.readouterr()
        assert done.value.code == 0, (command, told.err)
    assert (folder / "parsed.conllu").read_text().count("TokenRange=") == 16
    assert (folder / "spans.jsonl").read_text().count('"tokens"') == 2

    blocks = re.findall(r"```python\n(.*?)```", HOWTO, re.DOTALL)
    for block in blocks:
        if "spacy" not in block:
            exec(compile(block, "howto", "exec"), {})
    told = capsys.readouterr().out
    assert told.startswith("[['D', 'N', 'V']]\n")
    assert told.count("\n") == 4
