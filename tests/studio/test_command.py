"""``handful studio`` at the command line: what is refused, and in which words."""

from __future__ import annotations

from pathlib import Path

import pytest
from studio_client import fixed

from handful.cli import main
from handful.studio.annotations import AnnotationLog


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("x,label\n1,a\n2,\n")
    return path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "t.txt"
    path.write_text("a dog barks .\n")
    return path


@pytest.fixture
def refused(capsys):
    """Run the command, which must end with a sentence, and return what it said."""

    def run(*given: str | Path) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["studio", *map(str, given), "--no-browser"])
        assert ended.value.code in (1, 2)
        said = capsys.readouterr().err
        assert "Traceback" not in said
        return " ".join(said.split())

    return run


def test_a_second_process_on_the_same_data_is_refused(table, text, refused):
    from handful.cli.studio import digest, log_path

    with AnnotationLog(log_path(table), fixed(f"label {digest(table)}")):
        assert "another process has it open" in refused(table, "--target", "label")
    with AnnotationLog(log_path(text), fixed(f"tokens {digest(text)}")):
        assert "another process has it open" in refused(text)


def test_cells_that_count_as_unlabeled_are_told_and_can_be_kept(table, refused):
    from handful.cli.studio import digest, log_path

    table.write_text("x,label\n1,a\n2,b\n3,unknown\n4,\n")
    with AnnotationLog(log_path(table), fixed(f"label {digest(table)}")):  # so that the command ends
        told = "'unknown' (1) in 'label' is a class."
        assert refused(table, "--target", "label").count(told) == 1
        assert told not in refused(table, "--target", "label", "--keep-label", "unknown")


def test_what_does_not_go_together_is_refused(table, text, tmp_path, refused):
    words, tags = tmp_path / "w.tsv", tmp_path / "g.tsv"
    words.write_text("N\tdog\nV\tbarks\n")
    tags.write_text("a\tD\ndog\tN\n\n")
    assert "--tagged" in refused(text, "--prototypes", words, "--tagged", tags)
    assert "--tagged: only for raw text" in refused(table, "--target", "label", "--tagged", tags)
    assert "--columns: only for a table" in refused(text, "--columns", "x=text")
    assert "--keep-label: only for a table" in refused(text, "--keep-label", "unknown")
    assert "no such folder" in refused(table, "--target", "label", "--folder", tmp_path / "nowhere")
    assert "none.txt" in refused(tmp_path / "none.txt")
    (tmp_path / "empty.txt").write_text("")
    assert "empty.txt" in refused(tmp_path / "empty.txt")


def test_a_journal_of_other_data_is_refused(text, refused):
    from handful.cli.studio import log_path

    AnnotationLog(log_path(text), fixed("tokens of something else")).close()
    assert "changed since" in refused(text)


def test_an_address_of_somebody_else_is_refused(text, refused):
    assert "cannot listen" in refused(text, "--host", "192.0.2.1")
