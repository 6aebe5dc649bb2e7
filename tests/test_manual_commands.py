"""Every command of the README and the manual is run, on small files of the kind that its page speaks of.

Commands stand in blocks of lines, and in the running text where they name a file or an option. They run in the order of
their page, in one folder (tests/manual_files.py), with settings that make them quick; the Python of the page follows.
"""

from __future__ import annotations

import glob
import re
import shutil
import signal
import time
import urllib.request
from pathlib import Path

import pytest
from cli_run import WRITING
from manual_files import COMMANDS, LANGUAGES, PAGES, PYTHON_AFTER, arrange, label_by_hand, write_all, write_wrong_labels
from quick_start import Process

from handful.cli import main

# Added to what begins so: fewer trials, draws and iterations, and no processes.
QUICK = {
    r"\S+ fit \S+\.csv.*--also": "--jobs 1",
    r"\S+ fit \S+\.csv(?!.*--method)(?!.*--also)": "--method k-nn --jobs 1",
    r"\S+ fit \S+\.csv.*--method": "--jobs 1 --trials 3",
    r"\S+ compare \S+\.csv(?!.*--with)": "--methods k-nn,logistic-regression --n-splits 2 --jobs 1",
    r"\S+ compare \S+\.csv.*--with": "--methods k-nn --n-splits 2 --jobs 1",
    r"\S+ compare \S+\.tsv(?!.*--methods)": "--methods crf,frequent-tag --n-splits 2 --jobs 1",
    r"\S+ compare \S+\.tsv.*--methods": "--jobs 1",
    r"\S+ curve ": "--n-splits 2",
    r"\S+ fit tagger ": "--max-iter 10 --jobs 1 --encoding as-is --outside-bias 0 --templates general",
    r"\S+ fit parser ": "--max-iter 2 --jobs 1",
    r"\S+ fit prototypes ": "--max-iter 5 --similarity none --jobs 1",
    r"\S+ fit senses ": "--jobs 1",
    r"\S+ condense (?!.*--rows)(?!.*--html)": "--max-iter 5",
    r"\S+ condense .*(--rows|--html)": "--yes",
    r"\S+ export ": "--yes",
}

# Commands that are not run here, each with the reason.
NOT_RUN = {
    "demo": "tests/cli/test_demo.py runs it",
    "vectors distill": "needs torch and a model of 90 MB; tests/cli/test_vectors.py runs it with a made model",
    "fit tagger train.jsonl --unlabeled raw.txt": "its file is written by spaCy, which the tests do not install",
}


def reason_not_to_run(page, words):
    if (page == "scale.md" and words[-2:] == ["--jobs", "1"]) or words[-1:] == ["wiki.counts"]:
        return "was run once on a large text, whose figures the page tells"
    return next((why for beginning, why in NOT_RUN.items() if " ".join(words).startswith(beginning)), None)


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("manual")
    write_all(folder)
    return folder


@pytest.fixture
def dask_address():
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, processes=False, dashboard_address=None, protocol="tcp") as cluster:
        yield cluster.scheduler_address


def run(words, capsys):
    with pytest.raises(SystemExit) as done:
        main(words)
    assert done.value.code == 0, (words, capsys.readouterr().err)


def quick(page, words):
    line = " ".join([page, *words])
    added = next((more for start, more in QUICK.items() if re.match(start, line)), "").split()
    # What the manual says stays as it says it.
    kept = [at for at in range(0, len(added), 2) if added[at] not in words]
    force = ["--force"] if words[0] in WRITING else []  # pages name one file several times
    return [*words, *(word for at in kept for word in added[at : at + 2]), *force]


def open_and_close(words, folder):
    """Start the studio, get its page, and end it as Ctrl-C does; it begins anew, whatever was done before."""
    for journal in folder.glob("*.studio"):
        journal.unlink()
    with Process((*words, "--no-browser"), cwd=folder) as process:
        try:
            link = re.search(r"http://\S+", process.stdout.readline().decode())[0]
            with urllib.request.urlopen(link, timeout=60) as page:
                assert page.status == 200
        finally:
            process.send_signal(signal.SIGINT)
        until = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        assert process.returncode in (0, 130), words


def prepare(words):
    """Do what a person does before the next command: fill in labels, and find rows again that a colleague labeled."""
    if words[0] == "next" and "-o" in words:  # the file of the last time was merged
        Path(words[words.index("-o") + 1]).unlink(missing_ok=True)
    if words[:2] == ["check", "data.csv"]:
        write_wrong_labels(Path("data.csv"), words[words.index("--target") + 1])
    if words[0] != "merge" or not words[1].endswith(".csv"):
        return
    Path("data.merged.csv").unlink(missing_ok=True)  # looked at, and put away
    for name in ("ann.csv", "bob.csv"):
        if name in words:
            shutil.copy("todo.csv", name)
    for name in (w for w in words[2:] if w.endswith(".csv") and Path(w).exists()):
        label_by_hand(Path(name))


@pytest.mark.parametrize("page", [page for page in PAGES if COMMANDS[page.name]], ids=lambda p: p.stem)
def test_commands_of_a_page_run(page, files, tmp_path, monkeypatch, capsys, request):
    folder = tmp_path / "here"
    shutil.copytree(files, folder)
    text = page.read_text()
    arrange(folder, page.name, text)
    monkeypatch.chdir(folder)
    (folder / "corpora").mkdir()
    monkeypatch.setenv("HANDFUL_DATA", str(folder / "corpora"))
    # In place of the one that 'vectors distill' writes.
    monkeypatch.setattr("handful.preprocessing.sentence_encoders.vectors_folder", lambda: folder / "encoder")
    for words in COMMANDS[page.name]:
        if reason_not_to_run(page.name, words):
            continue
        prepare(words)
        if words[0] == "studio":
            open_and_close(words, folder)
            continue
        words = [str(request.getfixturevalue("dask_address")) if w.startswith("tcp://") else w for w in words]
        words = ["2" if before == "--jobs" and w == "32" else w for before, w in zip(["", *words], words, strict=False)]
        words = [name for w in words for name in (sorted(glob.glob(w)) if "?" in w else [w])]
        run(quick(page.name, words), capsys)
    if page.name in PYTHON_AFTER:
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        for block in blocks:
            if "import spacy" not in block:
                exec(compile(block, page.name, "exec"), {})


# What else a block may show, each with the reason why it is not run here.
OTHERS = {
    r"#.*": "a comment",
    r"pip install .*|uv .*": "needs a package registry",
    r"cd demo": "the files are in the folder of the test",
    r"python -m papers .*": "takes minutes or corpora; tests/papers runs the papers",
    r"eval .*|_HANDFUL_COMPLETE=.*": "tests/test_release.py",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_other_lines_of_blocks_are_known(page):
    verbs = (
        re.findall(r"^(\w[\w-]*):", (Path(__file__).parents[1] / "Makefile").read_text(), re.MULTILINE)
        if page.stem in ("README", "install")
        else []
    )
    known = [*OTHERS, "handful .*", *(rf"make {verb}( .*)?" for verb in verbs)]
    text = re.sub(r"\\\n\s*", " ", page.read_text())
    for language, block in re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for line in block.splitlines() if language in LANGUAGES else ():
            assert any(re.fullmatch(one, line.removeprefix("$ ").strip()) for one in known), line


def test_what_is_not_run_is_in_the_manual():
    every = [" ".join(words) for commands in COMMANDS.values() for words in commands]
    assert all(any(command.startswith(beginning) for command in every) for beginning in NOT_RUN)
    assert len(every) > 100
