"""Every file that a command reads is opened once; raw text that is counted in parts is opened anew for each part."""

from __future__ import annotations

import builtins
import os
from collections import Counter

import pytest

from handful.cli import main

ROWS = "height,width,shape,label\n" + "".join(
    f"{i % 2 * 3 + i / 50:.2f},{i / 25:.2f},{'xyz'[i % 3]},{('no', 'yes')[i % 2] if i < 30 else ''}\n"
    for i in range(60)
)
TAGGED = "the\tD\ndog\tN\nruns\tV\n\na\tD\ncat\tN\nsees\tV\nthe\tD\nhouse\tN\n\n" * 8
TREE = "1\tdogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\trun\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
COMMANDS = [
    ("fit table rows.csv --target label --method k-nn -o rows.handful", {"rows.csv": 1}),
    # Its head is looked at once more, for the separator of the answers.
    ("predict rows.handful rows.csv -o answers.csv", {"rows.csv": 2, "rows.handful": 1}),
    ("next rows.csv --target label -n 3", {"rows.csv": 1}),
    ("inspect rows.handful", {"rows.handful": 1}),
    ("fit tagger tagged.tsv --dev dev.tsv -o tags.handful --max-iter 5", {"tagged.tsv": 1, "dev.tsv": 1}),
    ("predict tags.handful raw.txt -o tagged-too.tsv", {"raw.txt": 1, "tags.handful": 1}),
    ("fit parser trees.conllu -o trees.handful --max-iter 2", {"trees.conllu": 1}),
    ("predict trees.handful trees.conllu -o parsed.conllu", {"trees.conllu": 1, "trees.handful": 1}),
    # Cut into pieces; each piece is told from others by its content; then it is counted by a worker.
    (
        "condense tags.handful tagged.tsv raw.txt --mode bins -o small.handful",
        {"tags.handful": 1, "tagged.tsv": 1, "raw.txt": 2},
    ),
]


def test_every_file_is_opened_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "tagged.tsv").write_text(TAGGED)
    (tmp_path / "dev.tsv").write_text(TAGGED)
    (tmp_path / "raw.txt").write_text("the dog runs\nthe cat sees a house\n" * 20)
    (tmp_path / "trees.conllu").write_text(TREE * 6)
    opened: Counter[str] = Counter()
    really_open = builtins.open

    def counting_open(file, mode="r", *args, **options):
        if "w" not in mode and not isinstance(file, int):
            opened[os.path.basename(os.fspath(file))] += 1
        return really_open(file, mode, *args, **options)

    monkeypatch.setattr(builtins, "open", counting_open)
    for command, expected in COMMANDS:
        opened.clear()
        with pytest.raises(SystemExit) as done:
            main(command.split())
        assert done.value.code == 0, (command, capsys.readouterr().err)
        assert {name: opened[name] for name in expected} == expected, command
